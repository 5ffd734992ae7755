import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { KeyringStore } from '../../app/ports/keyring-store.ts';
import type { StoreFailure } from '../../app/ports/store-failure.ts';
import { ownJsonBytes, type Sha256 } from '../../core/json/canonical-json.ts';
import {
  isSameKeyring,
  type Keyring,
  type KeyringDocument,
  keyringDocument,
  parseKeyring,
  rotate,
  type SigningKey,
  signingKey,
} from '../../core/token/keyring.ts';
import { damagedContent, parseStored } from './content/content-files.ts';
import { accessing, accessingNow, ensureDir, isWrongKind, layout, putFile, putNewFile } from './disk/disk.ts';
import { type FileStoreParts, lockFile, whileHeld } from './file-store-parts.ts';

const KEY_BYTES = 32;
const SAFE_MODE = 0o600;
const OTHERS_BITS = 0o077;

type KnownFile = { readonly bytes: Buffer; readonly keyring: Keyring };

/** A keyring that also says what a process has read last, because appends follow a call that read it. */
export type SeenKeyring = KeyringStore & { readonly seen: () => Keyring | undefined };

/** The keyring is one small file that only this user may read. */
export function fileKeyring(parts: FileStoreParts): SeenKeyring {
  const { disk } = parts;
  let known: KnownFile | undefined;
  let flushed: KnownFile | undefined;

  // The file is read again each time. It is small, and its size and time do not reliably show that another process
  // rotated it: two rotations within one tick of the file system's clock look the same.
  function find(): Result<Keyring | undefined, StoreFailure> {
    return readFile(parts).andThen((bytes) => {
      if (bytes === undefined) return ok(undefined);
      if (known?.bytes.equals(bytes) === true) return ok(known.keyring);
      return parseKeyringFile(bytes, parts.sha256).map((keyring) => {
        known = { bytes: Buffer.from(bytes), keyring };
        return keyring;
      });
    });
  }

  async function open(isAlone = false): Promise<Result<Keyring, StoreFailure>> {
    const found = find();
    if (found.isErr()) return err(found.error);
    const { value } = found;
    if (value !== undefined && known === flushed) return ok(value);
    const seen = known;
    const made = await (value === undefined
      ? make(parts, { isAlone, keyring: { current: freshKey() } })
      : flush(parts));
    if (made.isErr()) return err(made.error);
    if (value !== undefined) {
      flushed = seen;
      return ok(value);
    }
    // Whichever process won the race, the file that is there now is the keyring.
    const there = find();
    flushed = known;
    return there.isOk() && there.value === undefined ? open(isAlone) : there.map((keyring) => keyring as Keyring);
  }

  return {
    find: async () => find(),
    seen: () => known?.keyring ?? find().unwrapOr(undefined),
    open: () => open(),
    adopt: async (keyring) => {
      const made = await make(parts, { isAlone: false, keyring });
      if (made.isErr()) return err(made.error);
      return find().map((there) => there !== undefined && isSameKeyring(there, keyring));
    },
    repair: () =>
      alone(parts, async () => {
        const found = find();
        if (found.isOk()) return ok(undefined);
        if (found.error.code !== 'damaged') return err(found.error);
        const aside = `${layout.keyring}.damaged-${randomBytes(4).toString('hex')}`;
        const moved = await accessing('repair keyring', layout.keyring, () =>
          disk.fs.rename(join(disk.root, layout.keyring), join(disk.root, aside)),
        );
        if (moved.isErr()) return err(moved.error);
        return (await open(true)).map(() => aside);
      }),
    rotate: () =>
      alone(parts, async () => {
        const opened = await open(true);
        if (opened.isErr()) return err(opened.error);
        const rotated = rotate(opened.value, freshKey());
        const put = () => putFile(disk, layout.keyring, keyringBytes(rotated, parts.sha256));
        return accessing('rotate keyring', layout.keyring, () => sweepLeftovers(parts).then(put)).map(() => {
          known = undefined;
          return rotated;
        });
      }),
  };
}

