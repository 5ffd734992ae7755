import { expect, test } from 'vitest';
import { sessionWriter } from '../../../../test/simulation/session-writer.ts';
import { foldEvents } from '../session-view.ts';
import { decisionTrace } from './decision-trace.ts';

test('the trace of a node tells its own decisions in order and nothing of its parent', () => {
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
