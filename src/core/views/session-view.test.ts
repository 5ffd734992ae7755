import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { deepFreeze } from '../../../test/simulation/deep-freeze.ts';
import { gapIdOf, outputIdOf } from '../../../test/simulation/node-facts.ts';
import { randomHistory } from '../../../test/simulation/random-history.ts';
import { sessionWriter } from '../../../test/simulation/session-writer.ts';
import { nodeSummary, viewSummary } from '../../../test/simulation/view-summary.ts';
import { PRESETS } from '../log/autonomy.ts';
import type { ExecutionSnapshot } from '../log/execution-snapshot.ts';
import type { SessionHealth } from '../log/health.ts';
import { nodeOf } from './run-graph.ts';
import {
  applyEvent,
  type CheckedView,
  checkedView,
  emptySessionView,
  foldEvents,
  knownGraph,
  type WholeView,
} from './session-view.ts';

describe('two advances from one node', () => {
  test('two advances from one node keep notes, artifacts, context, gaps, capabilities and preferences apart in every view', () => {
    enforces('view_forks_do_not_mix_outputs', 'view_context_folds_ancestry', 'view_preferences_by_ancestry');
    const writer = sessionWriter();
    const root = writer.startRun({ note: { name: 'goal', text: 'goal' }, context: { goal: 'ship' } });
    const left = writer.advance(root, {
      note: { name: 'left note', text: 'left' },
      artifacts: [{ name: 'left artifact' }],
      context: { side: 'left' },
      mode: 'full_auto_never_stop',
      gaps: [{ name: 'left gap' }],
      capability: { capability: 'delegation', status: 'available', grade: 'strong' },
      trace: 'went left',
    });
    const right = writer.advance(root, {
      note: { name: 'right note', text: 'right' },
      artifacts: [{ name: 'right artifact' }],
      context: { side: 'right' },
      mode: 'guided',
      gaps: [{ name: 'right gap' }],
      capability: { capability: 'delegation', status: 'unavailable', grade: 'strong' },
      trace: 'went right',
    });
    writer.checkpoint(left, { note: { name: 'left checkpoint', text: 'left again' } });

    const view = foldEvents(writer.events);
    const own = (side: string) => [outputIdOf(`${side} note`), outputIdOf(`${side} artifact`)];
    expect(nodeSummary(view, nodeOf(view.graph, left.nodeId))).toMatchObject({
      recap: ['goal', 'left note', 'left checkpoint'].map(outputIdOf),
      outputs: own('left'),
      currentOutputs: own('left'),
      context: { goal: 'ship', side: 'left' },
      preferences: PRESETS.full_auto_never_stop,
      gaps: [gapIdOf('left gap')],
      gapHistory: [gapIdOf('left gap')],
      capabilities: [['available', 'strong'], null],
      trace: ['went left'],
    });
    expect(nodeSummary(view, nodeOf(view.graph, right.nodeId))).toMatchObject({
      recap: ['goal', 'right note'].map(outputIdOf),
      outputs: own('right'),
      currentOutputs: own('right'),
      context: { goal: 'ship', side: 'right' },
      preferences: PRESETS.guided,
      gaps: [gapIdOf('right gap')],
      gapHistory: [gapIdOf('right gap')],
      capabilities: [['unavailable', 'strong'], null],
      trace: ['went right'],
    });
    expect(nodeSummary(view, nodeOf(view.graph, root.nodeId))).toMatchObject({
      recap: [outputIdOf('goal')],
      context: { goal: 'ship' },
      preferences: null,
      gaps: [],
      capabilities: [null, null],
      attempts: ['advanced', 'advanced'],
    });
  });
});

