import { err, ok, type Result } from 'neverthrow';
import type { RunId } from '../../core/log/ids.ts';
import { bareFolder } from '../../core/resume/resume-question.ts';
import { brokenState, type SessionState, sessionState } from '../../core/sessions/session-state.ts';
import { isClosed } from '../../core/views/run-status.ts';
import type { SessionSummary } from '../../core/views/session-summary.ts';
import type { SeenSession, StoredSession } from '../ports/session-index.ts';
import { type SessionMarks, UNREADABLE_MARKS } from '../ports/session-marks.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { WorkspaceObserver } from '../ports/workspace-observer.ts';
import type { ReadServices } from '../services.ts';

export type ListServices = Pick<ReadServices, 'sessionIndex' | 'marks'>;

/** `index`: as the index knows them. `end`: after reading the end of each. */
type ListDepth = 'index' | 'end';

/** A session with its marks. */
export type ListedSession = StoredSession & {
  readonly state: SessionState;
  readonly closed: ReadonlySet<RunId>;
} & Pick<SessionMarks, 'isKept' | 'origin'>;

/** Every session with its state, latest activity first. */
export async function listSessions(services: ListServices): Promise<Result<readonly ListedSession[], StoreFailure>> {
  const stored = await newestSessions(services);
  return stored.isErr() ? err(stored.error) : ok(await withMarks(services, stored.value));
}

/** Every session, latest activity first. Reads the index and no log. */
export async function newestSessions({
  sessionIndex,
}: Pick<ListServices, 'sessionIndex'>): Promise<Result<readonly StoredSession[], StoreFailure>> {
  return (await sessionIndex.sessions()).map((stored) => [...stored].sort(compareStored));
}

/** Adds marks to sessions, which reads each folder. */
export async function withMarks(
  services: ListServices,
  sessions: readonly StoredSession[],
): Promise<readonly ListedSession[]> {
  const listed: ListedSession[] = [];
  for (const stored of sessions) listed.push(await listedSession(services, stored, 'index'));
  return listed;
}

/** One session as in a list. A session that the index does not know is always read. */
export async function listedSession(
  { marks, sessionIndex }: ListServices,
  stored: StoredSession,
  depth: ListDepth,
): Promise<ListedSession> {
  const { sessionId } = stored;
  const isInspected = depth === 'end' || stored.summary === undefined;
  const seen = isInspected ? (await sessionIndex.inspect(stored)).unwrapOr(undefined) : { ...stored, health: HEALTHY };
  const { isKept, closed: marked, origin } = (await marks.of(sessionId)).unwrapOr(UNREADABLE_MARKS);
  // If the session is unreadable, the index still has its title.
  const summary = seen?.summary ?? stored.summary;
  const closed = new Set((summary?.runs ?? []).filter((run) => isClosed(marked, run)).map(({ runId }) => runId));
  return { sessionId, summary, state: stateOf(seen, closed), closed, isKept, origin };
}

const HEALTHY = { kind: 'healthy' } as const;

function stateOf(seen: SeenSession | undefined, closed: ReadonlySet<RunId>): SessionState {
  const broken = seen === undefined ? 'damaged' : brokenState(seen.health);
  if (broken !== undefined) return broken;
  const runs = seen?.summary?.runs.map(({ runId, status }) => ({ status, isClosed: closed.has(runId) }));
  return runs === undefined ? 'damaged' : sessionState(runs);
}

/** Ids start with their creation time, so they order sessions without a time. */
function compareStored(a: StoredSession, b: StoredSession): number {
  const [timeA, timeB] = [a.summary?.lastAt, b.summary?.lastAt];
  if (timeA !== undefined && timeB !== undefined && timeA !== timeB) return timeB - timeA;
  return a.sessionId < b.sessionId ? 1 : -1;
}

/** The paths under which a session may have recorded this folder. */
export async function workspacesAt(observer: WorkspaceObserver, folder: string): Promise<readonly string[]> {
  const seen = await observer.observe(folder);
  const root = seen.find(({ key }) => key === 'repo_root')?.value.value;
  return [...new Set([folder, ...(root === undefined ? [] : [root])].map(bareFolder))];
}

export function isAt(summary: SessionSummary | undefined, workspaces: readonly string[]): boolean {
  const root = summary?.observed.repo_root;
  return root !== undefined && workspaces.includes(bareFolder(root));
}
