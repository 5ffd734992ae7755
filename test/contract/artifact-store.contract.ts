import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { artifactDigestSchema } from '../../src/core/log/ids.ts';
import { OTHER_SESSION } from '../examples/ids.ts';
import { digest } from '../examples/sha256.ts';
import { artifactBytes, artifactDigest } from '../simulation/node-facts.ts';
import { sessionWriter } from '../simulation/session-writer.ts';
import { appendAll, type MakeStore, type StoreUnderTest } from './store-under-test.ts';

/** Artifacts are stored with appends and found by digest. */
export function artifactStoreContract(makeStore: MakeStore): void {
  const bytesOf = async ({ artifacts }: StoreUnderTest['store'], name: string) =>
    Buffer.from((await artifacts.get(artifactDigest(name)))._unsafeUnwrap()).toString();

  test('every artifact of an append is found by its digest, at once and by every reader', async () => {
    const { store, again } = makeStore();
    const writer = sessionWriter();
    const root = writer.startRun({ artifacts: [{ name: 'findings' }, { name: 'größe' }] });
    writer.advance(root, { artifacts: [{ name: 'later' }] });
    await appendAll(store.sessions, writer.plans);
    for (const name of ['findings', 'größe', 'later']) {
      expect(await bytesOf(store, name)).toBe(JSON.stringify({ name }));
      expect(await bytesOf(again(), name)).toBe(JSON.stringify({ name }));
    }
  });

  test('an artifact that is stored again is one artifact', async () => {
    const { store, again } = makeStore();
    const writer = sessionWriter();
    const other = sessionWriter({ sessionId: OTHER_SESSION });
    for (const { startRun } of [writer, other]) startRun({ artifacts: [{ name: 'findings' }] });
    await appendAll(store.sessions, [...writer.plans, ...other.plans]);
    expect(await bytesOf(again(), 'findings')).toBe(JSON.stringify({ name: 'findings' }));
  });

  test('an artifact does not change when its writer reuses the memory', async () => {
    const { store } = makeStore();
    const writer = sessionWriter();
    writer.startRun({ artifacts: [{ name: 'findings' }] });
    const bytes = artifactBytes('findings');
    const artifacts = new Map([[artifactDigest('findings'), bytes]]);
    await appendAll(
      store.sessions,
      writer.plans.map((plan) => ({ ...plan, artifacts })),
    );
    bytes.fill(0);
    expect(await bytesOf(store, 'findings')).toBe(JSON.stringify({ name: 'findings' }));
  });

  test('an artifact that was never appended is missing', async () => {
    const { store } = makeStore();
    const unknown = artifactDigestSchema.parse(digest('unknown'));
    const missing = err({ code: 'damaged', damage: { reason: 'content_missing', offset: 0 } });
    expect(await store.artifacts.get(unknown)).toMatchObject(missing);
  });
}