describe('folding', () => {
  test('folding gives the same answer every time and changes no event', () => {
    enforces('views_are_pure_and_deterministic');
    const { events, snapshots } = randomHistory({ seed: 11, eventsMin: 200 });
    const sources = {
      snapshotOf: (ref: string) => snapshots.get(ref as never) as ExecutionSnapshot,
      defaults: PRESETS.guided,
    };
    const view = foldEvents(deepFreeze(events));
    const answer = viewSummary(view, sources);
    expect(viewSummary(view, sources)).toEqual(answer);
    expect(viewSummary(foldEvents(events), sources)).toEqual(answer);
    expect(view).toEqual(foldEvents(events));
  });

  test('folding keeps the latest time of all events, also when a clock went back', () => {
    const times = [300, 100, 200];
    const writer = sessionWriter({ at: () => times.shift() ?? 50 });
    const root = writer.startRun();
    writer.advance(root);
    writer.advance(root);
    expect(foldEvents(writer.events).lastAt).toBe(300);
    expect(foldEvents(writer.events.map(({ at: _, ...event }) => event as typeof event & { at?: number })).lastAt).toBe(
      undefined,
    );
  });

  test('folding takes events in the order of their index only', () => {
    enforces('event_index_is_the_only_order');
    const writer = sessionWriter();
    writer.startRun();
    const [first, second, third] = writer.events;
    if (first === undefined || second === undefined || third === undefined) throw new Error('a run has three events');
    const view = emptySessionView();
    applyEvent(view, first);
    expect(() => applyEvent(view, third)).toThrow('event 2 came as number 1');
    expect(() => applyEvent(view, first)).toThrow('event 0 came as number 1');
    applyEvent(view, second);
    expect(view.nextEventIndex).toBe(2);
  });
});

test('a plan may refer to what the log holds, and to nothing else', () => {
  const writer = sessionWriter();
  const root = writer.startRun({ note: { name: 'n', text: 'note' }, gaps: [{ name: 'g' }] });
  const view = emptySessionView();
  const known = knownGraph(view);
  expect(known.isEmpty).toBe(true);
  expect(known.node(root.nodeId)).toBeUndefined();

  for (const event of writer.events) applyEvent(view, event);
  expect(known.isEmpty).toBe(false);
  expect(known.run(root.runId)).toMatchObject({ workflowHash: root.workflowHash });
  expect(known.node(root.nodeId)).toMatchObject({ runId: root.runId, kind: 'step', parentNodeId: null });
  expect(known.output(outputIdOf('n'))).toEqual({ nodeId: root.nodeId, channel: 'recap' });
  expect([known.gap(gapIdOf('g')), known.gap(gapIdOf('other'))]).toEqual([{ runId: root.runId }, undefined]);
  expect(writer.events.every(({ eventId }) => known.hasEvent(eventId))).toBe(true);
  expect([known.attempts(root.nodeId), known.node(root.nodeId)?.hasStepBelow]).toEqual([0, false]);

  writer.advance(root);
  for (const event of writer.events.slice(view.nextEventIndex)) applyEvent(view, event);
  expect([known.attempts(root.nodeId), known.node(root.nodeId)?.hasStepBelow]).toEqual([1, true]);
  expect([...view.knownKeys]).toEqual(writer.events.map(({ dedupeKey }) => dedupeKey));
});

test('a view of a damaged session says so, and no operation that continues a run accepts it', () => {
  enforces('views_salvage_labelled');
  const view = emptySessionView();
  const damage = { reason: 'manifest_chain_broken', place: 'manifest', offset: 7 } as const;
  const damaged: readonly SessionHealth[] = [
    { kind: 'corrupt_tail', damage },
    { kind: 'corrupt_head', damage },
    { kind: 'unknown_version', place: 'manifest', offset: 0, version: '2' },
  ];
  expect(checkedView(view, { kind: 'healthy' })).toEqual({ kind: 'whole', view });
  expect(damaged.map((health) => checkedView(view, health))).toEqual(
    damaged.map((health) => ({ kind: 'salvaged', health, view })),
  );

  const goOn = (whole: WholeView) => whole.kind;
  const refusals = [
    // @ts-expect-error a view may be salvaged until its kind was looked at
    (labelled: CheckedView) => goOn(labelled),
    // @ts-expect-error a salvaged view cannot be called whole by hand
    () => goOn({ kind: 'whole', view }),
    // @ts-expect-error a health that may be anything gives a view that may be salvaged
    (health: SessionHealth) => goOn(checkedView(view, health)),
    // @ts-expect-error a bare view carries no label at all
    () => goOn(view),
  ];
  expect(refusals).toHaveLength(4);
  expect(goOn(checkedView(view, { kind: 'healthy' }))).toBe('whole');
});
