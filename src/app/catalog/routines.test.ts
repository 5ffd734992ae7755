import { describe, expect, it } from 'vitest';
import { catalogOf, fileOf, fileWith, listeningTools, workflowText } from '../../../test/catalog/catalog-of.ts';
import { enforces } from '../../../test/enforces.ts';
import { assert } from '../../core/assert.ts';
import { sourceHash, type WorkflowOrigin } from '../../core/workflow/drift.ts';
import type { SourceFile, WorkflowFile } from '../ports/workflow-sources.ts';
import type { Catalog } from './catalog.ts';
import { workflowCatalog } from './workflow-catalog.ts';

const slot = (slotId: string, more: object = {}) => ({ slotId, purpose: 'How.', default: 'make', ...more });
const step = (id: string) => ({ id, title: id, prompt: 'Do it.' });
const call = (templateId: string) => ({ id: 'call', type: 'template_call', templateId, args: {} });
const routine = (name: string) => `team.templates.routine.${name}`;
const caller = (templateId: string, more: object = {}) =>
  fileWith(workflowText('team.x', { steps: [call(templateId)], ...more }), { ref: 'x.json' });
const routineFile = (name: string, more: object = {}) =>
  fileWith(workflowText(`team.${name}`, more), { ref: `routines/${name}.json` });
const told = ({ invalid }: Catalog, ref: string) =>
  invalid.find(({ file }) => file.ref === ref)?.diagnostics.map(({ code, message, fix }) => ({ code, message, fix }));

describe('two routines of one folder that would be called by one name', () => {
  it('of two routines with one template name in a folder, the first is used in any order', async () => {
    enforces('shadowing_reported');
    const first = fileWith(workflowText('team.look', { steps: [step('x')] }), { ref: 'routines/a.json' });
    const second = fileWith(workflowText('team.routine-look', { steps: [step('y')] }), { ref: 'routines/b.json' });
    const catalog = await catalogOf([caller(routine('look')), first, second]);
    expect(catalog.workflows.map(({ id, workflow }) => [id, workflow.steps[0]?.stepId])).toEqual([
      ['team.x', 'call--x'],
      ['team.look', 'x'],
    ]);
    expect(told(catalog, 'routines/b.json')).toEqual([
      {
        code: 'duplicate_id',
        message:
          'routines/a.json is already called as "team.templates.routine.look". Give this workflow another id, or remove the file.',
        fix: undefined,
      },
    ]);
  });

  it('of two routines with one template name in different folders, the higher rank is used', async () => {
    const own = fileWith(workflowText('team.look', { steps: [step('x')] }), { ref: 'routines/a.json' });
    const shared = fileWith(workflowText('team.routine-look', { steps: [step('y')] }), { kind: 'user', ref: 'b.json' });
    const { workflows, invalid } = await catalogOf([caller(routine('look')), shared, own]);
    expect(workflows.find(({ id }) => id === 'team.x')?.workflow.steps[0]?.stepId).toBe('call--x');
    expect(invalid).toEqual([]);
  });
});

