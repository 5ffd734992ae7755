import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { sessionWriter } from '../../../test/simulation/session-writer.ts';
import { parseEvent } from '../log/event.ts';
import { EDGE_KINDS } from '../log/events/graph-events.ts';
import { nodeAtEvent, nodeOf } from './run-graph.ts';
import { foldEvents } from './session-view.ts';

describe('the run graph', () => {
  test('the run graph links every node to its parent and its children, in order of creation', () => {
    const writer = sessionWriter();
    const root = writer.startRun();
    const blocked = writer.block(root);
    const checkpoint = writer.checkpoint(root);
    const step = writer.advance(blocked);

    const { graph } = foldEvents(writer.events);
    expect(nodeOf(graph, root.nodeId)).toMatchObject({
      parentNodeId: null,
      children: [blocked.nodeId, checkpoint.nodeId],
    });
    expect(nodeOf(graph, step.nodeId)).toMatchObject({ kind: 'step', parentNodeId: blocked.nodeId, children: [] });
    expect(nodeOf(graph, checkpoint.nodeId)).toMatchObject({ kind: 'checkpoint', hostNodeId: root.nodeId });
  });

  test('the run graph finds a node by the event that created it, which is how tokens name it', () => {
    const writer = sessionWriter();
    const root = writer.startRun();
    const step = writer.advance(root, { note: { name: 'n', text: 'done' } });

    const { graph } = foldEvents(writer.events);
    const created = writer.events.filter(({ kind }) => kind === 'node_created');
    expect(created.map(({ eventIndex }) => nodeAtEvent(graph, eventIndex)?.nodeId)).toEqual([root.nodeId, step.nodeId]);
    expect(nodeAtEvent(graph, 0)).toBeUndefined();
  });

  test('the run graph shows a fork as an ordinary edge whose cause says so', () => {
    enforces('fork_is_a_cause_not_an_edge_kind');
    const writer = sessionWriter();
    const root = writer.startRun();
    const first = writer.advance(root);
    const second = writer.advance(root);

    const { graph } = foldEvents(writer.events);
    const edges = [first, second].map(({ nodeId }) => nodeOf(graph, nodeId).edge);
    expect(edges.map((edge) => [edge?.edgeKind, edge?.cause.kind])).toEqual([
      ['acked_step', 'tip_advance'],
      ['acked_step', 'non_tip_advance'],
    ]);
    expect(EDGE_KINDS).toEqual(['acked_step', 'checkpoint']);
    // The dedupe key names the edge kind too, so it is changed along: the kind alone must be what is refused.
    const edgeEvent = writer.events.find(({ kind }) => kind === 'edge_created');
    const refusals = ['fork', 'branch'].map((edgeKind) => {
      const dedupeKey = edgeEvent?.dedupeKey.replace('acked_step', edgeKind);
      return parseEvent({ ...edgeEvent, dedupeKey, data: { ...edgeEvent?.data, edgeKind } });
    });
    expect(refusals.map((result) => result.isErr() && result.error)).toMatchObject([
      { code: 'unknown_version', version: 'data.edgeKind fork' },
      { code: 'unknown_version', version: 'data.edgeKind branch' },
    ]);
  });

  test('the run graph keeps a run on the workflow it pinned, whatever its source holds for a later run', () => {
    enforces('run_executes_by_hash');
    const writer = sessionWriter();
    const before = writer.startRun({}, 'first text of the source');
    const after = writer.startRun({}, 'second text of the source');
    const step = writer.advance(before);

    const { graph } = foldEvents(writer.events);
    const pins = [before, after].map(({ runId }) => graph.runs.get(runId)?.pinned);
    expect(pins[0]?.workflowSourceRef).toBe(pins[1]?.workflowSourceRef);
    expect(pins.map((pin) => pin?.workflowHash)).toEqual([before.workflowHash, after.workflowHash]);
    expect(before.workflowHash).not.toBe(after.workflowHash);
    expect(nodeOf(graph, step.nodeId).workflowHash).toBe(before.workflowHash);
  });
});
