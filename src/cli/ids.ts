import { setImmediate } from 'node:timers/promises';
import { err, ok, type Result } from 'neverthrow';
import type { SessionIndex } from '../app/ports/session-index.ts';
import type { SessionReader } from '../app/ports/session-store.ts';
import type { StoreFailure } from '../app/ports/store-failure.ts';
import { type RunId, runTag, type SessionId } from '../core/log/ids.ts';
import { type KnownSession, matchId, mayBeRun } from './ids/id-match.ts';

export type FindRefusal =
  | {
      readonly code: 'session_unmatched';
      readonly asked: string;
      readonly near: readonly SessionId[];
      /** Sessions that are damaged so that nobody knows their runs any more. */
      readonly untold: readonly SessionId[];
    }
  | { readonly code: 'session_ambiguous'; readonly asked: string; readonly sessionIds: readonly SessionId[] }
  | StoreFailure;

type FindProgress = { readonly done: number; readonly total: number };

type Stored = { readonly sessions: SessionReader; readonly sessionIndex: SessionIndex };

/** A session with its runs; none where they cannot be known. */
type TaggedSession = KnownSession & { readonly isUntold: boolean };

/** The sessions that a person named, each once. Sessions are read, for their runs, when no id fits. */
export async function findSessions(
  store: Stored,
  asked: readonly string[],
  onProgress: (progress: FindProgress) => void = () => undefined,
): Promise<Result<readonly SessionId[], FindRefusal>> {
  const listed = await store.sessions.list();
  if (listed.isErr()) return err(listed.error);
  const untagged = listed.value.map((sessionId) => ({ sessionId, runNames: [] }));
  let tagged: readonly TaggedSession[] | undefined;

  const found = new Set<SessionId>();
  for (const text of asked) {
    let match = matchId(text, untagged);
    if (match.kind === 'none' && mayBeRun(text)) {
      tagged ??= await withTags(store, listed.value, onProgress);
      match = matchId(text, tagged);
    }
    if (match.kind === 'none') {
      const untold = mayBeRun(text) ? (tagged ?? []).filter(({ isUntold }) => isUntold) : [];
      const untoldIds = untold.map(({ sessionId }) => sessionId);
      return err({ code: 'session_unmatched', asked: text, near: match.near, untold: untoldIds });
    }
    if (match.kind === 'several') {
      return err({ code: 'session_ambiguous', asked: text, sessionIds: match.sessionIds });
    }
    found.add(match.sessionId);
  }
  return ok([...found]);
}

async function withTags(
  { sessions, sessionIndex }: Stored,
  sessionIds: readonly SessionId[],
  onProgress: (progress: FindProgress) => void,
): Promise<readonly TaggedSession[]> {
  const indexed = await indexedRuns(sessionIndex);
  const tagged: TaggedSession[] = [];
  for (const sessionId of sessionIds) {
    onProgress({ done: tagged.length, total: sessionIds.length });
    // Reading does not wait, so here the display and Ctrl-C get their turn.
    await setImmediate();
    const read = await readRuns(sessions, sessionId);
    const runs = new Set([...read.runs, ...(indexed.get(sessionId) ?? [])]);
    tagged.push({
      sessionId,
      runNames: [...runs].flatMap((runId) => [runId, runTag(runId)]),
      isUntold: !read.isWhole && runs.size === 0,
    });
  }
  return tagged;
}

type ReadRuns = { readonly runs: Iterable<RunId>; readonly isWhole: boolean };

async function readRuns(sessions: SessionReader, sessionId: SessionId): Promise<ReadRuns> {
  const prefix = await sessions.loadValidPrefix(sessionId);
  if (prefix.isErr()) return { runs: [], isWhole: false };
  return { runs: prefix.value.view.graph.runs.keys(), isWhole: prefix.value.kind === 'whole' };
}

/** What the index remembers is no truth, but it may know a run that a damaged log no longer tells. */
async function indexedRuns(index: SessionIndex): Promise<ReadonlyMap<SessionId, readonly RunId[]>> {
  const summaries = await index.summaries();
  return new Map(summaries.unwrapOr([]).map(({ sessionId, runs }) => [sessionId, runs.map(({ runId }) => runId)]));
}