/** Errors of a system that cannot link a file under a second name. */
const NO_LINKS: readonly string[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'];

/** Creates the file unless it exists. Where links cannot decide the race, the lock does. */
async function make(
  parts: FileStoreParts,
  { isAlone, keyring }: { readonly isAlone: boolean; readonly keyring: Keyring },
): Promise<Result<void, StoreFailure>> {
  const { disk } = parts;
  const bytes = keyringBytes(keyring, parts.sha256);
  const isThere = () => disk.fs.size(join(disk.root, layout.keyring)) !== undefined;
  const made = await accessing('make keyring', layout.keyring, async () => {
    await ensureDir(disk, layout.keys);
    await putNewFile(disk, layout.keyring, bytes);
  });
  if (made.isOk() || made.error.code !== 'io_failed') return made;
  // A rotation takes our unfinished file for a leftover, but only if the keyring exists.
  if (made.error.cause === 'ENOENT' && isThere()) return flush(parts);
  if (!NO_LINKS.includes(made.error.cause)) return made;
  const putIfMissing = async () =>
    accessing('make keyring', layout.keyring, async () => {
      if (!isThere()) await putFile(disk, layout.keyring, bytes);
    });
  return isAlone ? putIfMissing() : alone(parts, putIfMissing);
}

/** The process that created it may have died before flushing its name, and tokens are about to depend on it. */
async function flush({ disk }: FileStoreParts): Promise<Result<void, StoreFailure>> {
  return accessing('make keyring', layout.keyring, async () => {
    await ensureDir(disk, layout.keys);
    await disk.fs.syncDir(join(disk.root, layout.keys));
  });
}

/** Temporary files of processes that were killed. */
async function sweepLeftovers({ disk }: FileStoreParts): Promise<void> {
  const dir = join(disk.root, layout.keys);
  const leftovers = disk.fs.list(dir).filter((name) => /^\.keyring\.json\.[0-9a-f]+\.tmp$/.test(name));
  for (const name of leftovers) await disk.fs.remove(join(dir, name));
}

function readFile({ disk }: FileStoreParts): Result<Uint8Array | undefined, StoreFailure> {
  const path = join(disk.root, layout.keyring);
  // Read first: the mode of a folder or a pipe is of no interest.
  const look = () => {
    const bytes = disk.fs.read(path);
    return { mode: disk.fs.mode(path) ?? SAFE_MODE, bytes };
  };
  return accessingNow('read keyring', layout.keyring, look)
    .mapErr((failure) => (isWrongKind(failure) ? damagedContent(layout.keyring, 'content_wrong_shape') : failure))
    .andThen(({ mode, bytes }) => ((mode & OTHERS_BITS) === 0 ? ok(bytes) : err(unsafePermissions(mode))));
}

function unsafePermissions(mode: number): StoreFailure {
  return {
    code: 'unsafe_permissions',
    place: layout.keyring,
    found: mode.toString(8),
    wanted: SAFE_MODE.toString(8),
  };
}

function freshKey(): SigningKey {
  return signingKey(randomBytes(KEY_BYTES));
}

/** Two concurrent rotations would build on the same keyring, and one of the new keys would be lost. */
async function alone<Value>(
  parts: FileStoreParts,
  work: () => Promise<Result<Value, StoreFailure>>,
): Promise<Result<Value, StoreFailure>> {
  const attempt = await accessing('lock keyring', layout.keyringLock, () => ensureDir(parts.disk, layout.keys)).andThen(
    () => lockFile(parts, 'lock keyring', layout.keyringLock),
  );
  return whileHeld(attempt, 'key_rotation', work);
}

/** The file of a keyring: its document with a checksum. */
function keyringBytes(keyring: Keyring, sha256: Sha256): Uint8Array {
  const document = keyringDocument(keyring);
  return ownJsonBytes({ ...document, sum: sha256(ownJsonBytes(document)) });
}

function parseKeyringFile(bytes: Uint8Array, sha256: Sha256): Result<Keyring, StoreFailure> {
  const place = layout.keyring;
  const parse = (value: unknown) =>
    parseKeyring(value).map((keyring) => ({ keyring, isSound: isSound(value as KeyringDocument, sha256) }));
  return parseStored(place, bytes, parse).andThen(({ keyring, isSound }) =>
    isSound ? ok(keyring) : err(damagedContent(place, 'content_digest_mismatch')),
  );
}

/** A file from before checksums has nothing to compare. */
function isSound({ sum, ...document }: KeyringDocument, sha256: Sha256): boolean {
  return sum === undefined || sum === sha256(ownJsonBytes(document));
}
