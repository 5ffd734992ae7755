import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ID_BYTES, SessionId } from '../../core/log/ids.ts';
import { matchId } from './id-match.ts';
import { shortIds } from './short-ids.ts';

it('names each session so that a command finds it again', () => {
  // Few different bytes, so that beginnings and ends are shared.
  const anyId = fc
    .array(fc.constantFrom(0, 1, 255), { minLength: ID_BYTES, maxLength: ID_BYTES })
    .map((bytes) => SessionId.of(Uint8Array.from(bytes)));
  fc.assert(
    fc.property(fc.uniqueArray(anyId, { maxLength: 30 }), (ids) => {
      const short = shortIds(ids);
      const known = ids.map((sessionId) => ({ sessionId, runNames: [] }));
      for (const sessionId of ids) expect(matchId(short(sessionId), known)).toEqual({ kind: 'one', sessionId });
    }),
  );
});

it('takes four characters where they are enough', () => {
  const ids = [
    [0, 1],
    [0, 2],
  ].map((end) => SessionId.of(Uint8Array.from([1, 2, 3, 4, 5, 6, 7, 8, ...end])));
  expect(ids.map(shortIds(ids))).toEqual(ids.map((id) => id.slice(-4)));
});
