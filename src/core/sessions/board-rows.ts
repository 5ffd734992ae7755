import type { SessionHealth } from '../log/health.ts';
import type { RunId, SessionId } from '../log/ids.ts';
import { bareFolder } from '../resume/resume-question.ts';
import { searchWords, wordsIn } from '../text/search-words.ts';
import { isoTime } from '../text/utc-time.ts';
import { isClosed } from '../views/run-status.ts';
import {
  type BoardGroup,
  type BoardSort,
  brokenState,
  SESSION_STATES,
  type SessionMarks,
  type SessionState,
  sessionState,
} from './session-state.ts';
import type { RunSummary, SessionSummary } from './session-summary.ts';

/** A session as it is known without reading its log. */
export type StoredSession = {
  readonly sessionId: SessionId;
  /** Of a damaged session, the summary covers its valid start, if it has one. */
  readonly summary: SessionSummary | undefined;
  /** `undefined` if the session could not be read at all. */
  readonly health: SessionHealth | undefined;
  readonly marks: SessionMarks;
};

/** The summaries of healthy sessions. */
export function healthySummaries(stored: readonly StoredSession[]): readonly SessionSummary[] {
  return stored.flatMap(({ summary, health }) => (health?.kind === 'healthy' ? (summary ?? []) : []));
}

/** A session in a list. */
export type SessionRow = StoredSession & {
  readonly state: SessionState;
  readonly closed: ReadonlySet<RunId>;
  /** An open run is complete with gaps. */
  readonly hasGaps: boolean;
  readonly lastAt: number | undefined;
  readonly workspace: string | undefined;
};

export function sessionRow({ sessionId, summary, health, marks }: StoredSession): SessionRow {
  const runs = summary?.runs ?? [];
  const closed = marks.closed.size === 0 ? NONE_CLOSED : closedOf(runs, marks);
  const ends = runs.map(({ runId, status }) => ({ status, isClosed: closed.has(runId) }));
  return {
    sessionId,
    summary,
    health,
    marks,
    state: brokenState(health) ?? (summary === undefined ? 'damaged' : sessionState(ends)),
    closed,
    hasGaps: ends.some(({ status, isClosed }) => status === 'complete_with_gaps' && !isClosed),
    lastAt: summary?.lastAt,
    workspace: summary?.observed.repo_root,
  };
}

const NONE_CLOSED: ReadonlySet<RunId> = new Set();

function closedOf(runs: readonly RunSummary[], { closed }: SessionMarks): ReadonlySet<RunId> {
  return new Set(runs.filter((run) => isClosed(closed, run)).map(({ runId }) => runId));
}

const UNKNOWN = -1;

/** Latest activity first. Ids start with their creation time, so they order sessions without a time, which come last. */
export function compareRecent(a: SessionRow, b: SessionRow): number {
  const { lastAt: timeA } = a;
  const { lastAt: timeB } = b;
  if (timeA !== timeB) return (timeB ?? UNKNOWN) - (timeA ?? UNKNOWN);
  return a.sessionId < b.sessionId ? 1 : -1;
}

/** What to show of the board. What is absent does not restrict. */
export type BoardQuery = BoardFilter & {
  readonly sort?: BoardSort | undefined;
  readonly group?: BoardGroup | undefined;
  readonly offset?: number | undefined;
  readonly limit: number;
};

export type BoardFilter = {
  readonly states?: readonly SessionState[] | undefined;
  /** Each must occur in a title, a workflow, the step that is due, the newest note, the repository or the branch. */
  readonly words?: readonly string[] | undefined;
  /** Part of the id or name of a workflow. */
  readonly workflow?: string | undefined;
  /** Part of the path of the repository. */
  readonly repository?: string | undefined;
  readonly branch?: string | undefined;
  /** Active at this time or later. */
  readonly sinceMs?: number | undefined;
  /** Part of the name or address in the git settings. */
  readonly author?: string | undefined;
  /** An open run ended with gaps, or waits for a person. */
  readonly is?: readonly BoardTrait[] | undefined;
  /** The spellings of one workspace path. */
  readonly workspaces?: readonly string[] | undefined;
};

/** What a session can be asked for besides its state. */
export const BOARD_TRAITS = ['gaps', 'waiting'] as const;
export type BoardTrait = (typeof BOARD_TRAITS)[number];

export type BoardPage = {
  /** How many sessions match. */
  readonly total: number;
  /** How many there are of each state, whichever states were asked for. */
  readonly counts: { readonly [state in SessionState]: number };
  readonly rows: readonly SessionRow[];
  /** The groups in order, with their sizes; none if nothing was to be grouped. */
  readonly groups: readonly { readonly name: string; readonly total: number }[];
};

