import { setImmediate } from 'node:timers/promises';
import { err, ok, type Result } from 'neverthrow';
import type { SessionReader } from '../app/ports/session-store.ts';
import type { StoreFailure } from '../app/ports/store-failure.ts';
import { runTag, type SessionId } from '../core/log/ids.ts';
import { type KnownSession, matchId, mayBeRunTag } from './ids/id-match.ts';

export type FindRefusal =
  | { readonly code: 'session_unmatched'; readonly asked: string; readonly near: readonly SessionId[] }
  | { readonly code: 'session_ambiguous'; readonly asked: string; readonly sessionIds: readonly SessionId[] }
  | StoreFailure;

type FindProgress = { readonly done: number; readonly total: number };

/** The sessions that a person named, each once. Sessions are read, for the tags of their runs, when no id fits. */
export async function findSessions(
  sessions: SessionReader,
  asked: readonly string[],
  onProgress: (progress: FindProgress) => void = () => undefined,
): Promise<Result<readonly SessionId[], FindRefusal>> {
  const listed = await sessions.list();
  if (listed.isErr()) return err(listed.error);
  const untagged = listed.value.map((sessionId) => ({ sessionId, runTags: [] }));
  let tagged: readonly KnownSession[] | undefined;

  const found = new Set<SessionId>();
  for (const text of asked) {
    let match = matchId(text, untagged);
    if (match.kind === 'none' && mayBeRunTag(text)) {
      tagged ??= await withTags(sessions, listed.value, onProgress);
      match = matchId(text, tagged);
    }
    if (match.kind === 'none') return err({ code: 'session_unmatched', asked: text, near: match.near });
    if (match.kind === 'several') {
      return err({ code: 'session_ambiguous', asked: text, sessionIds: match.sessionIds });
    }
    found.add(match.sessionId);
  }
  return ok([...found]);
}

async function withTags(
  sessions: SessionReader,
  sessionIds: readonly SessionId[],
  onProgress: (progress: FindProgress) => void,
): Promise<readonly KnownSession[]> {
  const tagged: KnownSession[] = [];
  for (const sessionId of sessionIds) {
    onProgress({ done: tagged.length, total: sessionIds.length });
    // Reading does not wait, so here the display and Ctrl-C get their turn.
    await setImmediate();
    tagged.push({ sessionId, runTags: await runTagsOf(sessions, sessionId) });
  }
  return tagged;
}

/** A session that cannot be read at all has no tags; it can still be named by its id. */
async function runTagsOf(sessions: SessionReader, sessionId: SessionId): Promise<readonly string[]> {
  const prefix = await sessions.loadValidPrefix(sessionId);
  return prefix.isOk() ? [...prefix.value.view.graph.runs.keys()].map(runTag) : [];
}
