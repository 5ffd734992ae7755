import { describe, expect, it } from 'vitest';
import { compiled, compileValue, found, routine, templatesOf } from '../../../../test/compiler/compile-file.ts';
import { conditionSchema } from '../compiled/condition-schema.ts';
import { applyFixes } from '../diagnostics/diagnostic.ts';

const work = (id: string, rest: object = {}) => ({ id, title: id, prompt: `Do ${id}.`, ...rest });
const workflow = (steps: readonly object[], rest: object = {}) => ({
  id: 'test.loops',
  name: 'N',
  description: 'D',
  ...rest,
  steps,
});
const loop = (settings: object, rest: object = {}) => ({
  id: 'again',
  type: 'loop',
  loop: { maxIterations: 3, ...settings },
  body: [work('a')],
  ...rest,
});
const inLoop = (settings: object, rest: object = {}) => compileValue(workflow([loop(settings)], rest));
const decides = (continueWhen?: string) => ({
  kind: 'loop_control',
  ...(continueWhen === undefined ? {} : { continueWhen }),
});
const ref = (conditionId: string) => ({ kind: 'condition_ref', conditionId });
const BY_ARTIFACT = { kind: 'artifact' };

describe('a loop that the artifact controls', () => {
  it.each([
    ['while', decides('continue')],
    ['while', decides()],
    ['until', decides('stop')],
    ['until', decides()],
  ])('of type %s with %j ends at stop', (type, condition) => {
    expect(compiled(inLoop({ type, condition })).loops[0]?.control).toEqual(BY_ARTIFACT);
    const named = { conditions: [{ id: 'c', ...condition }] };
    const { loops, conditions } = compiled(inLoop({ type, condition: ref('c') }, named));
    // Nothing that is run can go by the decision of an artifact but the loop itself.
    expect([loops[0]?.control, conditions]).toEqual([BY_ARTIFACT, []]);
    expect(conditionSchema.safeParse({ kind: 'loop_control', continueWhen: 'continue' }).success).toBe(false);
  });

  it.each(['while', 'until'])('of type %s by its source ends at stop', (type) => {
    const conditionSource = { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' };
    expect(compiled(inLoop({ type, conditionSource })).loops[0]?.control).toEqual(BY_ARTIFACT);
  });

  it.each([
    ['while', 'stop', 'continue'],
    ['until', 'continue', 'stop'],
  ])('of type %s cannot go on at stop', (type, continueWhen, meant) => {
    const result = inLoop({ type, condition: decides(continueWhen) });
    expect(found(result)).toEqual(['error wrong_value /steps/0/loop/condition/continueWhen']);
    expect(result.diagnostics[0]?.fix?.edits.map(({ text }) => text)).toEqual([`"${meant}"`]);
    const named = { conditions: [{ id: 'c', ...decides(continueWhen) }] };
    expect(found(inLoop({ type, condition: ref('c') }, named))).toEqual([
      'error wrong_value /steps/0/loop/condition/conditionId',
    ]);
  });

  it('a loop controlled by an artifact may name its condition indirectly, in either spelling', () => {
    const conditions = [
      { id: 'more', ...decides('continue') },
      { id: 'same', kind: 'context', condition: ref('more') },
    ];
    const designed = { type: 'loop', loopId: 'l', while: ref('same'), maxIterations: 2, body: [work('a')] };
    expect(compiled(compileValue(workflow([designed], { conditions }))).loops[0]?.control).toEqual(BY_ARTIFACT);
  });
});

describe('loop_control', () => {
  const conditions = [{ id: 'more', ...decides('continue') }];
  const misplaced = (steps: readonly object[], more: readonly object[] = []) =>
    found(compileValue(workflow(steps, { conditions: [...conditions, ...more] })));

  it.each([
    ['a step', { runCondition: decides() }, 'runCondition'],
    ['a step, by name', { runCondition: ref('more') }, 'runCondition/conditionId'],
    ['a part of a condition', { runCondition: { and: [decides()] } }, 'runCondition/and/0'],
    ['a part, by name', { runCondition: { not: ref('more') } }, 'runCondition/not/conditionId'],
    ['a confirmation', { requireConfirmation: decides() }, 'requireConfirmation'],
    ['a fragment', { promptFragments: [{ id: 'f', text: 'T', when: decides() }] }, 'promptFragments/0/when'],
    [
      'a rule',
      { validationCriteria: [{ type: 'contains', value: 'x', message: 'M', condition: ref('more') }] },
      'validationCriteria/0/condition/conditionId',
    ],
  ])('is no condition of %s', (_, rest, place) => {
    expect(misplaced([work('a', rest)])).toEqual([`error loop_control_misplaced /steps/0/${place}`]);
  });

  it('loop_control is refused inside a condition and as a run condition', () => {
    const until = (condition: object) => [loop({ type: 'until', condition })];
    expect(misplaced(until({ or: [decides(), { var: 'x', equals: 1 }] }))).toEqual([
      'warning context_loop /steps/0',
      'error loop_control_misplaced /steps/0/loop/condition/or/0',
    ]);
    expect(misplaced(until({ not: ref('more') }))).toEqual([
      'warning context_loop /steps/0',
      'error loop_control_misplaced /steps/0/loop/condition/not/conditionId',
    ]);
    expect(misplaced([loop({ type: 'for', count: 1 }, { runCondition: decides() })])).toEqual([
      'error loop_control_misplaced /steps/0/runCondition',
    ]);
    expect(misplaced([work('a')], [{ id: 'part', kind: 'context', not: ref('more') }])).toEqual([
      'error loop_control_misplaced /conditions/1/not/conditionId',
    ]);
  });
});

describe('a step that decides about a loop', () => {
  const decision = (id: string) => work(id, { outputContract: { contractRef: 'wr.contracts.loop_control' } });
  const foundIn = (steps: readonly object[], rest: object = {}, input: object = {}) =>
    found(compileValue(workflow(steps, rest), input));

  it('a decision outside of any loop gives a warning, because nothing uses it', () => {
    expect(foundIn([work('a'), decision('b')])).toEqual([
      'warning loop_control_misplaced /steps/1/outputContract/contractRef',
    ]);
    expect(foundIn([loop({ type: 'while' }, { body: [decision('b')] })])).toEqual([]);
  });

  it('a routine may decide about the loop that calls it', () => {
    expect(foundIn([decision('b')], { id: 'test.routine-decide' })).toEqual([]);
    expect(foundIn([decision('b')], {}, { isInRoutines: true })).toEqual([]);
    const text = JSON.stringify(workflow([decision('b')], { id: 'test.routine-decide' }));
    const templates = templatesOf(routine(text));
    const call = { id: 'c', type: 'template_call', templateId: 'test.templates.routine.decide', args: {} };
    expect(foundIn([loop({ type: 'while' }, { body: [call] })], {}, { templates })).toEqual([]);
    expect(foundIn([call], {}, { templates })).toEqual(['warning loop_control_misplaced /steps/0']);
  });
});

describe('settings that mean nothing to a loop', () => {
  const condition = { var: 'x', equals: 1 };
  it.each([
    [{ type: 'while', condition, items: ['a'], count: 2, itemVar: 'file' }, ['count', 'itemVar', 'items']],
    [{ type: 'for', count: 2, items: 'files', condition }, ['condition', 'items']],
    [{ type: 'forEach', items: 'files', count: 2 }, ['count']],
    [
      { type: 'until', conditionSource: { kind: 'context_variable', condition }, condition: { var: 'y', gt: 1 } },
      ['condition'],
    ],
  ])('the unused loop settings %j are reported and removed', (settings, unused) => {
    const result = inLoop(settings);
    const told = result.diagnostics.filter(({ code }) => code === 'setting_unused');
    expect(told.map(({ severity, pointer }) => [severity, pointer]).sort()).toEqual(
      unused.map((name) => ['warning', `/steps/0/loop/${name}`]),
    );
    let text = JSON.stringify(workflow([loop(settings)]), null, 2);
    for (const _ of unused) text = applyFixes(text, inLoopText(text).diagnostics).text;
    expect(found(inLoopText(text)).filter((line) => line.includes('setting_unused'))).toEqual([]);
  });

  const inLoopText = (text: string) => compileValue(JSON.parse(text));
});

describe('the names of loop variables', () => {
  const each = (names: object) => found(inLoop({ type: 'forEach', items: 'files', ...names }));

  it('loop variable names must be identifiers', () => {
    expect(each({ itemVar: 'file', indexVar: 'at_file', iterationVar: 'round2' })).toEqual([]);
    expect(each({ itemVar: 'the file' })).toEqual(['error bad_id /steps/0/loop/itemVar']);
    expect(each({ itemVar: 'a.b' })).toEqual(['error bad_id /steps/0/loop/itemVar']);
    expect(each({ itemVar: 'fi\u200ble' })).toContain('error bad_id /steps/0/loop/itemVar');
    for (const itemVar of ['__proto__', 'constructor', 'prototype']) {
      expect(each({ itemVar })).toEqual(['error reserved_key /steps/0/loop/itemVar']);
    }
  });

  it('loop variable names must differ from each other and from the defaults', () => {
    expect(each({ itemVar: 'x', indexVar: 'x' })).toEqual(['error duplicate_id /steps/0/loop/indexVar']);
    expect(each({ itemVar: 'currentIndex' })).toEqual(['error duplicate_id /steps/0/loop/itemVar']);
    expect(each({ itemVar: 'currentIndex', indexVar: 'currentItem' })).toEqual([]);
  });
});

describe('the names of context values', () => {
  it.each(['__proto__', 'a.constructor', 'prototype.x'])('are not %s', (name) => {
    const told = (place: string) => [`error reserved_key ${place}`];
    expect(found(inLoop({ type: 'forEach', items: name }))).toEqual(told('/steps/0/loop/items'));
    expect(found(inLoop({ type: 'for', count: name }))).toEqual(told('/steps/0/loop/count'));
    const condition = { var: name, equals: 1 };
    expect(found(compileValue(workflow([work('a', { runCondition: condition })])))).toEqual(
      told('/steps/0/runCondition/var'),
    );
  });

  it('names of context values contain no invisible characters', () => {
    expect(found(inLoop({ type: 'forEach', items: 'fi\u200bles' }))).toContain('error bad_text /steps/0/loop/items');
    expect(found(inLoop({ type: 'for', count: 'tr\u202eies' }))).toContain('error bad_text /steps/0/loop/count');
  });

  it('the context key of a user dependency is not a reserved name', () => {
    const userDependency = { reason: 'needs_user_artifact', prompt: 'Which?', contextKey: '__proto__' };
    expect(found(compileValue(workflow([work('a', { userDependency })])))).toEqual([
      'error reserved_key /steps/0/userDependency/contextKey',
    ]);
  });
});
