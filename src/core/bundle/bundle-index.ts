import { err, ok, type Result } from 'neverthrow';
import type * as z from 'zod';
import { assert } from '../assert.ts';
import { SHA256_DIGEST_PATTERN } from '../json/canonical-json.ts';
import { parseDocument } from '../log/document-schema.ts';
import {
  BUNDLE_BYTES_MAX,
  BUNDLE_DEPTH_MAX,
  BUNDLE_EVENTS_MAX,
  BUNDLE_VERSION,
  type TableName,
} from './bundle-document.ts';
import { type BundleRefusal, invalid, newer } from './bundle-refusal.ts';
import type { BundleTools } from './bundle-tools.ts';
import {
  type ByteSpan,
  isListAt,
  isObjectAt,
  type JsonPlace,
  type JsonWalk,
  skipSpace,
  skipValue,
  walkList,
  walkObject,
} from './json-walk.ts';

/** The position of everything in a bundle. Nothing is parsed, so it takes only a few bytes for each value. */
export type BundleIndex = {
  readonly bytes: Uint8Array;
  /** Single values by path. */
  readonly values: ReadonlyMap<string, ByteSpan>;
  readonly lists: { readonly [name in ListPath]: readonly ByteSpan[] };
  /** Content by its digest. */
  readonly tables: { readonly [name in TableName]: ReadonlyMap<string, ByteSpan> };
};

export type ListPath = 'integrity/entries' | 'session/events' | 'session/manifest';

type Shape = 'value' | 'list' | 'table' | { readonly [key: string]: Shape };

const SHAPE: Shape = {
  bundleSchemaVersion: 'value',
  bundleId: 'value',
  exportedAt: 'value',
  producer: 'value',
  integrity: { kind: 'value', entries: 'list' },
  session: {
    sessionId: 'value',
    events: 'list',
    manifest: 'list',
    snapshots: 'table',
    pinnedWorkflows: 'table',
    artifacts: 'table',
    salvage: 'value',
  },
};
const OPTIONAL = ['session/artifacts', 'session/salvage'];

type Indexing = {
  readonly walk: JsonWalk;
  readonly tools: BundleTools;
  readonly values: Map<string, ByteSpan>;
  readonly lists: Map<string, ByteSpan[]>;
  readonly tables: Map<string, Map<string, ByteSpan>>;
  /** The limit that is exceeded; nothing after it is read. */
  excess: BundleRefusal | undefined;
  /** The first thing that version 1 does not allow. Another version may allow it, so the version is checked first. */
  oddity: BundleRefusal | undefined;
};

/** Finds everything in a bundle, after checking its size. White space and the order of keys do not matter. */
export function indexBundle(bytes: Uint8Array, tools: BundleTools): Result<BundleIndex, BundleRefusal> {
  const size = bytes.length;
  if (size > BUNDLE_BYTES_MAX) return err(tooMuch('too_large', size, BUNDLE_BYTES_MAX));
  const walk: JsonWalk = { bytes, depthMax: BUNDLE_DEPTH_MAX, fault: undefined };
  const indexing: Indexing = {
    walk,
    tools,
    values: new Map(),
    lists: new Map(),
    tables: new Map(),
    excess: undefined,
    oddity: undefined,
  };
  const end = visit(indexing, { shape: SHAPE, path: '' }, { at: skipSpace(bytes, 0), depth: 0 });
  if (indexing.excess !== undefined) return err(indexing.excess);
  if (end === undefined) return err({ code: 'BUNDLE_INVALID_FORMAT', ...(walk.fault ?? { reason: 'not_json' }) });
  const rest = skipSpace(bytes, end);
  if (rest < size) return err({ code: 'BUNDLE_INVALID_FORMAT', reason: 'not_json', offset: rest });
  return checkedIndex(indexing);
}

function checkedIndex(indexing: Indexing): Result<BundleIndex, BundleRefusal> {
  const { walk, tools, values, lists, tables, oddity } = indexing;
  const { bytes } = walk;
  const span = values.get('bundleSchemaVersion');
  if (span === undefined) return err(invalid('missing_field', 'bundleSchemaVersion'));
  const version = tools.parseJson(bytes.subarray(...span));
  if (version.isErr()) return err(invalid('not_json', 'bundleSchemaVersion'));
  if (version.value !== BUNDLE_VERSION) return err(newer('bundleSchemaVersion', version.value));
  if (oddity !== undefined) return err(oddity);
  const missing = requiredPaths(SHAPE, '').find((path) => !values.has(path) && !lists.has(path) && !tables.has(path));
  if (missing !== undefined) return err(invalid('missing_field', missing));
  const list = (path: ListPath) => lists.get(path) ?? [];
  const table = (name: TableName) => tables.get(`session/${name}`) ?? new Map();
  return ok({
    bytes,
    values,
    lists: {
      'integrity/entries': list('integrity/entries'),
      'session/events': list('session/events'),
      'session/manifest': list('session/manifest'),
    },
    tables: {
      artifacts: table('artifacts'),
      pinnedWorkflows: table('pinnedWorkflows'),
      snapshots: table('snapshots'),
    },
  });
}

