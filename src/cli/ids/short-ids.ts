import { SessionId } from '../../core/log/ids.ts';

const LENGTH_MIN = 4;

/**
 * Parts of session ids by which a person can name each of them: an end or a beginning that no other begins or ends with.
 * The beginning of an id tells when it was made and is much the same for all of one day, so the end mostly is shorter.
 */
export function shortIds(sessionIds: readonly SessionId[]): (sessionId: SessionId) => string {
  const names = new Map<SessionId, string>();
  let left = sessionIds;
  for (let length = LENGTH_MIN; left.length > 0; length += 1) {
    const uses = new Map<string, number>();
    for (const id of sessionIds) {
      for (const part of new Set(endsOf(id, length))) uses.set(part, (uses.get(part) ?? 0) + 1);
    }
    for (const id of left) {
      const free = endsOf(id, length).find((part) => uses.get(part) === 1);
      if (free !== undefined || length >= bodyOf(id).length) names.set(id, free ?? id);
    }
    left = left.filter((id) => !names.has(id));
  }
  return (sessionId) => names.get(sessionId) ?? sessionId;
}

function endsOf(sessionId: SessionId, length: number): readonly string[] {
  const body = bodyOf(sessionId);
  return [body.slice(-length), body.slice(0, length)];
}

function bodyOf(sessionId: SessionId): string {
  return sessionId.slice(SessionId.prefix.length + 1);
}
