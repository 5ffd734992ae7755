import { err, ok, type Result } from 'neverthrow';
import type { RunId } from '../../core/log/ids.ts';
import { bareFolder } from '../../core/resume/resume-question.ts';
import { brokenState, type SessionState, sessionState } from '../../core/sessions/session-state.ts';
import { isClosed } from '../../core/views/run-status.ts';
import type { SessionSummary } from '../../core/views/session-summary.ts';
import type { SeenSession, StoredSession } from '../ports/session-index.ts';
import type { SessionMarks } from '../ports/session-marks.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { WorkspaceObserver } from '../ports/workspace.ts';
import type { ReadServices } from '../services.ts';

export type ListServices = Pick<ReadServices, 'sessionIndex' | 'marks'>;

/** How thoroughly sessions are listed: as the index tells, or after a look at the end of each. */
type ListDepth = 'index' | 'end';

/** The same with what people have said about it. */
export type ListedSession = StoredSession & {
  readonly state: SessionState;
  /** Runs that somebody has closed. */
  readonly closed: ReadonlySet<RunId>;
  readonly isKept: boolean;
};

/** Every session there is with its state, the one that was last worked on first. */
export async function listSessions(services: ListServices): Promise<Result<readonly ListedSession[], StoreFailure>> {
  const stored = await newestSessions(services);
  return stored.isErr() ? err(stored.error) : ok(await withMarks(services, stored.value));
}

/** Every session there is, the one that was last worked on first. Reads the index and no log. */
export async function newestSessions({
  sessionIndex,
}: Pick<ListServices, 'sessionIndex'>): Promise<Result<readonly StoredSession[], StoreFailure>> {
  return (await sessionIndex.sessions()).map((stored) => [...stored].sort(compareStored));
}

/** Adds what people have said about sessions, which takes a look at the folder of each. */
export async function withMarks(
  services: ListServices,
  sessions: readonly StoredSession[],
): Promise<readonly ListedSession[]> {
  const listed: ListedSession[] = [];
  for (const stored of sessions) listed.push(await listedSession(services, stored, 'index'));
  return listed;
}

/** One session as lists show it. What the index does not know is looked at in any case. */
export async function listedSession(
  { marks, sessionIndex }: ListServices,
  stored: StoredSession,
  depth: ListDepth,
): Promise<ListedSession> {
  const { sessionId } = stored;
  const isLookedAt = depth === 'end' || stored.summary === undefined;
  const seen = isLookedAt ? (await sessionIndex.look(stored)).unwrapOr(undefined) : { ...stored, health: HEALTHY };
  const { isKept, closed: marked } = (await marks.of(sessionId)).unwrapOr(NO_MARKS);
  // Where nothing can be read any more, what the index remembers is better than no title.
  const summary = seen?.summary ?? stored.summary;
  const closed = new Set((summary?.runs ?? []).filter((run) => isClosed(marked, run)).map(({ runId }) => runId));
  return { sessionId, summary, state: stateOf(seen, closed), closed, isKept };
}

const HEALTHY = { kind: 'healthy' } as const;
/** Marks that cannot be read are no reason to show nothing. */
const NO_MARKS: SessionMarks = { isKept: false, closed: new Map() };

function stateOf(seen: SeenSession | undefined, closed: ReadonlySet<RunId>): SessionState {
  const broken = seen === undefined ? 'damaged' : brokenState(seen.health);
  if (broken !== undefined) return broken;
  const runs = seen?.summary?.runs.map(({ runId, status }) => ({ status, isClosed: closed.has(runId) }));
  return runs === undefined ? 'damaged' : sessionState(runs);
}

/** Ids begin with the time at which they were made, so they order what tells no time of its own. */
function compareStored(a: StoredSession, b: StoredSession): number {
  const [timeA, timeB] = [a.summary?.lastAt, b.summary?.lastAt];
  if (timeA !== undefined && timeB !== undefined && timeA !== timeB) return timeB - timeA;
  return a.sessionId < b.sessionId ? 1 : -1;
}

/** The ways in which the folder that somebody stands in may be written down in a session. */
export async function workspacesAt(observer: WorkspaceObserver, folder: string): Promise<readonly string[]> {
  const seen = await observer.observe(folder);
  const root = seen.find(({ key }) => key === 'repo_root')?.value.value;
  return [...new Set([folder, ...(root === undefined ? [] : [root])].map(bareFolder))];
}

export function isAt(summary: SessionSummary | undefined, workspaces: readonly string[]): boolean {
  const root = summary?.observed.repo_root;
  return root !== undefined && workspaces.includes(bareFolder(root));
}
