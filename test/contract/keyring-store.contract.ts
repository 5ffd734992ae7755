import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import type { Keyring } from '../../src/core/token/keyring.ts';
import { enforces } from '../enforces.ts';
import type { MakeStore, StoreUnderTest } from './store-under-test.ts';

type Client = StoreUnderTest['store'];

const opened = async ({ keyring }: Client) => (await keyring.open())._unsafeUnwrap();
const rotated = async ({ keyring }: Client) => (await keyring.rotate())._unsafeUnwrap();
const hex = (key: Uint8Array | undefined) => key && Buffer.from(key).toString('hex');
const keysOf = ({ current, previous }: Keyring) => [hex(current), hex(previous)];

/** One keyring for all processes, created by the first and changed only by a rotation. */
export function keyringStoreContract(makeStore: MakeStore): void {
  test('looking for a keyring creates none', async () => {
    const { store, again } = makeStore();
    expect(await store.keyring.find()).toEqual(ok(undefined));
    expect(await again().keyring.find()).toEqual(ok(undefined));
    const made = await opened(store);
    expect(keysOf((await store.keyring.find())._unsafeUnwrap() ?? expect.fail('it was made'))).toEqual(keysOf(made));
  });

  test('every process gets the keyring that the first one created', async () => {
    const { store, again } = makeStore();
    const made = await opened(store);
    expect(keysOf(await opened(store))).toEqual(keysOf(made));
    expect(keysOf(await opened(again()))).toEqual(keysOf(made));
  });

  test('of racing processes exactly one creates the keyring', async () => {
    const { store, again } = makeStore();
    const clients = [store, ...Array.from({ length: 7 }, again)];
    const keyrings = await Promise.all(clients.map(opened));
    expect(new Set(keyrings.map(({ current }) => hex(current))).size).toBe(1);
    expect(keysOf(await opened(again()))).toEqual(keysOf(keyrings[0] ?? expect.fail('there are eight')));
  });

  test('a keyring of another store is taken over where there is none, and nothing replaces one', async () => {
    const { store, again } = makeStore();
    const other = await rotated(makeStore().store);
    expect(await store.keyring.adopt(other)).toEqual(ok(true));
    expect(await again().keyring.adopt(other)).toEqual(ok(true));
    expect(keysOf(await opened(again()))).toEqual(keysOf(other));
    const third = makeStore().store;
    const own = await opened(third);
    expect(await third.keyring.adopt(other)).toEqual(ok(false));
    expect(keysOf(await opened(third))).toEqual(keysOf(own));
  });

  test('keys have 32 bytes and never repeat', async () => {
    enforces('token_key_32_random_bytes');
    const keyrings = await Promise.all(Array.from({ length: 4 }, () => opened(makeStore().store)));
    expect(keyrings.map(({ current, previous }) => [current.length, previous])).toEqual(
      keyrings.map(() => [32, undefined]),
    );
    expect(new Set(keyrings.map(({ current }) => hex(current))).size).toBe(4);
  });

  test('a rotation adds a new current key and keeps only the previous one', async () => {
    const { store } = makeStore();
    const first = await opened(store);
    const second = await rotated(store);
    expect(hex(second.previous)).toBe(hex(first.current));
    expect(hex(second.current)).not.toBe(hex(first.current));
    const third = await rotated(store);
    expect(hex(third.previous)).toBe(hex(second.current));
    expect(keysOf(await opened(store))).toEqual(keysOf(third));
  });

  test('every process notices a rotation, even after it has read the keyring', async () => {
    const { store, again } = makeStore();
    const reader = again();
    await opened(reader);
    // The second rotation does not change the size of the stored file.
    for (let i = 0; i < 3; i++) {
      const now = await rotated(store);
      expect(keysOf(await opened(reader))).toEqual(keysOf(now));
      expect(keysOf((await reader.keyring.find())._unsafeUnwrap() ?? expect.fail('it is there'))).toEqual(keysOf(now));
    }
  });

  test('a rotation without a keyring creates one', async () => {
    const { store, again } = makeStore();
    const made = await rotated(store);
    expect(made.previous?.length).toBe(32);
    expect(keysOf(await opened(again()))).toEqual(keysOf(made));
  });

  test('concurrent rotations build on each other and lose no key', async () => {
    const { store, again } = makeStore();
    const first = await opened(store);
    const keyrings = await Promise.all([store, again(), store, again()].map(rotated));
    const next = new Map(keyrings.map(({ current, previous }) => [hex(previous), hex(current)]));
    const line = [hex(first.current)];
    for (let key = next.get(line[0]); key !== undefined; key = next.get(key)) line.push(key);
    expect(line.length).toBe(1 + keyrings.length);
    expect(keysOf(await opened(again()))).toEqual([line.at(-1), line.at(-2)]);
  });
}
