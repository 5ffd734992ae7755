import { describe, expect, it } from 'vitest';
import { compileText, compileValue, found } from '../../../../test/compiler/compile-file.ts';
import { enforces } from '../../../../test/enforces.ts';
import { applyFixes } from '../diagnostics/diagnostic.ts';

const step = (rest: object = {}) => ({ id: 'a', title: 'T', prompt: 'P', ...rest });
const workflow = (rest: object = {}, steps: readonly object[] = [step()]) => ({
  id: 'test.rules',
  name: 'N',
  description: 'D',
  steps,
  ...rest,
});
const foundIn = (rest: object, steps?: readonly object[]) => found(compileValue(workflow(rest, steps)));

describe('ids', () => {
  it.each([
    ['team.flow', []],
    ['team.my-flow_2', []],
    ['abc', ['warning legacy_id /id']],
    ['2_old-flow', ['warning legacy_id /id']],
    ['ab', ['error bad_id /id']],
    ['x'.repeat(65), ['error bad_id /id']],
    ['a.b.c', ['error bad_id /id']],
    ['Team.flow', ['error bad_id /id']],
    ['team.2flow', ['error bad_id /id']],
    ['wr.flow', ['error reserved_namespace /id']],
  ])('%s', (id, expected) => {
    enforces('workflow_id_format', 'legacy_id_format', 'wr_namespace_reserved', 'legacy_id_runs_with_warning');
    expect(foundIn({ id })).toEqual(expected);
  });

  it('ids in the namespace wr are reserved for the bundle', () => {
    enforces('wr_namespace_reserved');
    expect(found(compileValue(workflow({ id: 'wr.flow' }), { isBundled: true }))).toEqual([]);
  });
});

describe('a misspelled gate', () => {
  it.each([
    ['runConditon', 'runCondition', { var: 'x', equals: 1 }],
    ['run_condition', 'runCondition', { var: 'x', equals: 1 }],
    ['condition', 'runCondition', { var: 'x', equals: 1 }],
    ['requiresConfirmation', 'requireConfirmation', true],
    ['confirmation', 'requireConfirmation', true],
    ['requireApproval', 'requireConfirmation', true],
    ['human_approval', 'requireConfirmation', true],
    ['gate', 'requireConfirmation', true],
    ['userDependancy', 'userDependency', { reason: 'needs_user_secret_or_token', prompt: 'Which?' }],
    ['outputContracts', 'outputContract', { contractRef: 'wr.contracts.loop_control' }],
    ['criteria', 'validationCriteria', [{ type: 'contains', value: 'x', message: 'Say x.' }]],
    ['assesmentRefs', 'assessmentRefs', ['fit']],
    ['check', 'checks', [{ id: 'c', run: 'true' }]],
    ['asurance', 'assurance', 'evidence'],
    ['set', 'sets', ['x']],
  ])('a step with "%s" is refused, and the fix renames it to "%s"', (wrong, right, value) => {
    enforces('misspelled_gate_is_error');
    const text = JSON.stringify(workflow({}, [step({ [wrong]: value })]));
    const result = compileText(text);
    expect(result.kind).toBe('refused');
    expect(found(result)).toContain(`error unknown_key /steps/0/${wrong}`);
    const misspelled = result.diagnostics.filter(({ code }) => code === 'unknown_key');
    expect(JSON.parse(applyFixes(text, misspelled).text)).toEqual(workflow({}, [step({ [right]: value })]));
  });

  it('a gate in an object that cannot have it, or beside the right one, is refused without a fix', () => {
    enforces('misspelled_gate_is_error');
    expect(foundIn({ requireConfirmation: true })).toEqual(['error unknown_key /requireConfirmation']);
    const twice = [step({ requireConfirmation: true, requireConfirmatoin: true })];
    const { diagnostics } = compileValue(workflow({}, twice));
    expect(diagnostics.map(({ severity, message, fix }) => [severity, message, fix])).toEqual([
      [
        'error',
        'Unknown key "requireConfirmatoin". "requireConfirmation" is set already. Keep one of them.',
        undefined,
      ],
    ]);
  });

  it('any other unknown key stays a warning', () => {
    enforces('unknown_key_is_warning');
    expect(foundIn({ tag: ['x'] }, [step({ guidence: ['x'], owner: 'me' })])).toEqual([
      'warning unknown_key /steps/0/guidence',
      'warning unknown_key /steps/0/owner',
      'warning unknown_key /tag',
    ]);
  });
});

