import { err, ok, type Result } from 'neverthrow';
import { canonicalBytes, type ParsedJson } from '../json/canonical-json.ts';
import { isObject } from '../json/json-value.ts';
import { encodeUtf8 } from '../text/utf8.ts';
import type { IntegrityEntry } from './bundle-document.ts';
import type { BundleIndex } from './bundle-index.ts';
import { type BundleRefusal, invalid, shortValue } from './bundle-refusal.ts';
import type { BundleTools } from './bundle-tools.ts';

type Digested = Pick<IntegrityEntry, 'sha256' | 'bytes'>;

const OPEN = encodeUtf8('[');
const COMMA = encodeUtf8(',');
const CLOSE = encodeUtf8(']');

/** Hashes a list item by item; the digest is that of the canonical JSON of the whole list. */
export type ListDigest = { add(item: Uint8Array): void; end(): Digested };

export function listDigest(tools: BundleTools): ListDigest {
  const running = tools.runningSha256();
  let bytes = 0;
  const take = (piece: Uint8Array) => {
    running.add(piece);
    bytes += piece.length;
  };
  return {
    add: (item) => {
      take(bytes === 0 ? OPEN : COMMA);
      take(item);
    },
    end: () => {
      if (bytes === 0) take(OPEN);
      take(CLOSE);
      return { sha256: running.digest(), bytes };
    },
  };
}

const NEWLINE = 0x0a;

/** The events of a segment. Canonical JSON contains no line breaks. */
export function* segmentLines(segment: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < segment.length; ) {
    const end = segment.indexOf(NEWLINE, start);
    yield segment.subarray(start, end);
    start = end + 1;
  }
}

/** `isOfCanonical`: whether it is the digest of the canonical form, or of the bytes in the file, whatever they are. */
export type DigestedList = Digested & { readonly isOfCanonical: boolean };

/**
 * The digest of a list. If its bytes already give the listed digest, no canonical form is needed: a bundle that nobody
 * reformatted is canonical, and making every item canonical again would take longer than everything else.
 */
export function* digestList(
  index: BundleIndex,
  { list, listed }: { readonly list: Item['list']; readonly listed: Digested | undefined },
  tools: BundleTools,
): Generator<void, Result<DigestedList, BundleRefusal>> {
  const { bytes, lists } = index;
  const asWritten = listDigest(tools);
  for (const [start, end] of lists[list]) asWritten.add(bytes.subarray(start, end));
  const found = asWritten.end();
  if (found.sha256 === listed?.sha256) return ok({ ...found, isOfCanonical: false });
  const digest = listDigest(tools);
  for (const position of lists[list].keys()) {
    yield;
    const item = orderedItem(index, { list, position }, tools);
    if (item.isErr()) return err(item.error);
    digest.add(item.value);
  }
  return ok({ ...digest.end(), isOfCanonical: true });
}

type Item = { readonly list: 'session/events' | 'session/manifest'; readonly position: number };

function orderedItem(
  index: BundleIndex,
  { list, position }: Item,
  tools: BundleTools,
): Result<Uint8Array, BundleRefusal> {
  return parseItem(index, { list, position }, tools).andThen(({ value }) => {
    const misplaced = misplacedAt(list, position, value);
    if (misplaced !== undefined) return err(misplaced);
    return canonicalBytes(value).mapErr(() => invalid('not_json', `${list}/${position}`));
  });
}

/** One item of a list. */
export function parseItem(
  { bytes, lists }: BundleIndex,
  { list, position }: Item,
  tools: BundleTools,
): Result<ParsedJson, BundleRefusal> {
  const [start, end] = lists[list][position] ?? [0, 0];
  return tools
    .parseText(bytes.subarray(start, end))
    .mapErr((reason) => ({ ...invalid(reason, `${list}/${position}`), offset: start }));
}

/** The refusal of an item whose number is not its position; an item without a number is checked elsewhere. */
export function misplacedAt(list: Item['list'], position: number, value: unknown): BundleRefusal | undefined {
  const key = list === 'session/events' ? 'eventIndex' : 'manifestIndex';
  if (!isObject(value) || !Object.hasOwn(value, key) || value[key] === position) return undefined;
  const code = list === 'session/events' ? 'BUNDLE_EVENT_ORDER_INVALID' : 'BUNDLE_MANIFEST_ORDER_INVALID';
  return { code, position, found: shortValue(value[key]) };
}
