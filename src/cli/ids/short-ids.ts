import { SessionId } from '../../core/log/ids.ts';

const LENGTH_MIN = 4;

/**
 * Parts of session ids by which a person can name each of them: an end or a beginning that no other begins or ends with.
 * The beginning of an id tells when it was made and is much the same for all of one day, so the end mostly is shorter.
 */
export function shortIds(sessionIds: readonly SessionId[]): (sessionId: SessionId) => string {
  const known = new Set(sessionIds);
  const usesByLength = new Map<number, Uses>();
  // Of a thousand sessions a few are shown, so nothing is counted before it is asked for.
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

function bodyOf(sessionId: SessionId): string {
  return sessionId.slice(SessionId.prefix.length + 1);
}
