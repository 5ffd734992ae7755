import { describe, expect, it } from 'vitest';
import {
  PLAN_BYTES_MAX,
  PLAN_EVENTS_MAX,
  SKIPPED_EVENTS_MAX,
  WALK_PASSED_MAX,
  WORKFLOW_ENTRIES_MAX,
} from '../../src/core/log/budgets.ts';
import type { SessionEvent } from '../../src/core/log/event.ts';
import { enforces } from '../enforces.ts';
import { engine, eventsOf, stepOf, told, withFile } from '../examples/engine.ts';
import { loop, step } from '../examples/loop-files.ts';
import { isLong } from '../volume.ts';

const never = { runCondition: { var: 'never', equals: true } };
const workflow = (steps: readonly unknown[], more: object = {}) =>
  withFile({ id: 'test.more', name: 'More', description: 'More.', steps, ...more });
const skipped = (count: number, prefix = 's') => Array.from({ length: count }, (_, i) => step(`${prefix}${i}`, never));

/** Loops that pass as much as a walk may pass, in as few entries as possible. */
const idle = (id: string, rounds: number) =>
  loop(id, { type: 'for', count: rounds, maxIterations: rounds }, [step(`${id}-step`, never)]);

/** A check uses as many entries as make a difference, a long one as many as there may be. */
const ENTRIES = isLong ? WORKFLOW_ENTRIES_MAX : SKIPPED_EVENTS_MAX + 400;

