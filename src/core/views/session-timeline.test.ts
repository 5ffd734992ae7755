import { expect, test } from 'vitest';
import { sessionWriter, type WrittenNode } from '../../../test/simulation/session-writer.ts';
import { historyOf, viewHistory } from './history.ts';
import { sessionTimeline } from './session-timeline.ts';
import { foldEvents } from './session-view.ts';

/** One run with a block, a checkpoint, a step done again and all that can be said about a step. */
function written() {
  const writer = sessionWriter({ at: () => 7 });
  const root = writer.startRun({ observed: { git_branch: 'main' }, context: { b: 1, a: 2 } });
  const attempt = writer.block(root);
  const step = writer.advance(root, {
    gaps: [{ name: 'g' }],
    trace: 'why',
    others: ['divergence_recorded', 'step_skipped'],
  });
  writer.checkpoint(step, { mode: 'guided' });
  const again = writer.advance(root, {
    gaps: [{ name: 'link', resolves: 'g' }],
    capability: { capability: 'web_browsing', grade: 'weak', status: 'available' },
  });
  return { events: writer.events, nodes: { root, attempt, step, again } };
}

test('a timeline shows what happened in the order of the log, each thing once', () => {
  const { events, nodes } = written();
  const { graph } = foldEvents(events);
  const moments = sessionTimeline(graph, events);

  const from = ({ nodeId }: WrittenNode) => expect.objectContaining({ nodeId });
  const { root, step } = nodes;
  expect(moments.map(({ told }) => told)).toMatchObject([
    { kind: 'session' },
    { kind: 'run', runId: root.runId, workflowId: 'wr.small' },
    { kind: 'context', keys: ['a', 'b'] },
    { kind: 'seen', seen: { key: 'git_branch' } },
    { kind: 'blocked', from: from(root), codes: ['MISSING_REQUIRED_OUTPUT'] },
    { kind: 'gap', isResolving: false },
    { kind: 'divergence' },
    { kind: 'skipped', onWayTo: from(step) },
    { kind: 'done', from: from(root), isFork: false },
    { kind: 'checkpoint', from: from(step) },
    { kind: 'mode' },
    { kind: 'capability' },
    { kind: 'gap', isResolving: true },
    { kind: 'done', from: from(root), isFork: true },
  ]);
  const ofIndex = moments.map(({ eventIndex }) => events[eventIndex]);
  expect(moments.map(({ eventKind, at, runId }) => ({ eventKind, at, runId }))).toEqual(
    ofIndex.map((event) => ({ eventKind: event?.kind, at: 7, runId: event?.scope?.runId })),
  );
});

test('a record belongs to its own node, and a block to the attempt that it created', () => {
  const { events, nodes } = written();
  const records = historyOf(events);
  const { root, attempt, step, again } = nodes;
  const figures = [root, attempt, step, again].map(({ nodeId }) => {
    const record = records.at(nodeId);
    return [
      record?.block?.blockers.length,
      record?.divergences.length,
      record?.skipped.length,
      record?.capabilities.length,
    ];
  });
  expect(figures).toEqual([
    [undefined, 0, 0, 0],
    [1, 0, 0, 0],
    [undefined, 1, 1, 0],
    [undefined, 0, 0, 1],
  ]);
  expect(records.at(root.nodeId)).toMatchObject({ at: 7, contextKeys: ['a', 'b'] });
  // A view has the same, without its log.
  const view = foldEvents(events);
  const all = [...view.graph.nodes.keys()];
  expect(all.map(viewHistory(view).at)).toEqual(all.map(records.at));
});
