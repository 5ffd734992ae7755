import { err, ok, type Result } from 'neverthrow';
import { bareFolder } from '../../core/resume/resume-question.ts';
import { compareRecent, type SessionRow, type StoredSession, sessionRow } from '../../core/sessions/board-rows.ts';
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

type Kept = { readonly board: SessionBoard; readonly stored: readonly StoredSession[] };

/** Each index has one board. Rows are made again only for sessions that have changed. */
const boards = new WeakMap<SessionIndex, Kept>();
const rowsOf = new WeakMap<StoredSession, SessionRow>();

/** All sessions as the index knows them. No log is read, and no mark. */
export async function sessionBoard({ sessionIndex }: ListServices): Promise<Result<SessionBoard, StoreFailure>> {
  const sessions = await sessionIndex.sessions();
  if (sessions.isErr()) return err(sessions.error);
  const stored = sessions.value;
  const kept = boards.get(sessionIndex);
  if (kept?.stored === stored) return ok(kept.board);
  const board = { version: (kept?.board.version ?? 0) + 1, rows: inOrder(kept?.board.rows ?? [], stored) };
  boards.set(sessionIndex, { board, stored });
  return ok(board);
}

/** In the order of the last board: it has changed in a few places only, and a sorted list is sorted in no time. */
function inOrder(before: readonly SessionRow[], stored: readonly StoredSession[]): readonly SessionRow[] {
  const now = new Map(stored.map((one) => [one.sessionId, one]));
  const known = before.flatMap(({ sessionId }) => now.get(sessionId) ?? []);
  const old = new Set(known.map(({ sessionId }) => sessionId));
  const added = stored.filter(({ sessionId }) => !old.has(sessionId)).reverse();
  return [...added, ...known].map(rowOf).sort(compareRecent);
}

function rowOf(stored: StoredSession): SessionRow {
  const known = rowsOf.get(stored);
  if (known !== undefined) return known;
  const row = sessionRow(stored);
  rowsOf.set(stored, row);
  return row;
}

/** A row after the end of its session was read, because the index does not know about later damage. */
export async function checkedRow({ sessionIndex }: ListServices, row: SessionRow): Promise<SessionRow> {
  const seen = await sessionIndex.inspect(row);
  // If the session is unreadable, the index still has its title.
  if (seen.isErr()) return sessionRow({ ...row, health: undefined });
  return sessionRow({ ...seen.value, summary: seen.value.summary ?? row.summary });
}

/** The paths under which a session may have recorded this folder. */
export async function workspacesAt(observer: WorkspaceObserver, folder: string): Promise<readonly string[]> {
  const seen = await observer.observe(folder);
  const root = seen.find(({ key }) => key === 'repo_root')?.value.value;
  return [...new Set([folder, ...(root === undefined ? [] : [root])].map(bareFolder))];
}
