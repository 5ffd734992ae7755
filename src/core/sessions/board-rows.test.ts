import { expect, it } from 'vitest';
import { sha256 } from '../../../test/examples/sha256.ts';
import { derivedBits, NodeId, RunId, SessionId, type WorkflowHash, workflowIdSchema } from '../log/ids.ts';
import type { RunStatus } from '../views/run-status.ts';
import { type BoardQuery, boardPage, compareRecent, readFilter, sessionRow } from './board-rows.ts';
import { NO_MARKS } from './session-state.ts';
import type { RunSummary } from './session-summary.ts';

type Facts = {
  readonly status?: RunStatus;
  readonly at?: number;
  readonly root?: string;
  readonly workflow?: string;
  readonly isClosed?: boolean;
  readonly waits?: boolean;
};

function row(goal: string, facts: Facts = {}) {
  const { status = 'in_progress', at = 0, root = '/work/shop', workflow = 'wr.small', isClosed = false } = facts;
  const sessionId = SessionId.of(derivedBits([goal], sha256));
  const runId = RunId.of(derivedBits(['run', goal], sha256));
  const run: RunSummary = {
    runId,
    workflowId: workflowIdSchema.parse(workflow),
    workflowHash: 'sha256:0' as WorkflowHash,
    workflowName: `Name of ${workflow}`,
    status,
    goal,
    startedAt: 1_000 - at,
    tip: NodeId.of(derivedBits(['node', goal], sha256)),
    place: { kind: 'step', stepId: 'collect' as never, title: 'Collect evidence', position: { index: 1, of: 3 } },
    lastActivityIndex: 1,
    branchCount: 1,
    checkpoints: 0,
    attempts: 0,
    waitsForPerson: facts.waits ?? false,
    openGaps: 0,
    note: 'Looked at the till.',
    wordCodes: '',
  };
  const summary = {
    sessionId,
    lastEventIndex: 1,
    lastAt: at,
    observed: { repo_root: root, git_branch: 'main' },
    runs: [run],
  };
  const marks = isClosed ? { ...NO_MARKS, closed: new Map([[runId, 5]]) } : NO_MARKS;
  return sessionRow({ sessionId, summary, health: { kind: 'healthy' }, marks });
}

const DAY = 86_400_000;
const ROWS = [
  row('Fix the login', { at: 3 * DAY, status: 'blocked' }),
  row('Pay by card', { at: 2 * DAY, root: '/work/api', workflow: 'wr.coding_task' }),
  row('Old thing', { at: DAY, status: 'complete_with_gaps' }),
  row('Put away', { at: 5, isClosed: true }),
  row('Answer me', { at: 1, status: 'blocked', waits: true, root: '/work/api' }),
].sort(compareRecent);

const page = (query: Partial<BoardQuery>) => boardPage(ROWS, { limit: 10, ...query });
const goals = (query: Partial<BoardQuery>) => page(query).rows.map(({ summary }) => summary?.runs[0]?.goal);

it('a page has the rows from its offset on, the number of all that match, and the counts of every state', () => {
  expect(goals({ offset: 1, limit: 2 })).toEqual(['Pay by card', 'Old thing']);
  expect(page({ limit: 1, states: ['blocked'] })).toMatchObject({
    total: 2,
    counts: { blocked: 2, running: 1, complete: 1, closed: 1, damaged: 0, salvaged: 0 },
    groups: [],
  });
  expect(ROWS.map(({ hasGaps }) => hasGaps)).toEqual([false, false, true, false, false]);
});

it('rows are found by words of anything that they show, by workflow, repository, branch and age', () => {
  expect(goals({ words: ['login'] })).toEqual(['Fix the login']);
  expect(goals({ words: ['till', 'api'] })).toEqual(['Pay by card', 'Answer me']);
  expect(goals({ words: ['evidence', 'nowhere'] })).toEqual([]);
  expect(goals({ workflow: 'CODING' })).toEqual(['Pay by card']);
  expect(goals({ workflow: 'Name of wr.small', repository: 'api' })).toEqual(['Answer me']);
  expect(goals({ branch: 'main', sinceMs: 2 * DAY })).toEqual(['Fix the login', 'Pay by card']);
  expect(goals({ workspaces: ['/work/api'] })).toEqual(['Pay by card', 'Answer me']);
});

it('rows are sorted by start, title or urgency, and equal rows stay in the order of their activity', () => {
  expect(goals({ sort: 'title' })).toEqual(['Answer me', 'Fix the login', 'Old thing', 'Pay by card', 'Put away']);
  expect(goals({ sort: 'state' })).toEqual(['Answer me', 'Fix the login', 'Pay by card', 'Old thing', 'Put away']);
  expect(goals({ sort: 'started' })).toEqual(goals({}).reverse());
});

it('groups come in the order of their first rows, and a page runs through them', () => {
  expect(page({ group: 'repository' }).groups).toEqual([
    { name: '/work/shop', total: 3 },
    { name: '/work/api', total: 2 },
  ]);
  expect(goals({ group: 'repository', offset: 2, limit: 2 })).toEqual(['Put away', 'Pay by card']);
  expect(page({ group: 'day' }).groups.map(({ name }) => name)).toEqual([
    '1970-01-04',
    '1970-01-03',
    '1970-01-02',
    '1970-01-01',
  ]);
  expect(page({ group: 'workflow' }).groups[1]).toEqual({ name: 'wr.coding_task', total: 1 });
});

it('sessions are found by who waits, by open gaps and by their author', () => {
  const goals = (...typed: string[]) => {
    const filter = readFilter(typed, 0);
    if ('key' in filter) return filter;
    return boardPage(AUTHORED, { ...filter, limit: 9 }).rows.map(({ summary }) => summary?.runs[0]?.goal);
  };
  const [first = expect.fail(), ...others] = ROWS;
  const { summary = expect.fail() } = first;
  const withGap = {
    ...summary,
    author: 'Ada Lovelace <ada@b.c>',
    runs: summary.runs.map((run) => ({ ...run, openGaps: 2 })),
  };
  const AUTHORED = [{ ...first, summary: withGap }, ...others];
  expect(goals('is:waiting')).toEqual(['Answer me']);
  expect(goals('is:gaps')).toEqual([withGap.runs[0]?.goal]);
  expect(goals('is:gaps', 'is:waiting')).toEqual([]);
  expect(goals('author:lovelace')).toEqual([withGap.runs[0]?.goal]);
  expect(goals('is:late')).toEqual({ key: 'is', value: 'late' });
});

it('a filter is read as it is typed', () => {
  expect(
    readFilter(['state:blocked,running wf:coding', 'repo:api', 'branch:main', 'OAuth', 'after:2d'], 3 * DAY),
  ).toEqual({
    states: ['blocked', 'running'],
    workflow: 'coding',
    repository: 'api',
    branch: 'main',
    words: ['oauth'],
    sinceMs: DAY,
  });
  expect(readFilter(['after:1970-01-03'], 0)).toEqual({ sinceMs: 2 * DAY });
  expect(readFilter([], 0)).toEqual({});
  expect(readFilter(['state:stuck'], 0)).toEqual({ key: 'state', value: 'stuck' });
  expect(readFilter(['after:soon'], 0)).toEqual({ key: 'after', value: 'soon' });
});
