import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import { canonicalBytes } from '../json/canonical-json.ts';
import { parseDocument } from '../log/document-schema.ts';
import { snapshotRefSchema, workflowHashSchema } from '../log/ids.ts';
import {
  bundleIdOf,
  bundleIdSchema,
  exportedAtSchema,
  INTEGRITY_KIND,
  type IntegrityEntry,
  integrityEntrySchema,
  producerSchema,
  TABLES,
} from './bundle-document.ts';
import { type BundleIndex, readBundleValue } from './bundle-index.ts';
import { type BundleRefusal, broken, invalid } from './bundle-refusal.ts';
import type { BundleTools } from './bundle-tools.ts';
import { type DigestedList, digestList } from './digest-lists.ts';
import type { ByteSpan } from './json-walk.ts';

/** Of each list, whether it is known to be canonical. */
export type CanonicalLists = { readonly events: boolean; readonly manifest: boolean };

type Entries = ReadonlyMap<string, IntegrityEntry>;
type Digested = Pick<IntegrityEntry, 'sha256' | 'bytes'>;

/**
 * Checks every value against its digest in the bundle. Yields from time to time, so that the caller can let other work
 * run. Says of which lists the digest is that of the canonical form, and not of bytes that may have another.
 */
export function* checkIntegrity(
  index: BundleIndex,
  tools: BundleTools,
): Generator<void, Result<CanonicalLists, BundleRefusal>> {
  const entries = checkEnvelope(index, tools).andThen(() => readEntries(index, tools));
  if (entries.isErr()) return err(entries.error);
  for (const [path, span] of hashedValues(index)) {
    yield;
    const listed = entries.value.get(path);
    // Such content is parsed and hashed again when an event refers to it, and refused if none does.
    if (listed !== undefined && isNamedByItself(index, { path, span, listed }, tools)) continue;
    const checked = checkValue(entries.value, path, () => digestValue(index, { path, span }, tools));
    if (checked.isErr()) return err(checked.error);
  }
  const manifest = yield* checkList(index, { entries: entries.value, list: 'session/manifest' }, tools);
  if (manifest.isErr()) return err(manifest.error);
  const events = yield* checkList(index, { entries: entries.value, list: 'session/events' }, tools);
  if (events.isErr()) return err(events.error);
  return checkBundleId(index, entries.value, tools).map(() => ({
    events: events.value.isOfCanonical,
    manifest: manifest.value.isOfCanonical,
  }));
}

type CheckedList = { readonly entries: Entries; readonly list: 'session/events' | 'session/manifest' };

function* checkList(
  index: BundleIndex,
  { entries, list }: CheckedList,
  tools: BundleTools,
): Generator<void, Result<DigestedList, BundleRefusal>> {
  const digested = yield* digestList(index, { list, listed: entries.get(list) }, tools);
  yield;
  return checkValue(entries, list, () => digested).andThen(() => digested);
}

function checkBundleId(index: BundleIndex, entries: Entries, tools: BundleTools): Result<void, BundleRefusal> {
  const absent = [...entries.keys()].find((path) => !isThere(index, path));
  if (absent !== undefined) return err(missing(absent));
  return readBundleValue(index, 'bundleId', { schema: bundleIdSchema, tools }).andThen((bundleId) =>
    bundleId === bundleIdOf([...entries.values()], tools.sha256)
      ? ok(undefined)
      : err(broken('wrong_bundle_id', 'bundleId')),
  );
}

function checkEnvelope(index: BundleIndex, tools: BundleTools): Result<void, BundleRefusal> {
  return safeTry(function* () {
    yield* readBundleValue(index, 'exportedAt', { schema: exportedAtSchema, tools });
    yield* readBundleValue(index, 'producer', { schema: producerSchema, tools });
    yield* readBundleValue(index, 'integrity/kind', { schema: z.literal(INTEGRITY_KIND), tools });
    return ok(undefined);
  });
}

function readEntries(index: BundleIndex, tools: BundleTools): Result<Entries, BundleRefusal> {
  const entries = new Map<string, IntegrityEntry>();
  for (const [i, span] of index.lists['integrity/entries'].entries()) {
    const path = `integrity/entries/${i}`;
    const value = tools.parseJson(index.bytes.subarray(...span));
    if (value.isErr()) return err({ ...invalid(value.error, path), offset: span[0] });
    const entry = parseDocument(integrityEntrySchema, value.value);
    if (entry.isErr()) return err(invalid('wrong_shape', `${path}${entry.error.path}`));
    if (entries.has(entry.value.path)) return err(invalid('repeated_field', entry.value.path));
    entries.set(entry.value.path, entry.value);
  }
  return ok(entries);
}

/** The values that are hashed one by one; the two lists are hashed as a whole. */
function* hashedValues(index: BundleIndex): Generator<readonly [path: string, span: ByteSpan]> {
  const salvage = index.values.get('session/salvage');
  if (salvage !== undefined) yield ['session/salvage', salvage];
  for (const name of TABLES) {
    for (const [key, span] of index.tables[name]) yield [`session/${name}/${key}`, span];
  }
}

/** Whether the bytes of content have its name and its entry, so that they are canonical if the content is what it says. */
function isNamedByItself(
  { bytes }: BundleIndex,
  { path, span, listed }: { readonly path: string; readonly span: ByteSpan; readonly listed: Digested },
  tools: BundleTools,
): boolean {
  if (path !== `session/snapshots/${listed.sha256}` || listed.bytes !== span[1] - span[0]) return false;
  return tools.digestOf(bytes.subarray(...span)) === listed.sha256;
}

function digestValue(
  { bytes }: BundleIndex,
  { path, span }: { readonly path: string; readonly span: ByteSpan },
  tools: BundleTools,
): Result<Digested, BundleRefusal> {
  return tools
    .parseJson(bytes.subarray(...span))
    .andThen((value) => canonicalBytes(value))
    .map((canonical) => ({ sha256: tools.sha256(canonical), bytes: canonical.length }))
    .mapErr((cause) => ({ ...invalid(cause === 'reserved_name' ? cause : 'not_json', path), offset: span[0] }));
}

function checkValue(
  entries: Entries,
  path: string,
  digested: () => Result<Digested, BundleRefusal>,
): Result<void, BundleRefusal> {
  const entry = entries.get(path);
  if (entry === undefined) return err(broken('not_listed', path));
  return digested().andThen(({ sha256, bytes }) =>
    sha256 === entry.sha256 && bytes === entry.bytes ? ok(undefined) : err(broken('digest_mismatch', path)),
  );
}

function isThere(index: BundleIndex, path: string): boolean {
  if (path === 'session/events' || path === 'session/manifest') return true;
  if (path === 'session/salvage') return index.values.has(path);
  const [, table, key = ''] = path.split('/');
  return TABLES.some((name) => name === table && index.tables[name].has(key) && path === `session/${name}/${key}`);
}

/** The integrity manifest lists a value that is not in the file. */
function missing(path: string): BundleRefusal {
  const [, table, key] = path.split('/');
  const snapshotRef = snapshotRefSchema.safeParse(key);
  if (table === 'snapshots' && snapshotRef.success) {
    return { code: 'BUNDLE_MISSING_SNAPSHOT', snapshotRef: snapshotRef.data };
  }
  const workflowHash = workflowHashSchema.safeParse(key);
  if (table === 'pinnedWorkflows' && workflowHash.success) {
    return { code: 'BUNDLE_MISSING_PINNED_WORKFLOW', workflowHash: workflowHash.data };
  }
  return broken('nothing_there', path);
}
