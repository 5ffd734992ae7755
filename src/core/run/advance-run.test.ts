import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { compiled } from '../../../test/examples/compiled.ts';
import { digestOf, ROOT, RUN, SESSION } from '../../../test/examples/ids.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { placeEvents } from '../log/event-draft.ts';
import { executionSnapshot } from '../log/execution-snapshot.ts';
import { workflowHashSchema } from '../log/ids.ts';
import { FIRST_ATTEMPT } from '../token/attempt.ts';
import { type Advance, advanceRun } from './advance-run.ts';
import { firstState } from './step-selection.ts';

const workflow = compiled({
  id: 'wr.two',
  name: 'Two',
  description: 'Two steps.',
  steps: [
    { id: 'one', title: 'One', prompt: 'Do one.' },
    { id: 'two', title: 'Two', prompt: 'Do two.' },
  ],
});

const advance: Advance = {
  runId: RUN,
  attempt: { nodeId: ROOT, attemptId: FIRST_ATTEMPT, operation: 'advance' },
  workflow,
  at: executionSnapshot(workflowHashSchema.parse(digestOf('workflow')), firstState(workflow)),
  hasStepBelow: false,
  output: { notesMarkdown: 'Did one.', artifacts: [] },
  requestDigest: digestOf('request'),
  reply: () => ({ text: ['next'], structured: { kind: 'ok' } }),
};

function eventsOf(changes: Partial<Advance>) {
  const { drafts } = advanceRun({ ...advance, ...changes }, sha256);
  return placeEvents(drafts, { sessionId: SESSION, firstEventIndex: 7 }, sha256);
}

test('an advance adds a node, its edge, what was handed in, and last the record with the reply', () => {
  const events = eventsOf({});
  expect(events.map(({ kind }) => kind)).toEqual([
    'node_created',
    'edge_created',
    'node_output_appended',
    'advance_recorded',
  ]);
  const { snapshot } = advanceRun(advance, sha256);
  expect(snapshot.enginePayload.state).toMatchObject({
    kind: 'running',
    cursor: 1,
    pending: { step: { stepId: 'two' } },
  });
});

test('the edge of an advance is ordinary, or a branch when a step was already taken from the node', () => {
  enforces('edge_cause_tip_advance', 'edge_cause_intentional_fork_only_asked');
  const causes = [false, true].map((hasStepBelow) => {
    const edge = eventsOf({ hasStepBelow }).find((event) => event.kind === 'edge_created');
    return edge?.data.cause.kind;
  });
  expect(causes).toEqual(['tip_advance', 'non_tip_advance']);
});

test('the edge names the record of its advance as its cause', () => {
  enforces('edge_ends_and_cause_event');
  const events = eventsOf({});
  const edge = events.find((event) => event.kind === 'edge_created');
  expect(edge?.data.cause.eventId).toBe(events.at(-1)?.eventId);
});

test('doing the last step completes the run', () => {
  const second = advanceRun(advance, sha256).snapshot;
  const { snapshot } = advanceRun({ ...advance, at: second }, sha256);
  expect(snapshot.enginePayload.state).toEqual({ kind: 'complete' });
});

test('the same advance decided twice gives the same bytes', () => {
  enforces('output_id_derived_from_attempt');
  expect(eventsOf({})).toEqual(eventsOf({}));
});
