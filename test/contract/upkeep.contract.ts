import { err, ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import type { Store, Upkeep } from '../../src/app/ports/store.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { SMALL_WORKFLOW } from '../examples/compiled.ts';
import { artifactDigest } from '../simulation/node-facts.ts';
import { numberedSession } from '../store-folder.ts';
import { LIMIT, later, OLD, RECENT, sessionAt } from '../two-sessions.ts';
import { appendAll } from './store-under-test.ts';

type UpkeptStore = Store & Upkeep;

/** An empty store that can be maintained. */
export type UpkeptUnderTest = {
  readonly store: UpkeptStore;
  /** The same data, as another process has it. */
  readonly again: () => UpkeptStore;
  /** Makes what stores a session as old as its events, where a store looks at that. */
  readonly age: (sessionId: SessionId, at: number) => void;
  /** Changes a byte of the first events of a session. */
  readonly damage: (sessionId: SessionId) => Promise<void>;
};

const [FIRST, SECOND] = [numberedSession(1), numberedSession(2)];
const request = { expiredBeforeMs: LIMIT, binnedBeforeMs: 0, isDryRun: false };

/** What every durable store guarantees about deleting, collecting and verifying sessions. */
export function upkeepContract(makeStore: () => UpkeptUnderTest): void {
  /** The first session is old, the second is not; both share what they have in common. */
  const twoSessions = async () => {
    const made = makeStore();
    await made.store.pinnedWorkflows.pin(SMALL_WORKFLOW);
    for (const [number, at] of [
      [1, OLD],
      [2, RECENT],
    ] as const) {
      await appendAll(made.store.sessions, sessionAt(number, at).plans);
      made.age(numberedSession(number), at);
    }
    return made;
  };
  describe('the bin', () => binContract(twoSessions));
  describe('collection', () => collectorContract(twoSessions));
  describe('verification', () => auditContract(twoSessions));
}

type TwoSessions = () => Promise<UpkeptUnderTest>;

const headOf = async ({ audit }: Pick<Upkeep, 'audit'>, sessionId: SessionId) =>
  (await audit.audit(sessionId))._unsafeUnwrap().head;
const idsIn = async ({ sessions }: UpkeptStore) => (await sessions.list())._unsafeUnwrap();

function binContract(twoSessions: TwoSessions): void {
  it('a deleted session is gone for everyone, and comes back with its history and its marks', async () => {
    const { store, again } = await twoSessions();
    const other = again();
    await store.marks.setKept(SECOND, true);
    const head = await headOf(store, SECOND);
    expect(await other.sessionIndex.summaries()).toMatchObject(ok({ length: 2 }));
    expect(await store.bin.put(SECOND, 5)).toEqual(ok(undefined));
    for (const one of [store, other, again()]) {
      expect(await idsIn(one)).toEqual([FIRST]);
      expect((await one.sessions.load(SECOND))._unsafeUnwrapErr()).toMatchObject({ code: 'session_not_found' });
      expect(await one.sessionIndex.summaries()).toMatchObject(ok({ length: 1 }));
      expect(await one.bin.list()).toEqual(ok([{ sessionId: SECOND, deletedAtMs: 5 }]));
      expect(await one.bin.put(SECOND, 6)).toEqual(err({ code: 'session_not_found', sessionId: SECOND }));
    }
    expect(await other.bin.restore(SECOND)).toEqual(ok(undefined));
    for (const one of [store, other, again()]) {
      expect(await idsIn(one)).toEqual([FIRST, SECOND]);
      expect(await headOf(one, SECOND)).toBe(head);
      expect(await one.marks.of(SECOND)).toMatchObject(ok({ isKept: true }));
      expect(await one.bin.restore(SECOND)).toEqual(err({ code: 'not_in_bin', sessionId: SECOND }));
    }
  });

  it('a deleted session does not take the place of one that was created since, and the latest comes back', async () => {
    const { store } = await twoSessions();
    await store.bin.put(SECOND, 5);
    await appendAll(store.sessions, sessionAt(2, RECENT + 1, 'another artifact').plans);
    const head = await headOf(store, SECOND);
    expect(await store.bin.restore(SECOND)).toEqual(err({ code: 'session_exists', sessionId: SECOND }));
    expect(await headOf(store, SECOND)).toBe(head);
    await store.bin.put(SECOND, 7);
    const times = (await store.bin.list())._unsafeUnwrap().map(({ deletedAtMs }) => deletedAtMs);
    expect(times).toEqual([5, 7]);
    await store.bin.restore(SECOND);
    expect(await headOf(store, SECOND)).toBe(head);
  });
}

function collectorContract(twoSessions: TwoSessions): void {
  it('an expired session goes with the content that only it refers to, and a dry run says so before', async () => {
    const { store, again } = await twoSessions();
    const other = again();
    await other.sessions.load(FIRST);
    const foreseen = await store.collector.collect({ ...request, nowMs: later(), isDryRun: true });
    expect(await idsIn(store)).toEqual([FIRST, SECOND]);
    const collected = (await store.collector.collect({ ...request, nowMs: later() }))._unsafeUnwrap();
    expect(collected).toMatchObject({
      kind: 'collected',
      sessions: [FIRST],
      binned: [],
      stayed: { recent: 1, kept: [], inUse: [], timeless: [], inBin: 0 },
    });
    expect(foreseen).toMatchObject(ok({ kind: 'would_collect', sessions: [FIRST], stayed: collected.stayed }));
    for (const one of [store, other, again()]) {
      expect(await idsIn(one)).toEqual([SECOND]);
      expect((await one.sessions.load(FIRST)).isErr()).toBe(true);
      expect((await one.artifacts.get(artifactDigest('artifact 1'))).isErr()).toBe(true);
      expect((await one.artifacts.get(artifactDigest('artifact 2'))).isOk()).toBe(true);
      expect((await one.audit.audit(SECOND))._unsafeUnwrap().findings).toEqual([]);
    }
    expect(await store.collector.collect({ ...request, nowMs: later() })).toMatchObject(ok({ sessions: [], files: 0 }));
  });

  it('a session that is kept stays, and a deleted one goes when its time is over', async () => {
    const { store } = await twoSessions();
    await store.marks.setKept(FIRST, true);
    await store.bin.put(SECOND, 5);
    const early = await store.collector.collect({ ...request, nowMs: later() });
    expect(early).toMatchObject(ok({ sessions: [], binned: [], stayed: { kept: [FIRST], inBin: 1 } }));
    const due = { ...request, nowMs: later(), binnedBeforeMs: Number.POSITIVE_INFINITY };
    expect(await store.collector.collect(due)).toMatchObject(ok({ sessions: [], binned: [SECOND] }));
    expect(await store.bin.list()).toEqual(ok([]));
    expect((await store.artifacts.get(artifactDigest('artifact 2'))).isErr()).toBe(true);
    expect((await store.artifacts.get(artifactDigest('artifact 1'))).isOk()).toBe(true);
  });

  it('a damaged session keeps everything from being collected', async () => {
    const { store, again, damage } = await twoSessions();
    await damage(SECOND);
    const { audit } = again();
    expect((await audit.audit(SECOND))._unsafeUnwrap().health.kind).toBe('corrupt_head');
    const refused = (await again().collector.collect({ ...request, nowMs: later() }))._unsafeUnwrapErr();
    expect(refused).toEqual({ code: 'safe_mode', sessions: [SECOND], binned: [] });
    expect(await idsIn(store)).toEqual([FIRST, SECOND]);
  });
}

function auditContract(twoSessions: TwoSessions): void {
  it('an intact session has no findings, and says how far its signatures reach and what it was once', async () => {
    const { store } = await twoSessions();
    await store.keyring.open();
    await appendAll(store.sessions, sessionAt(3, RECENT).plans);
    const sound = (await store.audit.audit(numberedSession(3)))._unsafeUnwrap();
    expect(sound).toMatchObject({ health: { kind: 'healthy' }, findings: [], signature: { kind: 'signed', since: 0 } });
    const { view } = (await store.sessions.load(numberedSession(3)))._unsafeUnwrap();
    expect(sound.events).toBe(view.nextEventIndex);
    const head = sound.head?.slice('sha256:'.length) ?? '';
    const known = (await store.audit.audit(numberedSession(3), { head, keys: [] }))._unsafeUnwrap();
    expect(known).toMatchObject({ knownUntil: sound.events - 1, signature: { kind: 'unknown_key' } });
    expect((await store.audit.audit(FIRST, { head }))._unsafeUnwrap().knownUntil).toBeUndefined();
    expect(await store.audit.audit(numberedSession(9))).toEqual(
      err({ code: 'session_not_found', sessionId: numberedSession(9) }),
    );
  });

  it('a changed byte is found, whatever a process remembers', async () => {
    const { store, damage } = await twoSessions();
    await store.sessions.load(FIRST);
    await damage(FIRST);
    const { health, findings } = (await store.audit.audit(FIRST))._unsafeUnwrap();
    expect(health.kind).toBe('corrupt_head');
    expect(findings[0]).toMatchObject({ severity: 'damage', what: 'session_damaged' });
    expect((await store.audit.audit(SECOND))._unsafeUnwrap().findings).toEqual([]);
  });
}
