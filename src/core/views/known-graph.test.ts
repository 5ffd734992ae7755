import { expect, test } from 'vitest';
import { gapIdOf, outputIdOf } from '../../../test/simulation/node-facts.ts';
import { sessionWriter } from '../../../test/simulation/session-writer.ts';
import { knownGraph } from './known-graph.ts';
import { applyEvent, emptySessionView } from './session-view.ts';

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