/** One page of the board. The rows come with the latest activity first. */
export function boardPage(rows: readonly SessionRow[], query: BoardQuery): BoardPage {
  const { states, sort = 'recent', group, offset = 0, limit } = query;
  const tests = rowTests(query);
  const fitting = tests.length === 0 ? rows : rows.filter((row) => tests.every((test) => test(row)));
  const found = states === undefined ? fitting : fitting.filter(({ state }) => states.includes(state));
  const sorted = sort === 'recent' ? found : found.toSorted(COMPARE[sort]);
  const groups = group === undefined ? undefined : groupRows(sorted, group);
  return {
    total: sorted.length,
    counts: countStates(fitting),
    rows: (groups?.flatMap((one) => one.rows) ?? sorted).slice(offset, offset + limit),
    groups: (groups ?? []).map((one) => ({ name: one.name, total: one.rows.length })),
  };
}

const counted = new WeakMap<readonly SessionRow[], BoardPage['counts']>();

/** How many rows there are of each state. The whole board is counted once for each version of it. */
export function countStates(rows: readonly SessionRow[]): BoardPage['counts'] {
  const known = counted.get(rows);
  if (known !== undefined) return known;
  const counts = { running: 0, blocked: 0, complete: 0, closed: 0, salvaged: 0, damaged: 0 };
  for (const { state } of rows) counts[state] += 1;
  counted.set(rows, counts);
  return counts;
}

function rowTests(filter: BoardFilter): readonly ((row: SessionRow) => boolean)[] {
  const { words = [], workflow, repository, branch, sinceMs, workspaces, author, is = [] } = filter;
  const has = (text: string | undefined, part: string) => (text ?? '').toLowerCase().includes(part.toLowerCase());
  const runOf = ({ summary }: SessionRow, isRun: (run: RunSummary) => boolean) => (summary?.runs ?? []).some(isRun);
  const isOfWorkflow = (part: string) => (run: RunSummary) => has(run.workflowId, part) || has(run.workflowName, part);
  return [
    ...(workspaces === undefined ? [] : [(row: SessionRow) => isAt(row, workspaces)]),
    ...(sinceMs === undefined ? [] : [({ lastAt = 0 }: SessionRow) => lastAt >= sinceMs]),
    ...(workflow === undefined ? [] : [(row: SessionRow) => runOf(row, isOfWorkflow(workflow))]),
    ...(repository === undefined ? [] : [({ workspace }: SessionRow) => has(workspace, repository)]),
    ...(branch === undefined ? [] : [({ summary }: SessionRow) => has(summary?.observed.git_branch, branch)]),
    ...(author === undefined ? [] : [({ summary }: SessionRow) => has(summary?.author, author)]),
    ...is.map((trait) => TRAITS[trait]),
    ...(words.length === 0 ? [] : [(row: SessionRow) => wordsIn(textOf(row), words).length === words.length]),
  ];
}

const TRAITS: { readonly [trait in BoardTrait]: (row: SessionRow) => boolean } = {
  gaps: ({ summary, closed }) =>
    (summary?.runs ?? []).some(({ runId, openGaps }) => openGaps > 0 && !closed.has(runId)),
  waiting: waitsForPersonIn,
};

/** Whether a session took place in one of these folders. */
export function isAt({ workspace }: Pick<SessionRow, 'workspace'>, workspaces: readonly string[]): boolean {
  return workspace !== undefined && workspaces.includes(bareFolder(workspace));
}

/** Everything that a row shows as text. */
function textOf({ sessionId, summary }: SessionRow): string {
  const { git_branch = '', repo_root = '' } = summary?.observed ?? {};
  const ofRuns = (summary?.runs ?? []).flatMap(({ goal, workflowId, workflowName, place, note }) => [
    goal ?? '',
    workflowId,
    workflowName ?? '',
    place.kind === 'step' ? place.title : '',
    note ?? '',
  ]);
  return [sessionId, repo_root, git_branch, ...ofRuns].join('\n');
}

/** The title of a session: the goal of its first run that has one, or else its first workflow. */
export function titleOf(runs: readonly TitledRun[]): string | undefined {
  const goal = runs.find((run) => (run.goal ?? '').trim() !== '')?.goal;
  return goal ?? runs[0]?.workflowName ?? runs[0]?.workflowId;
}

type TitledRun = {
  readonly goal?: string | undefined;
  readonly workflowId: string;
  readonly workflowName?: string | undefined;
};

