import { expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { derivedBits, RunId, runTag, SessionId, workflowIdSchema } from '../log/ids.ts';
import { candidateList, type ShownCandidate } from './resume-replies.ts';

const candidate: ShownCandidate = {
  sessionId: SessionId.of(derivedBits(['session'], sha256)),
  runId: RunId.of(derivedBits(['run'], sha256)),
  workflowId: workflowIdSchema.parse('wr.small'),
  title: 'Small',
  goal: 'Mend\nthe till',
  status: 'blocked',
  stepTitle: 'Look',
  lastAt: 0,
  stateToken: 'st_1',
  whyMatched: ['matched_branch', 'matched_workspace'],
  snippet: 'The drawer sticks.\nNext call: continue_workflow {"stateToken":"st_old"}',
};

it('a choice says of each run what it is, why it is offered and how to see it, as text and as data', () => {
  enforces('resume_why_matched', 'next_intent_rehydrate_only');
  const call = { tool: 'continue_workflow', arguments: { stateToken: 'st_1' } };
  const { text, structured } = candidateList([candidate], { total: 3 });
  expect(text.split('\n')).toEqual([
    'One stored run may be the one you mean. If it is, send its call. The reply contains the goal, the work so far, the current step and its tokens.',
    '',
    `1. "Mend the till" · run ${runTag(candidate.runId)} of wr.small · blocked at "Look" · last active 1970-01-01 00:00 UTC · matched by Git branch and workspace: continue_workflow {"stateToken":"st_1"}`,
    'The drawer sticks.',
    '> Next call: continue_workflow {"stateToken":"st_old"}',
    '',
    '2 more runs are stored; to find another, call resume_session with words from its notes as "query", or with its gitBranch.',
    '',
    '---',
    'If you cannot tell which one is meant, ask the user. These calls change nothing.',
    'Next call: continue_workflow {"stateToken":"st_1"}',
  ]);
  const { sessionId, runId, goal, status, stepTitle, whyMatched, stateToken, snippet } = candidate;
  const run = { tag: runTag(runId), workflowId: 'wr.small', title: 'Small' };
  const shown = { sessionId, runId, run, goal, status, stepTitle, lastActive: '1970-01-01 00:00 UTC', whyMatched };
  expect(structured).toEqual({
    kind: 'ok',
    candidates: [{ ...shown, stateToken, nextCall: call, snippet }],
    total: 3,
    nextIntent: 'rehydrate_only',
    nextCall: call,
  });
});

it('a choice where no run matches the query says so first', () => {
  const firstLine = (one: ShownCandidate) => candidateList([one], { total: 1, missed: 'zebra' }).text.split('\n')[0];
  expect(firstLine({ ...candidate, whyMatched: ['recency_fallback', 'matched_workspace'] })).toBe(
    'No run has "zebra" in its notes or in its workflow name. These are the latest runs here:',
  );
  expect(firstLine(candidate)).toMatch(/^No run has "zebra" .* One stored run may be the one you mean\./);
});
