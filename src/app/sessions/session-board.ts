import { err, ok, type Result } from 'neverthrow';
import type { SessionHealth } from '../../core/log/health.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { bareFolder } from '../../core/resume/resume-question.ts';
import { compareRecent, type SessionRow, sessionRow, waitsForPersonIn } from '../../core/sessions/board-rows.ts';
import type { SessionIndex } from '../ports/session-index.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { WorkspaceObserver } from '../ports/workspace-observer.ts';

export type ListServices = { readonly sessionIndex: SessionIndex };

/** The sessions of a store in memory. A new version means that something has changed. */
export type SessionBoard = {
  readonly version: number;
  /** Latest activity first. */
  readonly rows: readonly SessionRow[];
};

/** Each index has one board. */
const boards = new WeakMap<SessionIndex, SessionBoard & { readonly sessions: readonly SessionRow[] }>();

/** All sessions as the index knows them. No log is read, and no mark. */
export async function sessionBoard({ sessionIndex }: ListServices): Promise<Result<SessionBoard, StoreFailure>> {
  const listed = await sessionIndex.sessions();
  if (listed.isErr()) return err(listed.error);
  const sessions = listed.value;
  const kept = boards.get(sessionIndex);
  if (kept?.sessions === sessions) return ok(kept);
  // The newest session is often the one with the latest activity, and what is nearly sorted is sorted in no time.
  const rows = corrected(sessions, damaged.get(sessionIndex)).toReversed().sort(compareRecent);
  const board = { version: (kept?.version ?? 0) + 1, rows, sessions };
  boards.set(sessionIndex, board);
  return ok(board);
}

/** Damage that was seen by reading sessions. The index does not look for it. */
const damaged = new WeakMap<SessionIndex, Map<SessionId, SessionHealth>>();

/** Corrects the row of a session by what reading the session showed. */
export function noteHealth({ sessionIndex }: ListServices, sessionId: SessionId, health: SessionHealth): void {
  const found = damaged.get(sessionIndex) ?? new Map<SessionId, SessionHealth>();
  damaged.set(sessionIndex, found);
  const isHealthy = health.kind === 'healthy';
  if (isHealthy ? !found.delete(sessionId) : found.has(sessionId)) return;
  if (!isHealthy) found.set(sessionId, health);
  const kept = boards.get(sessionIndex);
  if (kept !== undefined) boards.set(sessionIndex, { ...kept, sessions: [] });
}

function corrected(rows: readonly SessionRow[], found: ReadonlyMap<SessionId, SessionHealth> = new Map()) {
  if (found.size === 0) return rows;
  return rows.map((row) => {
    const health = found.get(row.sessionId);
    return health === undefined || row.health?.kind !== 'healthy' ? row : sessionRow({ ...row, health });
  });
}

export type ShortIdServices = {
  readonly shortIds: (sessionIds: readonly SessionId[]) => (sessionId: SessionId) => string;
};

type WholeBoard = { readonly shortId: (sessionId: SessionId) => string; readonly waiting: number };

const wholeBoards = new WeakMap<readonly SessionRow[], WholeBoard>();

/** What follows from all rows of a board. Several tabs ask for each version of it, and only the first has to wait. */
export function wholeBoard({ shortIds }: ShortIdServices, rows: readonly SessionRow[]): WholeBoard {
  const known = wholeBoards.get(rows);
  if (known !== undefined) return known;
  const shortId = shortIds(rows.map(({ sessionId }) => sessionId));
  const whole = { shortId, waiting: rows.filter(waitsForPersonIn).length };
  wholeBoards.set(rows, whole);
  return whole;
}

/** A row after the end of its session was read, because the index does not know about later damage. */
export async function checkedRow({ sessionIndex }: ListServices, row: SessionRow): Promise<SessionRow> {
  const seen = await sessionIndex.inspect(row);
  // If the session is unreadable, the index still has its title.
  const { sessionId, marks } = row;
  const { health, summary } = seen.unwrapOr({ health: undefined, summary: undefined });
  return sessionRow({ sessionId, marks, health, summary: summary ?? row.summary });
}

/** The paths under which a session may have recorded this folder. */
export async function workspacesAt(observer: WorkspaceObserver, folder: string): Promise<readonly string[]> {
  const seen = await observer.observe(folder);
  const root = seen.find(({ key }) => key === 'repo_root')?.value.value;
  return [...new Set([folder, ...(root === undefined ? [] : [root])].map(bareFolder))];
}