describe('a call of a routine that is broken', () => {
  it('a call of a broken routine names the file, the place and the first error', async () => {
    const broken = fileWith('{\n  "id": "team.triage",\n  "name": 7\n}', { ref: 'routines/triage.json' });
    const catalog = await catalogOf([caller(routine('triage')), broken, routineFile('triages')]);
    expect(told(catalog, 'x.json')).toEqual([
      {
        code: 'broken_template',
        message:
          'The routine "team.templates.routine.triage" has an error. Fix it first: routines/triage.json, line 1, column 1: "description" is missing here. Add it.',
        fix: undefined,
      },
    ]);
  });

  it('a call of an unreadable routine names its file', async () => {
    const files = [
      fileWith('{ not JSON', { ref: 'routines/team.triage.json' }),
      fileWith('{', { ref: 'team.routine-sort.json' }),
      fileOf({ kind: 'unread', reason: { code: 'not_utf8' } }, { ref: 'routines/look.json' }),
    ];
    for (const [templateId, where] of [
      [routine('triage'), 'routines/team.triage.json, line 1'],
      [routine('sort'), 'team.routine-sort.json, line 1'],
      ['project.templates.routine.look', 'routines/look.json, line 1, column 1: The file is not UTF-8 text.'],
    ] as const) {
      const [problem] = told(await catalogOf([caller(templateId), ...files]), 'x.json') ?? [];
      expect(problem).toEqual({ code: 'broken_template', message: expect.stringContaining(where), fix: undefined });
    }
  });

  it('a broken routine is reported for each routine on the way', async () => {
    const files = [
      caller(routine('outer')),
      routineFile('outer', { steps: [call(routine('inner'))] }),
      routineFile('inner', { steps: [{ id: 'a', title: 'A', prompt: '' }] }),
    ];
    const catalog = await catalogOf(files);
    const inner = 'routines/inner.json, line 1, column';
    expect(told(catalog, 'routines/outer.json')?.[0]?.message).toContain(inner);
    expect(told(catalog, 'x.json')?.[0]?.message).toMatch(/routines\/outer\.json, line 1.*routines\/inner\.json/);
    expect(catalog.workflows).toEqual([]);
  });

  it('a broken routine is reported with its first error', async () => {
    const files = [
      caller(routine('outer')),
      routineFile('outer', { steps: [call(routine('sound')), { id: 'b', title: 7, prompt: 'P' }] }),
      routineFile('sound'),
    ];
    expect(told(await catalogOf(files), 'x.json')?.[0]?.message).toContain('"title" must be a text');
  });

  it('the report of a broken routine follows changes and disappears with the fix', async () => {
    const broken = (text: string) => fileWith(`{ "id": "team.triage", ${text}`, { ref: 'routines/team.triage.json' });
    const x = caller(routine('triage'));
    let files = [x, broken('"name" 7')];
    const catalog = workflowCatalog({ files: async () => ({ files }) }, listeningTools());
    const first = told(await catalog.list(), 'x.json')?.[0]?.message;
    files = [x, broken('')];
    const second = told(await catalog.list(), 'x.json')?.[0]?.message;
    expect([first, second]).toEqual([
      expect.stringContaining('a colon is missing near "7"'),
      expect.stringContaining('a key in double quotes is expected at the end'),
    ]);
    files = [x, routineFile('triage')];
    expect((await catalog.list()).invalid).toEqual([]);
  });
});

describe('the origin of a workflow', () => {
  const bindingsFile = (bindings: object): SourceFile => ({
    ref: '.workrail/bindings.json',
    path: '/repo/.workrail/bindings.json',
    content: { kind: 'text', text: JSON.stringify(bindings) },
  });
  const listed = async (files: readonly WorkflowFile[], bindings: object = {}) => {
    const { workflows, invalid } = await catalogOf(files, { bindings: bindingsFile(bindings) });
    expect(invalid).toEqual([]);
    const [first] = workflows.filter(({ id }) => id === 'team.x');
    assert(first !== undefined, 'what is not invalid is listed');
    return first;
  };
  const originOf = async (...given: Parameters<typeof listed>) => (await listed(...given)).origin;
  const hash = async (...given: Parameters<typeof listed>) => (await listed(...given)).sourceHash();
  const parts = ({ routines, slotIds }: WorkflowOrigin) => [[...routines.keys()].sort(), slotIds];

  it('the origin of a workflow holds the routines it calls, through other routines and loops too, and all slots', async () => {
    enforces('pinned_drift_warned');
    const loop = { id: 'again', type: 'loop', maxIterations: 2, while: { kind: 'always_true' } };
    const origin = await originOf([
      fileWith(workflowText('team.x', { steps: [{ ...loop, body: [call(routine('outer'))] }] }), { ref: 'x.json' }),
      routineFile('outer', { steps: [call(routine('inner'))] }),
      routineFile('inner', { extensionPoints: [slot('build')] }),
      routineFile('other', { extensionPoints: [slot('lint')] }),
    ]);
    expect(parts(origin)).toEqual([[routine('inner'), routine('outer')], ['build']]);
  });

  it('the origin of a workflow follows a call that the workspace binds', async () => {
    enforces('pinned_drift_warned');
    const files = [
      caller('{{wr.bindings.review}}', { extensionPoints: [slot('review', { default: routine('one') })] }),
      routineFile('one', { extensionPoints: [slot('build')] }),
      routineFile('two', { extensionPoints: [slot('lint')] }),
    ];
    expect(parts(await originOf(files))).toEqual([[routine('one')], ['build', 'review']]);
    expect(parts(await originOf(files, { review: routine('two') }))).toEqual([[routine('two')], ['lint', 'review']]);
  });

  it('the origin of a workflow changes only with the routines it calls', async () => {
    enforces('pinned_drift_warned');
    const files = [caller(routine('one')), routineFile('one'), routineFile('two')];
    const before = await hash(files);
    const edited = (name: string) =>
      files.map((file) => (file.ref === `routines/${name}.json` ? routineFile(name, { tags: ['edited'] }) : file));
    expect(await hash(edited('two'))).toBe(before);
    expect(await hash(edited('one'))).not.toBe(before);
    expect(before).toBe(sourceHash(await originOf(files), listeningTools().sha256));
  });
});