function requiredPaths(shape: Shape, path: string): readonly string[] {
  if (typeof shape === 'string') return OPTIONAL.includes(path) ? [] : [path];
  return Object.entries(shape).flatMap(([key, inner]) => requiredPaths(inner, joined(path, key)));
}

type Visited = { readonly shape: Shape; readonly path: string };

function visit(indexing: Indexing, { shape, path }: Visited, place: JsonPlace): number | undefined {
  const { walk } = indexing;
  const isRight = shape === 'value' || (shape === 'list' ? isListAt(walk, place.at) : isObjectAt(walk, place.at));
  if (!isRight) indexing.oddity ??= invalid('wrong_shape', path);
  if (!isRight || shape === 'value') {
    const end = skipValue(walk, place);
    if (end !== undefined) indexing.values.set(path, [place.at, end]);
    return end;
  }
  if (shape === 'list') return visitList(indexing, path, place);
  return shape === 'table' ? visitTable(indexing, path, place) : visitObject(indexing, { shape, path }, place);
}

function visitObject(
  indexing: Indexing,
  { shape, path }: { readonly shape: { readonly [key: string]: Shape }; readonly path: string },
  place: JsonPlace,
): number | undefined {
  const seen = new Set<string>();
  return walkObject(indexing.walk, place, (span, value) => {
    const key = keyAt(indexing, span);
    const keyPath = joined(path, key);
    if (seen.has(key)) indexing.oddity ??= invalid('repeated_field', keyPath);
    seen.add(key);
    const inner = Object.hasOwn(shape, key) ? shape[key] : undefined;
    if (inner !== undefined) return visit(indexing, { shape: inner, path: keyPath }, value);
    indexing.oddity ??= invalid('unknown_field', keyPath);
    return skipValue(indexing.walk, value);
  });
}

function visitList(indexing: Indexing, path: string, place: JsonPlace): number | undefined {
  const { walk } = indexing;
  const spans: ByteSpan[] = [];
  indexing.lists.set(path, spans);
  return walkList(walk, place, (value) => {
    if (path === 'session/events' && spans.length >= BUNDLE_EVENTS_MAX) {
      indexing.excess = tooMuch('too_many_events', spans.length + 1, BUNDLE_EVENTS_MAX);
      return undefined;
    }
    const end = skipValue(walk, value);
    if (end !== undefined) spans.push([value.at, end]);
    return end;
  });
}

function visitTable(indexing: Indexing, path: string, place: JsonPlace): number | undefined {
  const table = new Map<string, ByteSpan>();
  indexing.tables.set(path, table);
  return walkObject(indexing.walk, place, (span, value) => {
    const key = keyAt(indexing, span);
    if (!SHA256_DIGEST_PATTERN.test(key)) indexing.oddity ??= invalid('wrong_name', joined(path, key));
    if (table.has(key)) indexing.oddity ??= invalid('repeated_field', joined(path, key));
    const end = skipValue(indexing.walk, value);
    if (end !== undefined) table.set(key, [value.at, end]);
    return end;
  });
}

/** An invalid key becomes a name that no field has. */
function keyAt({ walk, tools }: Indexing, span: ByteSpan): string {
  const key = tools.parseJson(walk.bytes.subarray(...span)).unwrapOr(undefined);
  return typeof key === 'string' ? key : '\ufffd';
}

function joined(path: string, key: string): string {
  return path === '' ? key : `${path}/${key}`;
}

function tooMuch(reason: 'too_large' | 'too_many_events', size: number, max: number): BundleRefusal {
  return { code: 'BUNDLE_INVALID_FORMAT', reason, size, max };
}

/** A single value of a bundle, which must exist. */
export function readBundleValue<Schema extends z.ZodType>(
  { bytes, values }: BundleIndex,
  path: string,
  { schema, tools }: { readonly schema: Schema; readonly tools: BundleTools },
): Result<z.infer<Schema>, BundleRefusal> {
  const span = values.get(path);
  assert(span !== undefined, `an index has ${path}`);
  const value = tools.parseJson(bytes.subarray(...span));
  if (value.isErr()) return err({ ...invalid(value.error, path), offset: span[0] });
  return parseDocument(schema, value.value).mapErr((refusal) => invalid('wrong_shape', `${path}${refusal.path}`));
}
