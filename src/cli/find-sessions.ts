import { err, ok, type Result } from 'neverthrow';
import type { SessionReader } from '../app/ports/session-store.ts';
import type { StoreFailure } from '../app/ports/store-failure.ts';
import { runTag, type SessionId } from '../core/log/ids.ts';
import { type KnownSession, matchId, mayBeRunTag } from './id-match.ts';

export type FindRefusal =
  | { readonly code: 'session_unmatched'; readonly asked: string; readonly near: readonly SessionId[] }
  | { readonly code: 'session_ambiguous'; readonly asked: string; readonly sessionIds: readonly SessionId[] }
  | StoreFailure;

/** The sessions that a person named, each once. */
export async function findSessions(
  sessions: SessionReader,
  asked: readonly string[],
): Promise<Result<readonly SessionId[], FindRefusal>> {
  const listed = await sessions.list();
  if (listed.isErr()) return err(listed.error);
  const hasTags = asked.some(mayBeRunTag);
  const known: KnownSession[] = [];
  for (const sessionId of listed.value) {
    known.push({ sessionId, runTags: hasTags ? await runTagsOf(sessions, sessionId) : [] });
  }

  const found = new Set<SessionId>();
  for (const text of asked) {
    const match = matchId(text, known);
    if (match.kind === 'none') return err({ code: 'session_unmatched', asked: text, near: match.near });
    if (match.kind === 'several') {
      return err({ code: 'session_ambiguous', asked: text, sessionIds: match.sessionIds });
    }
    found.add(match.sessionId);
  }
  return ok([...found]);
}

/** A session that cannot be read at all has no tags; it can still be named by its id. */
async function runTagsOf(sessions: SessionReader, sessionId: SessionId): Promise<readonly string[]> {
  const prefix = await sessions.loadValidPrefix(sessionId);
  return prefix.isOk() ? [...prefix.value.view.graph.runs.keys()].map(runTag) : [];
}
