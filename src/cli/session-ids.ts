import { setImmediate } from 'node:timers/promises';
import { err, ok, type Result } from 'neverthrow';
import type { SessionIndex } from '../app/ports/session-index.ts';
import type { SessionReader } from '../app/ports/session-store.ts';
import type { StoreFailure } from '../app/ports/store-failure.ts';
import type { OnProgress } from '../core/flow.ts';
import { RunId, runTag, SessionId } from '../core/log/ids.ts';
import { editDistance } from '../core/text/spelling.ts';

/** What help says about operands that name sessions. */
export const SESSION_ID = 'session id (or its first or last characters), or the four characters that name a run';
export const SESSION_IDS = 'session ids (or their first or last characters), or the four characters that name a run';

export type FindRefusal =
  | {
      readonly code: 'session_unmatched';
      readonly asked: string;
      readonly near: readonly SessionId[];
      /** Sessions so damaged that their runs are unknown. */
      readonly untold: readonly SessionId[];
    }
  | { readonly code: 'session_ambiguous'; readonly asked: string; readonly sessionIds: readonly SessionId[] }
  | StoreFailure;

type Stored = { readonly sessions: SessionReader; readonly sessionIndex: SessionIndex };

/** A session with its runs; none if they are unknown. */
type TaggedSession = KnownSession & { readonly isUntold: boolean };

/** The sessions that a person named, each once. Sessions are read for their runs only if no session id matches. */
export async function findSessions(
  store: Stored,
  asked: readonly string[],
  onProgress: OnProgress = () => undefined,
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
  onProgress: OnProgress,
): Promise<readonly TaggedSession[]> {
  const indexed = await indexedRuns(sessionIndex);
  const tagged: TaggedSession[] = [];
  for (const sessionId of sessionIds) {
    onProgress({ done: tagged.length, total: sessionIds.length });
    // Reading is synchronous, so this lets the progress display and Ctrl-C take their turn.
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

/** The index is only a cache, but it may know a run that can no longer be read from a damaged log. */
async function indexedRuns(index: SessionIndex): Promise<ReadonlyMap<SessionId, readonly RunId[]>> {
  const summaries = await index.summaries();
  return new Map(summaries.unwrapOr([]).map(({ sessionId, runs }) => [sessionId, runs.map(({ runId }) => runId)]));
}

/** A session with the names of its runs: their tags and whole ids. */
type KnownSession = { readonly sessionId: SessionId; readonly runNames: readonly string[] };

export type IdMatch =
  | { readonly kind: 'one'; readonly sessionId: SessionId }
  | { readonly kind: 'several'; readonly sessionIds: readonly SessionId[] }
  | { readonly kind: 'none'; readonly near: readonly SessionId[] };

const RUN_TAG_CHARACTERS = 4;
const NEAR_MAX = 3;

/**
 * The session that a person means: by its whole id, or by a beginning, an end or a run that only one session has.
 * A text that matches two sessions in different ways names neither.
 */
export function matchId(asked: string, known: readonly KnownSession[]): IdMatch {
  const text = normalised(asked);
  const exact = known.find(({ sessionId }) => sessionId === text);
  const fitting = exact === undefined ? known.filter((session) => fits(text, session)) : [exact];
  const [first, ...others] = fitting.map(({ sessionId }) => sessionId);
  if (first === undefined) return { kind: 'none', near: nearTo(text, known) };
  return others.length === 0 ? { kind: 'one', sessionId: first } : { kind: 'several', sessionIds: [first, ...others] };
}

/** Whether it is worth reading the sessions for their runs. */
export function mayBeRun(asked: string): boolean {
  const text = normalised(asked);
  return text.length === RUN_TAG_CHARACTERS || RunId.is(text);
}

/** The run that the text names; `undefined` if the text is part of the session's own id. */
export function runNamed(
  asked: string,
  { sessionId, runIds }: { readonly sessionId: SessionId; readonly runIds: Iterable<RunId> },
): RunId | undefined {
  const text = normalised(asked);
  if (text === '' || isPartOf(text, sessionId)) return undefined;
  return [...runIds].find((runId) => runId === text || runTag(runId) === text);
}

/** Ids contain no i, l or o, so these letters stand for the digits. */
function normalised(asked: string): string {
  return asked.trim().toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1');
}

function fits(text: string, { sessionId, runNames }: KnownSession): boolean {
  return text !== '' && (isPartOf(text, sessionId) || runNames.includes(text));
}

function isPartOf(text: string, sessionId: SessionId): boolean {
  const body = bodyOf(sessionId);
  return sessionId.startsWith(text) || body.startsWith(text) || body.endsWith(text);
}

function nearTo(text: string, known: readonly KnownSession[]): readonly SessionId[] {
  const allowed = Math.min(3, Math.floor(text.length / 4));
  return known
    .map(({ sessionId, runNames }) => {
      const body = bodyOf(sessionId);
      const forms = [sessionId, body, body.slice(0, text.length), body.slice(-text.length), ...runNames];
      return { sessionId, distance: Math.min(...forms.map((form) => editDistance(text, form))) };
    })
    .filter(({ distance }) => distance <= allowed)
    .sort((a, b) => a.distance - b.distance)
    .slice(0, NEAR_MAX)
    .map(({ sessionId }) => sessionId);
}

function bodyOf(sessionId: SessionId): string {
  return sessionId.slice(SessionId.prefix.length + 1);
}

const LENGTH_MIN = 4;

/**
 * The shortest end or beginning of each session id that no other id begins or ends with. An id begins with its time, which
 * is much the same for all ids of a day, so the end is usually shorter.
 */
export function shortIds(sessionIds: readonly SessionId[]): (sessionId: SessionId) => string {
  const known = new Set(sessionIds);
  const usesByLength = new Map<number, Uses>();
  // Of a thousand sessions only a few are shown, so parts are counted on demand.
  const usesAt = (length: number): Uses => {
    const uses = usesByLength.get(length) ?? usesOf(sessionIds, length);
    usesByLength.set(length, uses);
    return uses;
  };
  return (sessionId) => {
    if (!known.has(sessionId)) return sessionId;
    for (let length = LENGTH_MIN; length <= bodyOf(sessionId).length; length += 1) {
      const free = endsOf(sessionId, length).find((part) => usesAt(length).get(part) === 1);
      if (free !== undefined) return free;
    }
    return sessionId;
  };
}

/** How many ids begin or end with a part. */
type Uses = ReadonlyMap<string, number>;

function usesOf(sessionIds: readonly SessionId[], length: number): Uses {
  const uses = new Map<string, number>();
  for (const id of sessionIds) {
    const [end, beginning] = endsOf(id, length);
    uses.set(end, (uses.get(end) ?? 0) + 1);
    if (beginning !== end) uses.set(beginning, (uses.get(beginning) ?? 0) + 1);
  }
  return uses;
}

function endsOf(sessionId: SessionId, length: number): readonly [string, string] {
  const body = bodyOf(sessionId);
  return [body.slice(-length), body.slice(0, length)];
}
