import { RunId, runTag, SessionId } from '../../core/log/ids.ts';
import { editDistance } from '../../core/spelling/edit-distance.ts';

/** What a session may be called by; its runs by their tags and whole ids. */
export type KnownSession = { readonly sessionId: SessionId; readonly runNames: readonly string[] };

export type IdMatch =
  | { readonly kind: 'one'; readonly sessionId: SessionId }
  | { readonly kind: 'several'; readonly sessionIds: readonly SessionId[] }
  | { readonly kind: 'none'; readonly near: readonly SessionId[] };

const RUN_TAG_CHARACTERS = 4;
const NEAR_MAX = 3;

/**
 * The session that a person means: by its whole id, or by a beginning, an end or a run that only one session has.
 * A text that fits two sessions in two ways names neither.
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

/** The run of a session that it was named by; nothing where the text is part of the session's own id. */
export function runNamed(
  asked: string,
  { sessionId, runIds }: { readonly sessionId: SessionId; readonly runIds: Iterable<RunId> },
): RunId | undefined {
  const text = normalised(asked);
  if (text === '' || isPartOf(text, sessionId)) return undefined;
  return [...runIds].find((runId) => runId === text || runTag(runId) === text);
}

/** Ids have no i, l or o, so whoever types one means the digit. */
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