describe('the size of a plan', () => {
  it('an attempt that skips every step a workflow may have fits into one plan', async () => {
    enforces('skipped_step_recorded');
    const steps = [step('first'), ...skipped(ENTRIES - 2), step('last')];
    const agent = engine({ listing: () => workflow(steps) });
    const next = await agent.send(await agent.start('test.more'), { notes: 'x' });
    expect(stepOf(next)).toBe('last');
    const [all, ...others] = eventsOf(agent, 'step_skipped').map(({ data }) => data);
    expect([all?.stepId, all?.through, all?.count, others]).toEqual([
      's0',
      { stepId: `s${ENTRIES - 3}` },
      ENTRIES - 2,
      [],
    ]);
    const over = await agent.send(next, { notes: 'x' });
    expect(told(over, 'isComplete')).toBe(true);
    expect(over.text).toContain(`${ENTRIES - 2} steps were skipped:`);
    expect(over.text).toContain(`${ENTRIES - 2} steps ("s0" … "s${ENTRIES - 3}")`);
  });

  it('each skipped step has an event of its own while there is room, and then its condition keeps it apart', async () => {
    enforces('skipped_step_recorded');
    const conditions = ['x', 'y'].map((id) => ({ id, kind: 'context', var: 'never', equals: id }));
    const when = (conditionId: string) => ({ runCondition: { kind: 'condition_ref', conditionId } });
    const alternating = (count: number) =>
      Array.from({ length: count }, (_, i) => step(`s${i}`, when(i < count / 2 ? 'x' : 'y')));
    const eventsWith = async (count: number) => {
      const steps = [step('first'), ...alternating(count), step('last')];
      const agent = engine({ listing: () => workflow(steps, { conditions }) });
      await agent.send(await agent.start('test.more'), { notes: 'x' });
      return eventsOf(agent, 'step_skipped').map(({ data }) => data);
    };
    const apart = await eventsWith(SKIPPED_EVENTS_MAX);
    expect(apart).toHaveLength(SKIPPED_EVENTS_MAX);
    expect(apart.some((one) => 'count' in one || 'through' in one)).toBe(false);
    expect((await eventsWith(SKIPPED_EVENTS_MAX + 2)).map(({ conditionId, count }) => [conditionId, count])).toEqual([
      ['x', SKIPPED_EVENTS_MAX / 2 + 1],
      ['y', SKIPPED_EVENTS_MAX / 2 + 1],
    ]);
  });

  it('where more stretches of skipped steps lie apart than may have an event, the last event stands for all others', async () => {
    enforces('skipped_step_recorded');
    const loops = SKIPPED_EVENTS_MAX / 2 + 20;
    const steps = Array.from({ length: loops }, (_, i) => [idle(`l${i}`, 1), ...skipped(2, `s${i}x`)]).flat();
    const agent = engine({ listing: () => workflow(steps) });
    expect(told(await agent.start('test.more'), 'isComplete')).toBe(true);
    const events = eventsOf(agent, 'step_skipped').map(({ data }) => data);
    expect(events).toHaveLength(SKIPPED_EVENTS_MAX);
    expect(events.at(-1)?.through).toEqual({ stepId: `s${loops - 1}x1` });
    expect(skippedIn(agent.events)).toBe(3 * loops);
  });

  it('a start that skips every step fits into one plan', async () => {
    const steps = [idle('l', WALK_PASSED_MAX - 1), ...skipped(ENTRIES - 2)];
    const agent = engine({ listing: () => workflow(steps) });
    expect(told(await agent.start('test.more'), 'isComplete')).toBe(true);
    expect(skippedIn(agent.events)).toBe(WALK_PASSED_MAX - 1 + ENTRIES - 2);
    expect(agent.events.length).toBeLessThanOrEqual(PLAN_EVENTS_MAX);
  });

  it('an attempt that opens and closes as many gaps as possible fits into one plan', async () => {
    const ids = Array.from({ length: 60 }, (_, i) => `a${i}`);
    const dimensions = [{ id: 'd', purpose: 'x', levels: ['low', 'high'] }];
    const assessments = ids.map((id) => ({ id, purpose: 'x', dimensions }));
    const report = { outputContract: { contractRef: 'wr.contracts.verification_report' } };
    const rounds = 60;
    const steps = [
      loop('r', { type: 'for', count: rounds, maxIterations: rounds }, [step('reported', report)]),
      step('judged', { assessmentRefs: ids, ...report }),
      idle('l', WALK_PASSED_MAX),
      ...skipped(ENTRIES - 7),
      step('last'),
    ];
    const agent = engine({ listing: () => workflow(steps, { assessments }) });
    let at = await agent.start('test.more', { mode: 'full_auto_never_stop' });
    for (let i = 0; i < rounds; i++) at = await agent.send(at);
    expect([stepOf(at), eventsOf(agent, 'gap_recorded').length]).toEqual(['judged', rounds]);
    const before = agent.events.length;
    const artifacts = [
      { kind: 'wr.verification_report', checks: [{ name: 'x', outcome: 'pass' }], summary: 'x' },
      ...Array.from({ length: 31 }, (_, n) => ({
        kind: 'wr.workflow_divergence',
        reason: 'safety_stop',
        summary: `Because of ${n}.`,
      })),
    ];
    const next = await agent.send(at, { notes: 'x', artifacts, context: { a: 1 }, mode: 'full_auto_never_stop' });
    expect(stepOf(next)).toBe('last');
    const plan = agent.events.slice(before);
    expect(plan.length).toBeLessThanOrEqual(PLAN_EVENTS_MAX);
    expect(skippedIn(plan)).toBe(WALK_PASSED_MAX + ENTRIES - 7);
    // What found no room to be closed is told as open rather than lost.
    const closed = eventsOf({ events: plan }, 'gap_recorded').filter(({ data }) => data.resolution.kind === 'resolves');
    expect(closed.length).toBeGreaterThan(40);
    const over = await agent.send(next, { notes: 'x' });
    expect(told(over, 'gaps')).toHaveLength(rounds - closed.length + 50);
  });

  it('an attempt whose next step shows as much as possible fits into one plan', async () => {
    const promptFragments = Array.from({ length: 60 }, (_, i) => ({
      id: `f${i}`,
      text: `{{v${i}}}${'x'.repeat(4_050)}`,
    }));
    const agent = engine({ listing: () => workflow([step('first'), step('last', { promptFragments })]) });
    const values = Object.fromEntries(promptFragments.map((_, i) => [`v${i}`, '\u0001'.repeat(600)]));
    const context = { ...values, rest: 'r'.repeat(30_000) };
    const notes = `x${'\u0001'.repeat(65_535)}`;
    const next = await agent.send(await agent.start('test.more'), { notes, context });
    expect([stepOf(next), told(next, 'pending.prompt')?.toString().length]).toEqual(['last', expect.any(Number)]);
    expect(JSON.stringify(agent.events).length).toBeLessThan(PLAN_BYTES_MAX);
  });
});

/** How many steps the events stand for. */
function skippedIn(events: readonly SessionEvent[]): number {
  return eventsOf({ events: [...events] }, 'step_skipped').reduce((sum, { data }) => sum + (data.count ?? 1), 0);
}
