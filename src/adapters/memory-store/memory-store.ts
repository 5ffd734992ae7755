import { randomBytes } from 'node:crypto';
import { err, ok, type Result } from 'neverthrow';
import type { KeyringStore } from '../../app/ports/keyring-store.ts';
import type { SessionIndex } from '../../app/ports/session-index.ts';
import type { MarkReader, MarkStore } from '../../app/ports/session-marks.ts';
import type { LoadRefusal, SessionReader } from '../../app/ports/session-store.ts';
import type { Store } from '../../app/ports/store.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { defined } from '../../core/json/json-value.ts';
import type { RunId, SessionId } from '../../core/log/ids.ts';
import type { Origin } from '../../core/log/origin.ts';
import { healthySummaries, type SessionRow, type StoredSession, sessionRow } from '../../core/sessions/board-rows.ts';
import { type SessionMarks, UNREADABLE_MARKS } from '../../core/sessions/session-state.ts';
import { isSameKeyring, type Keyring, rotate, type SigningKey, signingKey } from '../../core/token/keyring.ts';
import { type SummedContent, summariseSession } from '../file-store/index/entry-makers.ts';
import { currentStoreKey } from '../system.ts';
import {
  emptyContent,
  memoryArtifacts,
  memoryPinnedWorkflows,
  memorySessionStore,
  memorySnapshots,
} from './memory-session-store.ts';

/** A store in memory, for rehearsals and tests. It keeps every rule of a durable one except durability. */
export function memoryStore(sha256: Sha256): Store & { readonly marks: MarkStore } {
  const content = emptyContent();
  const keyring = memoryKeyring();
  const { logs, originOf, ...sessions } = memorySessionStore(content, sha256, () => currentStoreKey(keyring.seen()));
  const snapshots = memorySnapshots(content);
  const marks = memorySessionMarks(sessions, originOf);
  const pinnedWorkflows = memoryPinnedWorkflows(content, sha256);
  return {
    sessions,
    logs,
    sessionIndex: memorySessionIndex({ sessions, snapshots, pinnedWorkflows, marks }),
    marks,
    snapshots,
    artifacts: memoryArtifacts(content),
    pinnedWorkflows,
    keyring,
  };
}

const KEY_BYTES = 32;

function memoryKeyring(): KeyringStore & { readonly seen: () => Keyring | undefined } {
  let keyring: Keyring | undefined;
  return {
    find: async () => ok(keyring),
    seen: () => keyring,
    open: async () => {
      keyring ??= { current: freshKey() };
      return ok(keyring);
    },
    adopt: async (other) => {
      keyring ??= other;
      return ok(isSameKeyring(keyring, other));
    },
    repair: async () => ok(undefined),
    rotate: async () => {
      keyring = rotate(keyring ?? { current: freshKey() }, freshKey());
      return ok(keyring);
    },
  };
}

function freshKey(): SigningKey {
  return signingKey(randomBytes(KEY_BYTES));
}

type Indexed = SummedContent & { readonly sessions: SessionReader; readonly marks: MarkReader };

/** Summarises every session on each call: in memory this is always current, and fast enough. */
function memorySessionIndex({ sessions: reader, marks, ...content }: Indexed): SessionIndex {
  const see = async (sessionId: SessionId, marked: SessionMarks): Promise<Result<StoredSession, LoadRefusal>> => {
    const prefix = await reader.loadValidPrefix(sessionId);
    if (prefix.isErr()) return err(prefix.error);
    const summary = (await summariseSession(prefix.value, content)).unwrapOr(undefined);
    const health = prefix.value.kind === 'whole' ? ({ kind: 'healthy' } as const) : prefix.value.health;
    return ok({ sessionId, summary, health, marks: marked });
  };
  const sessions: SessionIndex['sessions'] = async () => {
    const listed = await reader.list();
    if (listed.isErr()) return err(listed.error);
    const rows: SessionRow[] = [];
    for (const sessionId of listed.value) {
      const seen = await see(sessionId, (await marks.of(sessionId)).unwrapOr(UNREADABLE_MARKS));
      if (seen.isOk()) rows.push(sessionRow(seen.value));
    }
    return ok(rows);
  };
  return {
    sessions,
    summarise: (session) => summariseSession(session, content),
    inspect: ({ sessionId, marks: marked }) => see(sessionId, marked),
    summaries: async () => (await sessions()).map(healthySummaries),
  };
}

function memorySessionMarks(
  sessions: Pick<SessionReader, 'loadValidPrefix'>,
  originOf: (sessionId: SessionId) => Origin | undefined,
): MarkStore {
  const kept = new Set<SessionId>();
  const closed = new Map<SessionId, Map<RunId, number>>();
  const isThere = async (sessionId: SessionId) => (await sessions.loadValidPrefix(sessionId)).isOk();
  const closedOf = (sessionId: SessionId) => new Map<RunId, number>(closed.get(sessionId));
  return {
    of: async (sessionId) =>
      ok({ isKept: kept.has(sessionId), closed: closedOf(sessionId), ...defined({ origin: originOf(sessionId) }) }),
    origin: async (sessionId) => originOf(sessionId),
    closed: async (sessionId) => ok(closedOf(sessionId)),
    setKept: async (sessionId, isKept) => {
      if (!(await isThere(sessionId))) return err({ code: 'session_not_found', sessionId });
      kept[isKept ? 'add' : 'delete'](sessionId);
      return ok(undefined);
    },
    setClosed: async (sessionId, runId, closedAt) => {
      if (!(await isThere(sessionId))) return err({ code: 'session_not_found', sessionId });
      const runs = closed.get(sessionId) ?? new Map<RunId, number>();
      closed.set(sessionId, runs);
      if (closedAt === undefined) runs.delete(runId);
      else runs.set(runId, closedAt);
      return ok(undefined);
    },
  };
}
