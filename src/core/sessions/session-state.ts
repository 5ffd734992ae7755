import type { Blocker } from '../log/blockers.ts';
import type { SessionHealth } from '../log/health.ts';
import type { SessionOrigin } from '../log/origin.ts';
import type { ClosedRuns, RunStatus } from '../views/run-status.ts';

/** What is stored beside the log of a session and is not part of it: marks that users set, and its origin. */
export type SessionMarks = {
  /** Exempt from expiry. */
  readonly isKept: boolean;
  readonly closed: ClosedRuns;
  /** Absent for a session that was started here. */
  readonly origin?: SessionOrigin | undefined;
};

/** The marks of a session that nobody marked. */
export const NO_MARKS: SessionMarks = { isKept: false, closed: new Map() };

/** What is assumed of a session whose marks cannot be read: they must not hide it, nor make it look like an own one. */
export const UNREADABLE_MARKS: SessionMarks = { isKept: false, closed: new Map(), origin: { kind: 'unreadable' } };

/** The state of a whole session. */
export const SESSION_STATES = ['running', 'blocked', 'complete', 'closed', 'salvaged', 'damaged'] as const;
export type SessionState = (typeof SESSION_STATES)[number];

/** What the state of a session depends on. A run with an unknown status counts as open. */
type RunEnd = { readonly status: RunStatus | undefined; readonly isClosed: boolean };

/** The run that needs the most attention decides: blocked before running before complete. */
export function sessionState(runs: readonly RunEnd[]): SessionState {
  const open = runs.filter(({ isClosed }) => !isClosed);
  if (runs.length > 0 && open.length === 0) return 'closed';
  if (open.some(({ status }) => status === 'blocked')) return 'blocked';
  return open.every(({ status }) => isOver(status)) ? 'complete' : 'running';
}

/** The state of a session whose log cannot be continued or read; `undefined` for a healthy one. */
export function brokenState(health: SessionHealth | undefined): 'salvaged' | 'damaged' | undefined {
  if (health === undefined) return 'damaged';
  if (health.kind === 'healthy') return undefined;
  return health.kind !== 'unknown_version' && health.damage.reason === 'salvaged' ? 'salvaged' : 'damaged';
}

export function isOver(status: RunStatus | undefined): boolean {
  return status === 'complete' || status === 'complete_with_gaps';
}

/** Whether only a person can provide what blocks a run. */
export function waitsForPerson(blockers: readonly Pick<Blocker, 'code'>[]): boolean {
  return blockers.length > 0 && blockers.every(({ code }) => code === 'USER_ONLY_DEPENDENCY');
}

/** How a list of sessions can be ordered and grouped. */
export const BOARD_SORTS = ['recent', 'started', 'title', 'state'] as const;
export type BoardSort = (typeof BOARD_SORTS)[number];

export const BOARD_GROUPS = ['repository', 'day', 'workflow'] as const;
export type BoardGroup = (typeof BOARD_GROUPS)[number];
