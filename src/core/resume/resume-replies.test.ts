import { expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { derivedBits, RunId, runTag, SessionId, workflowIdSchema } from '../log/ids.ts';
import { RECORDED_LABEL } from '../prompt/reply-parts.ts';
import { matchWords } from './rank-runs.ts';
import { candidateList, type ShownCandidate } from './resume-replies.ts';

const candidate: ShownCandidate = {
  sessionId: SessionId.of(derivedBits(['session'], sha256)),
  runId: RunId.of(derivedBits(['run'], sha256)),
  workflowId: workflowIdSchema.parse('wr.small'),
  title: 'Small',
  goal: 'Repair\nthe till',
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
  const { text, structured } = candidateList([candidate], { total: 3, isMatched: true, damaged: [] });
  expect(text.split('\n')).toEqual([
    'One stored run may be the one you mean. If it is, send its call. The reply contains the goal, the work so far, the current step and its tokens.',
    '',
    `1. "Repair the till" · run ${runTag(candidate.runId)} of wr.small · blocked at "Look" · last active 1970-01-01 00:00 UTC · has the same workspace and Git branch: continue_workflow {"stateToken":"st_1"}`,
    '',
    '2 more runs are stored; to find another, call resume_session with words from its goal or notes as "query", or with its gitBranch.',
    '',
    RECORDED_LABEL,
    `> Notes of run ${runTag(candidate.runId)}:`,
    '>   The drawer sticks.',
    '>   Next call: continue_workflow {"stateToken":"st_old"}',
    '',
    '---',
    'If you cannot tell which one is meant, ask the user. The calls in the list show a run and change nothing.',
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

it.each([
  [['matched_head_sha', 'matched_branch', 'matched_workspace'], 'has the same workspace, Git branch and commit'],
  [
    ['matched_notes', 'matched_workspace'],
    'matches your search words (in its goal or notes) and has the same workspace',
  ],
  [['recency_fallback'], 'recent'],
] as const)('the reasons %j of a choice are one sentence', (reasons, words) => {
  expect(matchWords(reasons)).toBe(words);
});

it('where nothing matches, the text says so and no call is suggested', () => {
  const recent: ShownCandidate = { ...candidate, whyMatched: ['recency_fallback', 'matched_workspace'] };
  const { text, structured } = candidateList([recent], { total: 1, isMatched: false, missed: 'zebra', damaged: [] });
  expect(text.split('\n')[0]).toBe(
    'Nothing matched: no unfinished run has "zebra" in its goal, its notes or its workflow name. These are the latest runs:',
  );
  expect(text).not.toContain('\nNext call:');
  expect(structured['nextCall']).toBe(null);
});

it('a run of another workspace is offered by goal, workspace and age, without notes and tokens', () => {
  const { sessionId, runId } = candidate;
  const foreign: ShownCandidate = {
    sessionId,
    runId,
    goal: 'Fix the "till"\n---',
    workspace: '/work/other',
    lastAt: 0,
    whyMatched: ['matched_notes'],
  };
  const { text, structured } = candidateList([foreign], { total: 1, isMatched: true, damaged: [] });
  const call = { tool: 'resume_session', arguments: { runId } };
  expect(text).toContain(
    `1. "Fix the \\"till\\" ---" · in another workspace, "/work/other" · last active 1970-01-01 00:00 UTC · matches your search words (in its goal or notes): resume_session {"runId":"${runId}"}`,
  );
  expect(structured['candidates']).toEqual([
    {
      sessionId,
      runId,
      goal: 'Fix the "till"\n---',
      workspace: '/work/other',
      lastActive: '1970-01-01 00:00 UTC',
      whyMatched: ['matched_notes'],
      nextCall: call,
    },
  ]);
  expect(structured['nextCall']).toBe(null);
});

it('sessions that cannot be read are named with the command that shows why', () => {
  const { sessionId } = candidate;
  const { text, structured } = candidateList([], { total: 0, isMatched: false, damaged: [sessionId] });
  expect(text).toContain(
    `Warning: Session ${sessionId} cannot be read and was left out. This command shows why: workrail session verify ${sessionId}\n`,
  );
  expect(structured['warnings']).toMatchObject([{ code: 'session_damaged', details: { sessionIds: [sessionId] } }]);
});

it('runs that are all finished are not called unfinished, and a query without words is named', () => {
  const over: ShownCandidate = { ...candidate, status: 'complete', whyMatched: ['matched_workspace'] };
  const finished = candidateList([over, over], { total: 2, isMatched: true, damaged: [] });
  expect(finished.text).toMatch(/^No unfinished run matches, but 2 finished runs do\./);
  const search = { total: 1, isMatched: false, missed: '!!! 🙂', isUnsearchable: true, damaged: [] };
  expect(candidateList([candidate], search).text).toMatch(
    /^Nothing matched: the query "!!! 🙂" has no letters or digits to search for\. These are the latest runs:/,
  );
});
