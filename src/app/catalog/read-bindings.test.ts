import { describe, expect, it } from 'vitest';
import { catalogOf, fileWith, listeningTools, workflowText } from '../../../test/catalog/catalog-of.ts';
import { enforces } from '../../../test/enforces.ts';
import type { SourceFile } from '../ports/workflow-sources.ts';

describe('bindings of a workspace', () => {
  function bindingsFile(content: string): SourceFile {
    const ref = '.workrail/bindings.json';
    return { ref, path: `/repo/${ref}`, content: { kind: 'text', text: content } };
  }

  it('bindings are given to the compiler and kept with the workflows that use them', async () => {
    enforces('bindings_resolve_at_compile_time');
    const tools = listeningTools();
    const slot = { slotId: 'build', purpose: 'How to build.', default: 'make' };
    const file = fileWith(workflowText('team.x', { extensionPoints: [slot] }));
    const bindings = bindingsFile('{"$schema":"x","build":"gradle","lint":"biome"}');
    const { workflows } = await catalogOf([file], { bindings, tools });
    const expected = { build: 'gradle', lint: 'biome' };
    expect(tools.inputs.map((input) => input.bindings)).toEqual([expected]);
    expect(workflows.map(({ origin }) => [origin.slotIds, origin.bindings])).toEqual([[['build'], expected]]);
  });

  it('a misspelled slot and broken bindings are known with every workflow that has slots, and with no other', async () => {
    enforces('binding_problems_reported');
    const slot = { slotId: 'build', purpose: 'How to build.', default: 'make' };
    const files = [
      fileWith(workflowText('team.x', { extensionPoints: [slot] }), { ref: 'x.json' }),
      fileWith(workflowText('team.y'), { ref: 'y.json' }),
    ];
    const problems = async (content: string) => {
      const { workflows } = await catalogOf(files, { bindings: bindingsFile(content), tools: listeningTools() });
      return workflows.map(({ id, bindingProblems }) => [
        id,
        bindingProblems?.diagnostics.map(({ severity, line, message }) => `${severity} ${line} ${message}`),
      ]);
    };
    expect(await problems('{\n"biuld": "gradle", "lint": "biome"}')).toEqual([
      ['team.x', ['warning 2 Unknown slot "biuld" (ignored). Did you mean "build"?']],
      ['team.y', undefined],
    ]);
    expect(await problems('{"build": 7}')).toEqual([
      ['team.x', ['error 1 The slot "build" needs a text in quotes.']],
      ['team.y', undefined],
    ]);
    expect(await problems('{"build": "make {{ target | upper }}"}')).toEqual([
      [
        'team.x',
        [
          'warning 1 The agent would see {{ target | upper }} as written. Only the name of a value is supported, without operators or filters. Write {{target}}.',
        ],
      ],
      ['team.y', undefined],
    ]);
    expect(await problems('{"build": "make {{target}"}')).toMatchObject([
      ['team.x', [expect.stringContaining('a brace is missing. Write {{target}}.')]],
      ['team.y', undefined],
    ]);
    expect(await problems('{"build": "gradle", "biuld": "x"}')).toEqual([
      ['team.x', undefined],
      ['team.y', undefined],
    ]);
  });

  it('invalid bindings are reported with their place, and the others apply', async () => {
    const tools = listeningTools();
    const bindings = bindingsFile('{\n  "build": 7,\n  "lint": "biome"\n}');
    const { invalid } = await catalogOf([fileWith(workflowText('team.x'))], { bindings, tools });
    expect(tools.inputs.map((input) => input.bindings)).toEqual([{ lint: 'biome' }]);
    expect(invalid).toEqual([
      {
        file: bindings,
        shadows: [],
        diagnostics: [
          {
            code: 'wrong_type',
            severity: 'error',
            pointer: '/build',
            span: { offset: 13, length: 1 },
            line: 2,
            column: 12,
            message: 'The slot "build" needs a text in quotes.',
          },
        ],
      },
    ]);
    expect((await catalogOf([], { bindings: bindingsFile('[]') })).invalid[0]?.diagnostics[0]?.code).toBe('wrong_type');
    expect((await catalogOf([], { bindings: bindingsFile('{') })).invalid[0]?.diagnostics[0]?.code).toBe('not_json');
  });
});
