import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { deepFreeze } from '../../../test/simulation/deep-freeze.ts';
import { outputIdOf } from '../../../test/simulation/node-facts.ts';
import { sessionWriter } from '../../../test/simulation/session-writer.ts';
import { attemptIdSchema } from '../log/ids.ts';
import {
  advanceOutcome,
  attemptCount,
  blockedDraft,
  currentOutput,
  currentOutputs,
  decisionTrace,
  type NodeOutput,
  outputHistory,
} from './attempt-results.ts';
import { foldEvents } from './session-view.ts';

describe('outputs', () => {
  test('the current output of a channel is the latest that is not superseded', () => {
    enforces('view_current_output');
    const writer = sessionWriter();
    const root = writer.startRun({ note: { name: 'first', text: 'one' }, artifacts: [{ name: 'a' }, { name: 'b' }] });
    writer.record(root, { note: { name: 'second', text: 'two' } });
    writer.record(root, { note: { name: 'third', text: 'three', supersedes: 'second' } });
    writer.record(root, { note: { name: 'fourth', text: 'four', supersedes: 'third' } });
    writer.record(root, { artifacts: [{ name: 'c', supersedes: 'a' }] });

    const { outputs } = foldEvents(writer.events);
    expect(currentOutput(outputs, root.nodeId, 'recap')?.data.outputId).toBe(outputIdOf('fourth'));
    expect(currentOutput(outputs, root.nodeId, 'artifact')?.data.outputId).toBe(outputIdOf('c'));
    expect(ids(currentOutputs(outputs, root.nodeId))).toEqual(['first', 'b', 'fourth', 'c'].map(outputIdOf));
  });

  test('a superseded output never becomes current again, but an older one that was not superseded does', () => {
    enforces('view_current_output');
    const writer = sessionWriter();
    const root = writer.startRun({ artifacts: [{ name: 'a' }] });
    writer.record(root, { note: { name: 'first', text: 'one' } });
    writer.record(root, { note: { name: 'second', text: 'two', supersedes: 'first' } });
    const { outputs } = foldEvents(writer.events);
    expect(currentOutput(outputs, root.nodeId, 'recap')?.data.outputId).toBe(outputIdOf('second'));
    expect(currentOutput(outputs, root.nodeId, 'artifact')?.data.outputId).toBe(outputIdOf('a'));
  });

  test('a correction leaves the corrected output in the history unchanged', () => {
    enforces('outputs_append_only', 'view_current_output');
    const writer = sessionWriter();
    const root = writer.startRun({ note: { name: 'first', text: 'one' } });
    const before = outputHistory(foldEvents(writer.events).outputs, root.nodeId).map(({ output }) => output);
    writer.record(root, { note: { name: 'second', text: 'two', supersedes: 'first' } });

    const { outputs } = foldEvents(deepFreeze(writer.events));
    expect(outputHistory(outputs, root.nodeId)).toEqual([
      { output: before[0], isSuperseded: true },
      { output: writer.events.at(-1), isSuperseded: false },
    ]);
  });

  test('what a blocked attempt sent is its draft and not an output', () => {
    enforces('view_blocked_drafts_left_out');
    const writer = sessionWriter();
    const root = writer.startRun({ note: { name: 'accepted', text: 'fine' } });
    const blocked = writer.block(root, { note: { name: 'rejected', text: 'draft' }, artifacts: [{ name: 'a' }] });
    const retried = writer.advance(blocked);

    const { outputs } = foldEvents(writer.events);
    expect(currentOutputs(outputs, blocked.nodeId)).toEqual([]);
    expect(currentOutput(outputs, blocked.nodeId, 'recap')).toBeUndefined();
    expect(ids(blockedDraft(outputs, blocked.nodeId))).toEqual(['rejected', 'a'].map(outputIdOf));
    expect([root, retried].map(({ nodeId }) => blockedDraft(outputs, nodeId))).toEqual([[], []]);
  });
});

function ids(outputs: readonly NodeOutput[]): readonly string[] {
  return outputs.map(({ data }) => data.outputId);
}

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
