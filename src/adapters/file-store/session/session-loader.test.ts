import { expect, test } from 'vitest';
import { sessionNamed } from '../../../../test/e2e/store/named-plans.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { emptySession, grownBy } from './refresh-session.ts';
import { keptSessions } from './session-loader.ts';

const sessionOf = (name: string, nextEventIndex: number) => {
  const session = emptySession(sessionNamed(name), sha256);
  return { ...session, position: { ...session.position, nextEventIndex } };
};

test('cached sessions have at most 200,000 events together, least recently used dropped first', () => {
  const kept = keptSessions();
  const isKept = (name: string) => kept.get(sessionNamed(name)) !== undefined;
  for (const name of ['a', 'b', 'c']) kept.set(sessionNamed(name), sessionOf(name, 60_000));
  expect(isKept('a')).toBe(true);
  kept.set(sessionNamed('d'), sessionOf('d', 60_000));
  expect(['a', 'b', 'c', 'd'].map(isKept)).toEqual([true, false, true, true]);
});

test('a session over the limit is cached alone while it is in use', () => {
  const kept = keptSessions();
  kept.set(sessionNamed('a'), sessionOf('a', 10));
  kept.set(sessionNamed('b'), sessionOf('b', 1_000_000));
  expect([kept.get(sessionNamed('a')), kept.get(sessionNamed('b'))?.position.nextEventIndex]).toEqual([
    undefined,
    1_000_000,
  ]);
});

test('at most 32 sessions are cached, however small', () => {
  const kept = keptSessions();
  const names = Array.from({ length: 33 }, (_, i) => `s${i}`);
  for (const name of names) kept.set(sessionNamed(name), sessionOf(name, 1));
  expect(names.filter((name) => kept.get(sessionNamed(name)) === undefined)).toEqual(['s0']);
});

test('a cached session does not keep the bytes of its manifest', () => {
  const lines = Buffer.alloc(1_000_000);
  const segment = { segmentRelPath: 'events/x', firstEventIndex: 0, sha256: 'sha256:' } as never;
  const { position } = sessionOf('a', 3);
  const { mark } = grownBy(
    emptySession(sessionNamed('a'), sha256),
    { segment, end: position, events: [] },
    { lines, version: undefined },
  );
  expect(mark.buffer.byteLength).toBeLessThan(1_000);
});
