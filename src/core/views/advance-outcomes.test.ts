import { expect, test } from 'vitest';
import { sessionWriter } from '../../../test/simulation/session-writer.ts';
import { attemptIdSchema } from '../log/ids.ts';
import { advanceOutcome, attemptCount, decisionTrace } from './advance-outcomes.ts';
import { foldEvents } from './session-view.ts';

test('each attempt at a node is found by its number, with its outcome', () => {
  const writer = sessionWriter();
  const root = writer.startRun();
  const blocked = writer.block(root);
  const first = writer.advance(root);
  writer.advance(blocked);

  const { advances } = foldEvents(writer.events);
  const outcomes = [0, 1, 2].map((attempt) => advanceOutcome(advances, root.nodeId, attemptIdSchema.parse(attempt)));
  expect(outcomes.map((record) => record?.data.outcome)).toMatchObject([
    { kind: 'blocked', attemptNodeId: blocked.nodeId },
    { kind: 'advanced', toNodeId: first.nodeId },
    undefined,
  ]);
  expect([root, blocked, first].map(({ nodeId }) => attemptCount(advances, nodeId))).toEqual([2, 1, 0]);
});

test('the trace of a node has its own decisions in order, and nothing of its parent', () => {
  const writer = sessionWriter();
  const root = writer.startRun({ trace: 'first step' });
  const step = writer.advance(root, { trace: 'second step' });
  writer.record(step, { trace: 'and why' });

  const { trace } = foldEvents(writer.events);
  expect([root, step].map(({ nodeId }) => decisionTrace(trace, nodeId).map(({ summary }) => summary))).toEqual([
    ['first step'],
    ['second step', 'and why'],
  ]);
});
