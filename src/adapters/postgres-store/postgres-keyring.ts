import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { err, ok, type Result } from 'neverthrow';
import type { SealedKeyring } from '../../app/ports/keyring-store.ts';
import { KEYRING_PLACE, type StoreFailure } from '../../app/ports/store-failure.ts';
import { ownJsonBytes } from '../../core/json/canonical-json.ts';
import {
  isSameKeyring,
  type Keyring,
  keyringDocument,
  type MasterKeys,
  parseKeyring,
  rotate,
  signingKey,
} from '../../core/token/keyring.ts';
import { parseStored } from '../file-store/content/content-files.ts';
import { type Held, type SpaceParts, sql, storeFailure } from './database.ts';

const READ = sql('read_keyring', 'select version::text as version, sealed from wr.keyring where space_id = $1');
const READ_ALL = sql(
  'read_all_keyrings',
  'select space_id, name, sealed from wr.keyring join wr.space using (space_id) order by name',
);
const MAKE = sql(
  'make_keyring',
  'insert into wr.keyring (space_id, version, sealed) values ($1, 1, $2) on conflict (space_id) do nothing',
);
/** Only if nobody else has rotated it since it was read. */
const REPLACE = sql(
  'replace_keyring',
  `update wr.keyring set version = version + 1, sealed = $3 where space_id = $1 and version = $2
   returning version::text as version`,
);

const KEY_BYTES = 32;
const IV_BYTES = 12;
const TAG_BYTES = 16;
const CIPHER = 'aes-256-gcm';

type Stored = { readonly version: string; readonly keyring: Keyring };

/** A keyring that also gives what was read last: appends follow a call that read it. */
export type SeenDatabaseKeyring = SealedKeyring & {
  readonly seen: () => Promise<Keyring | undefined>;
  readonly known: () => Keyring | undefined;
  /** Another statement has read this version. */
  readonly note: (version: string | undefined) => void;
};

/** One keyring per space, sealed with the master key: a dump of the database does not hold the keys. */
export function postgresKeyring(parts: SpaceParts): SeenDatabaseKeyring {
  const { database, spaceId, masterKey, previousKeys = [], everySpace = database } = parts;
  let known: Stored | undefined;
  const { seal, unseal, unsealWith } = keyringSeal(parts);

  async function find(): Promise<Result<Stored | undefined, StoreFailure>> {
    const read = await database.run(READ, [spaceId]);
    if (read.isErr()) return err(storeFailure(read.error, 'read keyring', KEYRING_PLACE));
    const [row] = read.value as unknown as readonly { version: string; sealed: Buffer }[];
    if (row === undefined) return ok(undefined);
    if (known?.version === row.version) return ok(known);
    return unseal(row.sealed).map((keyring) => {
      known = { version: row.version, keyring };
      return known;
    });
  }

  async function open(): Promise<Result<Stored, StoreFailure>> {
    const found = await find();
    if (found.isErr()) return err(found.error);
    if (found.value !== undefined) return ok(found.value);
    const made = await make({ current: freshKey() });
    return made.isErr() ? err(made.error) : open();
  }

  /** Does nothing if there is one. A wrong master key must not seal the first keys of a space. */
  async function make(keyring: Keyring): Promise<Result<void, StoreFailure>> {
    const unopened = await unopenedSpaces(everySpace, { masterKey: masterKey(), previousKeys });
    if (unopened.isErr()) return err(unopened.error);
    if (unopened.value.length > 0) return err({ code: 'master_key_unfit' });
    const made = await database.run(MAKE, [spaceId, seal(keyring)]);
    return made.map(() => undefined).mapErr((failure) => storeFailure(failure, 'make keyring', KEYRING_PLACE));
  }

  return {
    known: () => known?.keyring,
    note: (version) => {
      if (known?.version !== version) known = undefined;
    },
    find: async () => (await find()).map((stored) => stored?.keyring),
    seen: async () => (known ?? (await find()).unwrapOr(undefined))?.keyring,
    open: async () => (await open()).map(({ keyring }) => keyring),
    adopt: async (keyring) => {
      const made = await make(keyring);
      if (made.isErr()) return err(made.error);
      return (await open()).map((stored) => isSameKeyring(stored.keyring, keyring));
    },
    // What another key sealed, or somebody changed, cannot be repaired here without ending every token of the space.
    repair: async () => (await find()).map(() => undefined),
    reseal: async () => {
      for (;;) {
        const read = await database.run(READ, [spaceId]);
        if (read.isErr()) return err(storeFailure(read.error, 'read keyring', KEYRING_PLACE));
        const [row] = read.value as unknown as readonly { version: string; sealed: Buffer }[];
        if (row === undefined || unsealWith(masterKey, row.sealed).isOk()) return ok(false);
        const opened = unseal(row.sealed);
        if (opened.isErr()) return err(opened.error);
        const replaced = await database.run(REPLACE, [spaceId, row.version, seal(opened.value)]);
        if (replaced.isErr()) return err(storeFailure(replaced.error, 'seal keyring', KEYRING_PLACE));
        if (replaced.value.length === 1) return ok(true);
      }
    },
    rotate: async () => {
      for (;;) {
        const opened = await open();
        if (opened.isErr()) return err(opened.error);
        const rotated = rotate(opened.value.keyring, freshKey());
        const replaced = await database.run(REPLACE, [spaceId, opened.value.version, seal(rotated)]);
        if (replaced.isErr()) return err(storeFailure(replaced.error, 'rotate keyring', KEYRING_PLACE));
        known = undefined;
        if (replaced.value.length === 1) return ok(rotated);
      }
    },
  };
}

