import { describe, expect, it } from 'vitest';
import { compileValue, found } from '../../../../test/compiler/compile-file.ts';
import { loop, step } from '../../../../test/examples/loop-files.ts';
import { LOOP_IDS_LENGTH_MAX, STEP_BYTES_MAX, WORKFLOW_ENTRIES_MAX } from '../../log/budgets.ts';

const compile = (steps: readonly unknown[], more: object = {}) =>
  compileValue({ id: 'test.size', name: 'Size', description: 'Of any size.', steps, ...more });
const many = (count: number) => Array.from({ length: count }, (_, i) => step(`s${i}`));

describe('what a run does at once must fit into one record', () => {
  it('a workflow with too many steps and loops is refused at the first extra one', () => {
    const last = (count: number) =>
      loop(
        'l',
        { type: 'for', count: 1 },
        Array.from({ length: count }, (_, i) => step(`l${i}`)),
      );
    expect(found(compile([...many(WORKFLOW_ENTRIES_MAX - 2), last(1)]))).toEqual([]);
    const one = compile([...many(WORKFLOW_ENTRIES_MAX - 2), last(2)]);
    expect(found(one)).toEqual([`error too_many_steps /steps/${WORKFLOW_ENTRIES_MAX - 2}/body/1`]);
    expect(one.diagnostics[0]?.message).toBe(
      'With this the workflow has more than 5000 steps and loops, those of its templates included. Split it into several workflows.',
    );
  });

  it('steps that the compiler adds count towards the limit', () => {
    const capabilities = { web_browsing: 'required' };
    expect(found(compile(many(WORKFLOW_ENTRIES_MAX - 1), { capabilities }))).toEqual([]);
    const one = compile(many(WORKFLOW_ENTRIES_MAX), { capabilities });
    expect(found(one)).toEqual(['error too_many_steps /steps']);
    expect(one.diagnostics[0]?.message).toMatch(/has 5001 steps and loops; 5000 are allowed/);
  });

  it('the joined ids of nested loops are limited', () => {
    const nested = (depth: number): object =>
      Array.from({ length: depth }, (_, i) => `l${i}-${'x'.repeat(97)}`).reduceRight<object>(
        (inner, id) => loop(id, { type: 'for', count: 1 }, [inner]),
        step('a'),
      );
    const deepest = Math.floor(LOOP_IDS_LENGTH_MAX / 100);
    expect(found(compile([nested(deepest)]))).toEqual([]);
    expect(found(compile([nested(deepest + 3)]))).toEqual([
      `error id_too_long ${'/steps/0'}${'/body/0'.repeat(deepest)}/id`,
    ]);
  });

  it('the texts and assessments of a step are limited together', () => {
    const fragments = (count: number) =>
      Array.from({ length: count }, (_, i) => ({ id: `f${i}`, text: 'x'.repeat(4_000) }));
    expect(found(compile([step('a', { promptFragments: fragments(60) })]))).toEqual([]);
    expect(found(compile([step('a', { promptFragments: fragments(70) })]))).toEqual(['error text_too_long /steps/0']);
    const purpose = 'p'.repeat(1_000);
    const dimensions = Array.from({ length: 40 }, (_, i) => ({ id: `d${i}`, purpose, levels: ['a', 'b'] }));
    const assessments = Array.from({ length: 8 }, (_, i) => ({ id: `a${i}`, purpose, dimensions }));
    const judged = (count: number) => step('a', { assessmentRefs: assessments.slice(0, count).map(({ id }) => id) });
    expect(found(compile([judged(4)], { assessments }))).toEqual([]);
    expect(found(compile([judged(8)], { assessments }))).toEqual(['error text_too_long /steps/0']);
    expect(STEP_BYTES_MAX).toBe(262_144);
  });
});