/** Equal rows stay in the order of their activity. */
const COMPARE: { readonly [sort in Exclude<BoardSort, 'recent'>]: (a: SessionRow, b: SessionRow) => number } = {
  started: (a, b) => startOf(b) - startOf(a),
  title: (a, b) => compareTexts(sortTitle(a), sortTitle(b)),
  state: (a, b) => urgency(a) - urgency(b),
};

function startOf({ summary }: SessionRow): number {
  return summary?.runs[0]?.startedAt ?? summary?.lastAt ?? 0;
}

function sortTitle({ summary }: SessionRow): string {
  return (titleOf(summary?.runs ?? []) ?? '').toLowerCase();
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

const URGENCY: readonly SessionState[] = ['blocked', 'running', 'damaged', 'salvaged', 'complete', 'closed'];

/** What waits for a person comes first, and what nobody has to look at comes last. */
function urgency(row: SessionRow): number {
  return row.state === 'blocked' && waitsForPersonIn(row) ? -1 : URGENCY.indexOf(row.state);
}

/** Whether an open run of a session waits for a person. */
export function waitsForPersonIn({ summary, closed }: SessionRow): boolean {
  return (summary?.runs ?? []).some(({ runId, waitsForPerson }) => waitsForPerson && !closed.has(runId));
}

type RowGroup = { readonly name: string; readonly rows: SessionRow[] };

/** Groups in the order of their first rows. */
function groupRows(rows: readonly SessionRow[], by: BoardGroup): readonly RowGroup[] {
  const groups = new Map<string, RowGroup>();
  for (const row of rows) {
    const name = groupName(row, by);
    const group = groups.get(name) ?? { name, rows: [] };
    groups.set(name, group);
    group.rows.push(row);
  }
  return [...groups.values()];
}

const DAY_LENGTH = 'yyyy-mm-dd'.length;

function groupName({ summary, lastAt, workspace }: SessionRow, by: BoardGroup): string {
  if (by === 'repository') return workspace ?? '';
  if (by === 'workflow') return summary?.runs[0]?.workflowId ?? '';
  return lastAt === undefined ? '' : isoTime(lastAt).slice(0, DAY_LENGTH);
}

/** A word of a filter that means nothing. */
export type UnknownFilter = { readonly key: string; readonly value: string };

const UNITS_MS: { readonly [unit: string]: number } = { m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 };

/**
 * A filter as it is typed: `state:blocked wf:coding repo:api branch:main after:2d author:ada is:waiting is:gaps`, and
 * other words that must occur. A time is an age or a day.
 */
export function readFilter(typed: readonly string[], nowMs: number): BoardFilter | UnknownFilter {
  let filter: BoardFilter = {};
  const words: string[] = [];
  for (const word of typed.flatMap((text) => text.split(/\s+/)).filter((text) => text !== '')) {
    const [, key, value = ''] = /^(state|wf|repo|branch|after|author|is):(.+)$/.exec(word) ?? [];
    if (key === undefined) words.push(...searchWords(word));
    else {
      const read = readPart(key, value, nowMs);
      if (read === undefined) return { key, value };
      // Several traits must all hold; of anything else, the last one counts.
      filter = { ...filter, ...read, ...(read.is && { is: [...(filter.is ?? []), ...read.is] }) };
    }
  }
  return words.length === 0 ? filter : { ...filter, words };
}

function readPart(key: string, value: string, nowMs: number): BoardFilter | undefined {
  switch (key) {
    case 'state': {
      const states = value.toLowerCase().split(',');
      const known = states.filter((state): state is SessionState => SESSION_STATES.some((one) => one === state));
      return known.length === states.length ? { states: known } : undefined;
    }
    case 'wf':
      return { workflow: value };
    case 'repo':
      return { repository: value };
    case 'branch':
      return { branch: value };
    case 'author':
      return { author: value };
    case 'is': {
      const known = BOARD_TRAITS.filter((trait) => trait === value);
      return known.length === 0 ? undefined : { is: known };
    }
    default: {
      const sinceMs = timeOf(value, nowMs);
      return sinceMs === undefined ? undefined : { sinceMs };
    }
  }
}

function timeOf(value: string, nowMs: number): number | undefined {
  const [, count, unit = ''] = /^(\d{1,4})([mhdw])$/.exec(value) ?? [];
  if (count !== undefined) return nowMs - Number(count) * (UNITS_MS[unit] ?? 0);
  const day = /^\d{4}-\d{2}-\d{2}$/.test(value) ? new Date(value).getTime() : Number.NaN;
  return Number.isNaN(day) ? undefined : day;
}
