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
import { digestEvents, digestManifest } from './digest-lists.ts';
import type { ByteSpan } from './json-walk.ts';

type Entries = ReadonlyMap<string, IntegrityEntry>;
type Digested = Pick<IntegrityEntry, 'sha256' | 'bytes'>;

/**
 * Checks every value against its digest in the bundle. Yields from time to time, so that the caller can let other work
 * run.
 */
export function* checkIntegrity(index: BundleIndex, tools: BundleTools): Generator<void, Result<void, BundleRefusal>> {
  const entries = checkEnvelope(index, tools).andThen(() => readEntries(index, tools));
  if (entries.isErr()) return err(entries.error);
  for (const [path, span] of hashedValues(index)) {
    yield;
    const checked = checkValue(entries.value, path, () => digestValue(index, { path, span }, tools));
    if (checked.isErr()) return err(checked.error);
  }
  const manifest = checkValue(entries.value, 'session/manifest', () => digestManifest(index, tools));
  if (manifest.isErr()) return err(manifest.error);
  yield;
  const listed = entries.value.get('session/events');
  const events = yield* digestEvents(index, listed, tools);
  return checkValue(entries.value, 'session/events', () => events).andThen(() =>
    checkBundleId(index, entries.value, tools),
  );
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