/** The names of the spaces whose keyring none of the master keys opens. */
export async function unopenedSpaces(
  everySpace: Held,
  { masterKey, previousKeys }: MasterKeys,
): Promise<Result<readonly string[], StoreFailure>> {
  const read = await everySpace.run(READ_ALL, []);
  if (read.isErr()) return err(storeFailure(read.error, 'read keyrings', KEYRING_PLACE));
  const rows = read.value as unknown as readonly { space_id: number; name: string; sealed: Buffer }[];
  const unopened = rows.filter(({ space_id: spaceId, sealed }) => {
    const opened = keyringSeal({ spaceId, masterKey: () => masterKey, previousKeys }).unseal(sealed);
    return opened.isErr() && opened.error.code === 'master_key_unfit';
  });
  return ok(unopened.map(({ name }) => name));
}

type SealParts = Pick<SpaceParts, 'spaceId' | 'masterKey' | 'previousKeys'>;

function keyringSeal({ spaceId, masterKey, previousKeys = [] }: SealParts) {
  // The space is part of what is sealed, so that the keyring of one space cannot be put in the place of another.
  const bound = Buffer.from(`workrail keyring of space ${spaceId}`);

  function seal(keyring: Keyring): Buffer {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, masterKey(), iv).setAAD(bound);
    const sealed = Buffer.concat([cipher.update(ownJsonBytes(keyringDocument(keyring))), cipher.final()]);
    return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
  }

  function unsealWith(key: () => Uint8Array, sealed: Buffer): Result<Keyring, StoreFailure> {
    return opened(key, sealed).andThen((bytes) => parseStored(KEYRING_PLACE, bytes, parseKeyring));
  }

  function opened(key: () => Uint8Array, sealed: Buffer): Result<Buffer, StoreFailure> {
    try {
      const cipher = createDecipheriv(CIPHER, key(), sealed.subarray(0, IV_BYTES)).setAAD(bound);
      cipher.setAuthTag(sealed.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
      return ok(Buffer.concat([cipher.update(sealed.subarray(IV_BYTES + TAG_BYTES)), cipher.final()]));
    } catch {
      return err({ code: 'master_key_unfit' });
    }
  }

  function unseal(sealed: Buffer): Result<Keyring, StoreFailure> {
    const first = unsealWith(masterKey, sealed);
    return previousKeys.reduce(
      (opened, key) =>
        opened.isErr() && opened.error.code === 'master_key_unfit' ? unsealWith(() => key, sealed) : opened,
      first,
    );
  }

  return { seal, unseal, unsealWith };
}

function freshKey() {
  return signingKey(randomBytes(KEY_BYTES));
}