describe('a prompt in blocks', () => {
  const { prompt: _, ...rest } = step();
  const blocks = (promptBlocks: object) => foundIn({}, [{ ...rest, promptBlocks }]);

  it.each([[{ constraints: [] }], [{ goal: [], procedure: [[]] }], [{ outputRequired: {} }]])(
    'says something: not %j',
    (promptBlocks) => {
      expect(blocks(promptBlocks)).toEqual(['error prompt_missing /steps/0/promptBlocks']);
    },
  );

  it('a prompt in blocks needs at least one block', () => {
    expect(blocks({ constraints: [], verify: ['It is done.'] })).toEqual([]);
  });
});

describe('the name of a context value', () => {
  const inLoop = (items: string) => ({
    id: 'l',
    type: 'loop',
    loop: { type: 'forEach', items, maxIterations: 2 },
    body: [step()],
  });

  it.each([
    ['{{files}}', 'files'],
    ['{ plan.files }', 'plan.files'],
  ])('is written without braces, not %s', (name, meant) => {
    const text = JSON.stringify(workflow({}, [inLoop(name)]));
    const { diagnostics } = compileText(text);
    expect(diagnostics.map(({ code, pointer }) => `${code} ${pointer}`)).toEqual(['wrong_value /steps/0/loop/items']);
    expect(applyFixes(text, diagnostics).text).toBe(JSON.stringify(workflow({}, [inLoop(meant)])));
  });

  it('the name of a context value contains no braces', () => {
    expect(foundIn({}, [step({ runCondition: { var: 'file-{n}', equals: 1 } })])).toEqual([
      'error wrong_value /steps/0/runCondition/var',
    ]);
  });
});

describe('limits of texts', () => {
  it.each([
    ['name', 128, 'error'],
    ['description', 512, 'error'],
    ['about', 4096, 'warning'],
    ['agentRole', 1024, 'error'],
  ])('%s has at most %i bytes; more is an %s', (name, bytesMax, severity) => {
    enforces('workflow_text_limits');
    expect(foundIn({ [name]: 'x'.repeat(bytesMax) })).toEqual([]);
    expect(foundIn({ [name]: 'ü'.repeat(bytesMax / 2 + 1) })).toEqual([`${severity} text_too_long /${name}`]);
    expect(foundIn({ [name]: '' })).toEqual([`${severity} text_empty /${name}`]);
  });

  it.each(['preconditions', 'clarificationPrompts', 'metaGuidance'])('an entry of %s has at most 256 bytes', (name) => {
    enforces('workflow_text_limits');
    expect(foundIn({ [name]: ['x'.repeat(256), 'x'.repeat(257)] })).toEqual([`error text_too_long /${name}/1`]);
  });

  it('a workflow has one to six examples of 10 to 120 bytes', () => {
    enforces('workflow_text_limits');
    const example = (bytes: number) => 'x'.repeat(bytes);
    expect(foundIn({ examples: [example(10), example(120)] })).toEqual([]);
    expect(foundIn({ examples: [example(9), example(121)] })).toEqual([
      'warning text_too_short /examples/0',
      'warning text_too_long /examples/1',
    ]);
    expect(foundIn({ examples: [] })).toEqual(['warning wrong_value /examples']);
    expect(foundIn({ examples: Array.from({ length: 7 }, () => example(20)) })).toEqual([
      'warning wrong_value /examples/6',
    ]);
  });

  it('a prompt has at most 8192 bytes, a fragment 4096', () => {
    enforces('step_prompt_xor_blocks', 'prompt_fragment_limit');
    const fragment = (bytes: number) => ({ promptFragments: [{ id: 'f', text: 'x'.repeat(bytes) }] });
    expect(foundIn({}, [step({ prompt: 'x'.repeat(8192), ...fragment(4096) })])).toEqual([]);
    expect(foundIn({}, [step({ prompt: 'x'.repeat(8193), ...fragment(4097) })])).toEqual([
      'error text_too_long /steps/0/prompt',
      'error text_too_long /steps/0/promptFragments/0/text',
    ]);
  });
});
