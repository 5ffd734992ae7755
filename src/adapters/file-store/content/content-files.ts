import { hash } from 'node:crypto';
import { dirname, join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import { type JsonValue, parseJson } from '../../../core/json/json-value.ts';
import type { SchemaRefusal } from '../../../core/log/document-schema.ts';
import type { DamageReason } from '../../../core/log/health.ts';
import { accessingNow, type Disk, putFile } from '../disk/disk.ts';

/** The place of content and the hash that names it. */
type ContentName = { readonly path: string; readonly digest: string };

/**
 * Stores content under its hash. Identical content that exists stays, but is touched, because collection spares young
 * files. Another process may not have flushed the name yet, so it is flushed here too.
 */
export async function putContent(disk: Disk, { path, digest }: ContentName, bytes: Uint8Array): Promise<void> {
  assert(digestOf(bytes) === digest, `${path} is named by its content`);
  const target = join(disk.root, path);
  if (!isPresent(disk, target, bytes)) return putFile(disk, path, bytes);
  await disk.fs.touch(target);
  await disk.fs.syncDir(dirname(target));
}

/** Most content is new, so the file is opened only if its length matches. */
export function isPresent({ fs }: Disk, target: string, bytes: Uint8Array): boolean {
  if (fs.size(target) !== bytes.length) return false;
  const present = fs.read(target);
  return present !== undefined && Buffer.compare(present, bytes) === 0;
}

/** Reads content and checks it against its digest. */
export function readContent(disk: Disk, path: string, digest: string): Result<Uint8Array, StoreFailure> {
  return accessingNow('read content', path, () => disk.fs.read(join(disk.root, path))).andThen((bytes) => {
    if (bytes === undefined) return err(damagedContent(path, 'content_missing'));
    return digestOf(bytes) === digest ? ok(bytes) : err(damagedContent(path, 'content_digest_mismatch'));
  });
}

export function digestOf(bytes: Uint8Array): string {
  return `sha256:${hash('sha256', bytes)}`;
}

type DocumentRefusal = { readonly code: 'unknown_version'; readonly version: unknown } | SchemaRefusal;

/** Parses the JSON in the bytes of a file. */
export function parseJsonBytes(bytes: Uint8Array): Result<JsonValue, 'not_json'> {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return parseJson(buffer.toString('utf8'));
}

/** Parses a stored document. Everything its parser refuses is damage, except for an unknown version. */
export function parseStored<Document>(
  place: string,
  bytes: Uint8Array,
  parse: (value: unknown) => Result<Document, DocumentRefusal>,
): Result<Document, StoreFailure> {
  const json = parseJsonBytes(bytes);
  if (json.isErr()) return err(damagedContent(place, 'content_not_json'));
  return parse(json.value).mapErr((refusal) =>
    refusal.code === 'unknown_version'
      ? { code: 'unknown_version', place, offset: 0, version: shownLabel(refusal.version) }
      : damagedContent(place, 'content_wrong_shape'),
  );
}

const SHOWN_MAX = 64;

/** A label from a file, for an error message. It may be any JSON value, so it must not be converted carelessly. */
export function shownLabel(label: unknown): string {
  const text = typeof label === 'string' ? label : (JSON.stringify(label) ?? 'none');
  return text.slice(0, SHOWN_MAX);
}

export function damagedContent(place: string, reason: DamageReason): StoreFailure {
  return { code: 'damaged', damage: { reason, place, offset: 0 } };
}
