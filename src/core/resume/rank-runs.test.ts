import { expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { derivedBits, NodeId, RunId, runTag, SessionId, type WorkflowHash, workflowIdSchema } from '../log/ids.ts';
import type { RunSummary, SessionSummary } from '../sessions/session-summary.ts';
import { wordCodes } from '../text/search-words.ts';
import { likelyRuns, rankRuns, replaceRuns } from './rank-runs.ts';
import { type ResumeClues, resumeQuestion } from './resume-question.ts';

type Facts = Pick<RunSummary, 'status' | 'owner'> & SessionSummary['observed'] & { readonly words?: readonly string[] };

function session(name: string, { status, owner, words = [], ...observed }: Facts): SessionSummary {
  const run: RunSummary = {
    runId: RunId.of(derivedBits(['run', name], sha256)),
    workflowId: workflowIdSchema.parse('wr.small'),
    workflowHash: 'sha256:0' as WorkflowHash,
    status,
    ...(owner === undefined ? {} : { owner }),
    goal: name,
    tip: NodeId.of(derivedBits(['node', name], sha256)),
    place: { kind: 'start' },
    checkpoints: 0,
    attempts: 0,
    waitsForPerson: false,
    openGaps: 0,
    lastActivityIndex: 1,
    branchCount: 1,
    wordCodes: wordCodes([name, ...words]),
  };
  return { sessionId: SessionId.of(derivedBits([name], sha256)), lastEventIndex: 1, lastAt: 1, observed, runs: [run] };
}

function meant(sessions: readonly SessionSummary[], clues: ResumeClues, ...[workspace, principal]: readonly string[]) {
  const question = resumeQuestion(clues, { workspaces: workspace === undefined ? [] : [workspace], principal });
  const ranked = rankRuns(sessions, question);
  const found = likelyRuns(ranked, question).map(({ run }) => run.goal);
  return found.length === 1 ? found[0] : undefined;
}

const HERE = '/here';
const open = session('open', { status: 'in_progress', git_branch: 'fix', repo_root: HERE, words: ['login'] });
const blocked = session('blocked', { status: 'blocked', git_branch: 'fix', repo_root: HERE });
const done = session('done', { status: 'complete', git_branch: 'fix', repo_root: HERE });
const gaps = session('gaps', { status: 'complete_with_gaps', git_branch: 'fix', repo_root: HERE });
const noted = session('noted', { status: 'in_progress', repo_root: HERE, words: ['login'] });
const away = session('away', { status: 'in_progress', git_branch: 'fix', repo_root: '/away' });

it('the only unfinished run of the best tier in the workspace is resumed', () => {
  enforces('resume_strong_match_rehydrates');
  expect(meant([open, done, gaps], { gitBranch: 'fix' })).toBe('open');
  expect(meant([blocked, done, gaps], { gitBranch: 'fix' })).toBe('blocked');
  expect(meant([open, blocked], { gitBranch: 'fix' })).toBeUndefined();
  expect(meant([done, gaps], { gitBranch: 'fix' })).toBeUndefined();
  expect(meant([open, away], { gitBranch: 'fix' })).toBeUndefined();
  expect(meant([open, away], { gitBranch: 'fix' }, HERE)).toBe('open');
  expect(meant([open, away], { gitBranch: 'fix' }, '/elsewhere')).toBeUndefined();
  expect(meant([open, blocked], { gitBranch: 'fix', query: 'login' })).toBeUndefined();
  expect(meant([open, blocked], { query: 'login' })).toBe('open');
  expect(meant([open, noted], { gitBranch: 'fix', query: 'login' })).toBe('open');
  expect(meant([open, noted], { query: 'login' })).toBeUndefined();
});

it('the run of somebody else is offered after those of the caller, and resumed only if it is named', () => {
  const repository = 'git.example/acme/shop';
  const [ann, ben] = ['ann', 'ben'].map((owner) =>
    session(owner, { status: 'in_progress', owner, git_branch: 'main', repo_remote: repository }),
  ) as [SessionSummary, SessionSummary];
  expect(meant([ann, ben], {}, repository, 'ben')).toBe('ben');
  expect(meant([ann], {}, repository, 'ben')).toBeUndefined();
  expect(meant([ann], { gitBranch: 'main' }, repository, 'ben')).toBeUndefined();
  expect(meant([ann], { sessionId: ann.sessionId }, repository, 'ben')).toBe('ann');
  expect(meant([ann], {}, repository)).toBe('ann');
  // A tag is a hint, so it does not name the run of somebody else.
  const [run = expect.fail()] = ann.runs;
  for (const clues of [{ runId: runTag(run.runId) }, { query: runTag(run.runId) }]) {
    expect([meant([ann], clues, repository, 'ben'), meant([ann], clues, repository, 'ann')]).toEqual([
      undefined,
      'ann',
    ]);
    const asked = resumeQuestion(clues, { workspaces: [repository], principal: 'ben' });
    expect(rankRuns([ben, ann], asked).map(({ tier }) => tier)[0]).toBe(0);
  }
  const question = resumeQuestion({}, { workspaces: [repository], principal: 'ben' });
  expect(rankRuns([ann, ben], question).map(({ run, isOthers }) => [run.owner, isOthers])).toEqual([
    ['ben', false],
    ['ann', true],
  ]);
});

it('a match by workflow or recency is not enough, unless the caller names nothing but the workspace', () => {
  enforces('resume_strong_match_rehydrates');
  expect(meant([open], { query: 'small' })).toBeUndefined();
  expect(meant([open], { query: 'nowhere' }, HERE)).toBeUndefined();
  expect(meant([open], {})).toBeUndefined();
  expect(meant([open, away, done], {}, HERE)).toBe('open');
  expect(meant([open, blocked], {}, HERE)).toBeUndefined();
  expect(meant([away], {}, HERE)).toBeUndefined();
});

it('a run or session that is named is resumed, finished or not', () => {
  const [run] = done.runs;
  expect(meant([open, done], { sessionId: done.sessionId }, '/elsewhere')).toBe('done');
  expect(meant([open, done], { runId: run?.runId ?? '' })).toBe('done');
});

it('a session that was read takes the place that ranking everything again would give it', () => {
  const question = resumeQuestion({ gitBranch: 'fix', query: 'login' }, { workspaces: [HERE] });
  const known = [open, blocked, noted, away].map((one, i) => ({ ...one, lastAt: i % 2 }));
  for (const one of known) {
    for (const lastAt of [0, 1, 2]) {
      for (const git_branch of ['fix', 'main']) {
        const read = { ...one, lastAt, observed: { ...one.observed, git_branch } };
        const replaced = replaceRuns(rankRuns(known, question), new Set([one.sessionId]), rankRuns([read], question));
        expect(replaced).toEqual(rankRuns([...known.filter((other) => other !== one), read], question));
      }
    }
  }
});
