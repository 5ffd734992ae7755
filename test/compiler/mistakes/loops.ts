import { replaced } from '../json-leaves.ts';
import { added, type JsonObject, loop, type Operator, operator, renamedKey, stepsOf } from './mistake.ts';

/** Loops that cannot run, or not as they are written. */
export const LOOPS: readonly Operator[] = [
  operator('write a loop without a limit', (document) =>
    stepsOf(document, 'loop').map(({ path, value }) => {
      const settings = 'loop' in (value as JsonObject) ? [...path, 'loop'] : path;
      const changed = replaced(document, [...settings, 'maxIterations'], undefined);
      return { code: 'loop_without_limit', hasFix: true, path: settings, document: changed };
    }),
  ),
  operator('misspell the limit of a loop', (document) =>
    stepsOf(document, 'loop').map(({ path, value }) => {
      const inner = (value as JsonObject)['loop'];
      const [at, settings] = inner === undefined ? [path, value] : [[...path, 'loop'], inner];
      const changed = renamedKey(settings as JsonObject, 'maxIterations', 'maxIteration');
      const expected = { code: 'unknown_key', isWarning: true, hasFix: true } as const;
      return { ...expected, path: [...at, 'maxIteration'], document: replaced(document, at, changed) };
    }),
  ),
  added('misspell one key in two ways', {
    list: 'steps',
    entry: loop('added', { type: 'for', count: 1, maxIteration: 1, maxIteratons: 2 }),
    code: 'unknown_key',
    isWarning: true,
    hasFix: true,
    at: ['loop', 'maxIteration'],
  }),
  added('let a loop go on longer than its limit', {
    list: 'steps',
    entry: loop('added', { type: 'for', count: 5, maxIterations: 2 }),
    code: 'loop_over_limit',
    at: ['loop', 'maxIterations'],
  }),
  added('let a loop walk over more than its limit', {
    list: 'steps',
    entry: loop('added', { type: 'forEach', items: [1, 2, 3], maxIterations: 2 }),
    code: 'loop_over_limit',
    at: ['loop', 'maxIterations'],
  }),
  added('write a limit of nothing', {
    list: 'steps',
    entry: loop('added', { type: 'for', count: 0, maxIterations: 0 }),
    code: 'wrong_value',
    at: ['loop', 'maxIterations'],
  }),
  added('misspell the type of a loop', {
    list: 'steps',
    entry: loop('added', { type: 'foreach', items: 'x', maxIterations: 2 }),
    code: 'wrong_value',
    hasFix: true,
    at: ['loop', 'type'],
  }),
  added('let nothing end a loop', {
    list: 'steps',
    entry: loop('added', { type: 'while', maxIterations: 2 }),
    code: 'loop_without_control',
    at: [],
  }),
  added('let a loop be controlled by another contract', {
    list: 'steps',
    entry: loop('added', {
      type: 'while',
      maxIterations: 2,
      conditionSource: { kind: 'artifact_contract', contractRef: 'wr.contracts.findings' },
    }),
    code: 'unknown_contract',
    at: ['loop', 'conditionSource', 'contractRef'],
  }),
  added('name a body that is not there', {
    list: 'steps',
    entry: { id: 'added', type: 'loop', loop: { type: 'for', count: 1, maxIterations: 1 }, body: 'zzz-nowhere' },
    code: 'body_not_found',
    at: ['body'],
  }),
  added('name a loop as its own body', {
    list: 'steps',
    entry: { id: 'added', type: 'loop', loop: { type: 'for', count: 1, maxIterations: 1 }, body: 'added' },
    code: 'body_not_found',
    at: ['body'],
  }),
  added('give a loop a setting of another type', {
    list: 'steps',
    entry: loop('added', { type: 'for', count: 2, maxIterations: 2, items: 'files' }),
    code: 'setting_unused',
    isWarning: true,
    hasFix: true,
    at: ['loop', 'items'],
  }),
  added('let a loop go on when it is to stop', {
    list: 'steps',
    entry: loop('added', {
      type: 'while',
      maxIterations: 2,
      condition: { kind: 'loop_control', continueWhen: 'stop' },
    }),
    code: 'wrong_value',
    hasFix: true,
    at: ['loop', 'condition', 'continueWhen'],
  }),
  added('mix the decision about a loop with other conditions', {
    list: 'steps',
    entry: loop('added', {
      type: 'until',
      maxIterations: 2,
      condition: { or: [{ var: 'x', equals: 1 }, { kind: 'loop_control' }] },
    }),
    code: 'loop_control_misplaced',
    at: ['loop', 'condition', 'or', '1'],
  }),
];
