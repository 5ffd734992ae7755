import { replaced } from '../json-leaves.ts';
import { added, inSteps, type JsonObject, listOf, loop, type Operator, operator, stepsOf, work } from './mistake.ts';

/** Names that are used twice, or cannot be names. */
export const NAMES: readonly Operator[] = [
  operator('use a step id twice', (document) => {
    const [first] = stepsOf(document, 'standard');
    const id = (first?.value as JsonObject | undefined)?.['id'];
    if (id === undefined) return [];
    const steps = [...listOf(document, 'steps'), work(String(id))];
    return [
      {
        code: 'duplicate_id',
        path: ['steps', String(steps.length - 1), 'id'],
        document: replaced(document, ['steps'], steps),
      },
    ];
  }),
  operator('use a loop id twice', (document) => {
    const source = { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control', loopId: 'twice' };
    const twins = ['one', 'two'].map((id) =>
      loop(`added-${id}`, { type: 'while', maxIterations: 2, conditionSource: source }),
    );
    const steps = [...listOf(document, 'steps'), ...twins];
    const path = ['steps', String(steps.length - 1), 'loop', 'conditionSource', 'loopId'];
    return [{ code: 'duplicate_id', path, document: replaced(document, ['steps'], steps) }];
  }),
  ...(['conditions', 'assessments', 'references', 'extensionPoints', 'functionDefinitions'] as const).map((list) =>
    operator(`use a name twice in ${list}`, (document) => {
      const before = listOf(document, list);
      const [first] = before;
      if (first === undefined) return [];
      const key = { extensionPoints: 'slotId', functionDefinitions: 'name' }[list as string] ?? 'id';
      const path = [list, String(before.length), key];
      return [{ code: 'duplicate_id', path, document: replaced(document, [list], [...before, first]) }];
    }),
  ),
  inSteps('write a step id with spaces', 'standard', {
    code: 'bad_id',
    hasFix: true,
    put: ({ id }) => ({ id: `${String(id)} And More!` }),
    at: ['id'],
  }),
  operator('write a workflow id with spaces', (document) => [
    { code: 'bad_id', hasFix: true, path: ['id'], document: replaced(document, ['id'], 'My Project.Great Flow') },
  ]),
  operator('write a workflow id with two dots', (document) => [
    { code: 'bad_id', hasFix: true, path: ['id'], document: replaced(document, ['id'], 'my.own.flow') },
  ]),
  added('give a fragment a name that cannot be seen', {
    list: 'steps',
    entry: work('added', { promptFragments: [{ id: 'a\u200bb', text: 'T.' }] }),
    code: 'bad_id',
    hasFix: true,
    at: ['promptFragments', '0', 'id'],
  }),
  added('name a condition with spaces', {
    list: 'conditions',
    entry: { id: 'Is It Open?', kind: 'always_true' },
    code: 'bad_id',
    hasFix: true,
    at: ['id'],
  }),
  added('name a loop variable with spaces', {
    list: 'steps',
    entry: loop('added', { type: 'forEach', items: 'files', maxIterations: 2, itemVar: 'the file' }),
    code: 'bad_id',
    hasFix: true,
    at: ['loop', 'itemVar'],
  }),
  added('give two loop variables one name', {
    list: 'steps',
    entry: loop('added', { type: 'forEach', items: 'files', maxIterations: 2, itemVar: 'x', indexVar: 'x' }),
    code: 'duplicate_id',
    at: ['loop', 'indexVar'],
  }),
  added('walk over a value with a reserved name', {
    list: 'steps',
    entry: loop('added', { type: 'forEach', items: 'constructor', maxIterations: 2 }),
    code: 'reserved_key',
    at: ['loop', 'items'],
  }),
];
