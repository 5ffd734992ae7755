import { createHash } from 'node:crypto';
import canonicalize from 'canonicalize';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { fieldsOf, jsonSchema } from '../../../test/examples/event-schema.ts';
import { MANIFEST_FIELDS } from '../../../test/examples/field-rules.ts';
import { OTHER_SESSION, SESSION } from '../../../test/examples/ids.ts';
import { MANIFEST_EXAMPLES, SIGNED_EXAMPLES } from '../../../test/examples/manifest.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { removals, replacements, without, withValue } from '../../../test/examples/single-field-changes.ts';
import {
  chainGenesis,
  chainOf,
  type ManifestRefusal,
  manifestRecordSchema,
  parseManifestRecord,
  segmentRelPath,
} from './manifest.ts';

const EXAMPLES = MANIFEST_EXAMPLES.map((record) => [`${record.kind} at ${record.manifestIndex}`, record] as const);
const segment = MANIFEST_EXAMPLES.find((record) => record.kind === 'segment_closed') ?? expect.fail('no segment');
const pin = MANIFEST_EXAMPLES.find((record) => record.kind === 'snapshot_pinned') ?? expect.fail('no pin');

test('a segment record holds its events, its file, and how many pins follow', () => {
  enforces('segment_closed_fields');
  expect(Object.keys(segment).sort()).toEqual([
    'bytes',
    'chain',
    'firstEventIndex',
    'kind',
    'lastEventIndex',
    'manifestIndex',
    'pins',
    'segmentRelPath',
    'sessionId',
    'sha256',
    'v',
  ]);
});

test('a signed segment record holds the name of the key and the signature besides, and a pin none', () => {
  enforces('segment_closed_fields');
  for (const [i, record] of SIGNED_EXAMPLES.entries()) {
    expect('sig' in record).toBe(record.kind === 'segment_closed');
    const { chain: _, sig: __, ...plain } = { sig: undefined, ...record };
    const { chain: ___, ...unsigned } = MANIFEST_EXAMPLES[i] ?? expect.fail();
    expect(plain).toEqual(unsigned);
    expect(refusedAt({ ...record, sig: { keyid: 'x', sig: '' } })).toBe(
      record.kind === 'segment_closed' ? '/sig/keyid' : 'none',
    );
  }
});

test('a pin holds a snapshot and the event that brought it', () => {
  enforces('snapshot_pinned_fields', 'created_by_event_id_only_in_pin');
  expect(Object.keys(pin).sort()).toEqual([
    'chain',
    'createdByEventId',
    'eventIndex',
    'kind',
    'manifestIndex',
    'sessionId',
    'snapshotRef',
    'v',
  ]);
  expect(
    MANIFEST_EXAMPLES.filter((record) => 'createdByEventId' in record !== (record.kind === 'snapshot_pinned')),
  ).toEqual([]);
});

test.each(EXAMPLES)('the record %s is read as it is, and with a field of a newer writer', (_, record) => {
  enforces('unknown_fields_rule');
  expect(parseManifestRecord(record)).toEqual(ok(record));
  expect(parseManifestRecord({ ...record, later: 1 })).toEqual(ok({ ...record, later: 1 }));
});

test.each(EXAMPLES)('the record %s is refused without any of its fields', (_, record) => {
  enforces('segment_closed_fields', 'snapshot_pinned_fields', 'schema_changes_additive_within_version');
  for (const { path, document } of removals(record, MANIFEST_FIELDS)) {
    expect([path, refusedAt(document)]).toEqual([path, path]);
  }
});

test.each(EXAMPLES)('the record %s is refused with any one field of a wrong type or value', (_, record) => {
  for (const { path, what, document } of replacements(record, MANIFEST_FIELDS)) {
    expect([path, what, refusedAt(document)]).toEqual([path, what, path]);
  }
});

test('unknown versions and kinds are distinguished from damage', () => {
  enforces('unknown_version_fails_fast', 'durable_types_are_versioned');
  expect(parseManifestRecord({ v: 2, kind: 'segment_closed' })).toEqual(err({ code: 'unknown_version', version: 2 }));
  expect(fieldsOf(jsonSchema(manifestRecordSchema)).filter((fields) => !/ v$/.test(fields))).toEqual([]);
  for (const record of MANIFEST_EXAMPLES) {
    expect([record.kind, record.v]).toEqual([record.kind, 1]);
    expect(refusedAt(without(record, '/v'))).toBe('/v');
  }
  expect(parseManifestRecord({ v: 1, kind: 'compacted' })).toEqual(err({ code: 'unknown_kind', kind: 'compacted' }));
});

test('a segment does not end before it begins and is named after its events', () => {
  expect(refusedAt(withValue(segment, '/firstEventIndex', segment.lastEventIndex + 1))).toBe('/lastEventIndex');
  expect(refusedAt(withValue(segment, '/segmentRelPath', 'events/00000000-00000008.jsonl'))).toBe('/segmentRelPath');
  expect(refusedAt(withValue(segment, '/segmentRelPath', '../events/00000000-00000009.jsonl'))).toBe('/segmentRelPath');
  expect(segmentRelPath(0, 4_999)).toBe('events/00000000-00004999.jsonl');
  expect(segmentRelPath(99_999_999, 4_294_967_295)).toBe('events/99999999-4294967295.jsonl');
});

test('records count on their own, from zero and without gaps', () => {
  enforces('manifest_index_own_sequence');
  expect(MANIFEST_EXAMPLES.map(({ manifestIndex }) => Number(manifestIndex))).toEqual([...MANIFEST_EXAMPLES.keys()]);
  const segments = MANIFEST_EXAMPLES.filter((record) => record.kind === 'segment_closed');
  const next = segments.slice(1).map(({ firstEventIndex }) => Number(firstEventIndex));
  expect(next).toEqual(segments.slice(0, -1).map(({ lastEventIndex }) => lastEventIndex + 1));
});

test('each record is chained to the one before, the first to its session', () => {
  enforces('manifest_chain');
  const hash = (text: string) => `sha256:${createHash('sha256').update(text, 'utf8').digest('hex')}`;
  let chain = hash(`workrail:${SESSION}`);
  expect(chainGenesis(SESSION, sha256)).toBe(chain);
  for (const { chain: stored, ...record } of MANIFEST_EXAMPLES) {
    chain = hash(`${chain}\n${canonicalize(record)}`);
    expect(stored).toBe(chain);
  }
});

test('a changed, moved, repeated or foreign record breaks the chain', () => {
  enforces('manifest_chain');
  const genesis = chainGenesis(SESSION, sha256);
  const isWhole = (records: typeof MANIFEST_EXAMPLES, from = genesis) =>
    records.every((record, i) => record.chain === chainOf(records[i - 1]?.chain ?? from, record, sha256));
  const [first, second, third, ...rest] = MANIFEST_EXAMPLES;
  if (first === undefined || second === undefined || third === undefined) expect.fail('three records');
  expect(isWhole(MANIFEST_EXAMPLES)).toBe(true);
  expect(isWhole([first, third, second, ...rest])).toBe(false);
  expect(isWhole([first, second, second, third, ...rest])).toBe(false);
  expect(isWhole([second, third, ...rest])).toBe(false);
  expect(isWhole(MANIFEST_EXAMPLES, chainGenesis(OTHER_SESSION, sha256))).toBe(false);
  for (const { path, document } of replacements(second, MANIFEST_FIELDS).filter((change) => change.path !== '/chain')) {
    const changed = [first, document as typeof second, third, ...rest];
    expect([path, isWhole(changed)]).toEqual([path, false]);
  }
});

test('a field from a newer version is part of the chain', () => {
  enforces('manifest_chain');
  const newer = { ...pin, later: 1 };
  expect(chainOf(segment.chain, newer, sha256)).not.toBe(chainOf(segment.chain, pin, sha256));
});

function refusedAt(record: unknown): string {
  return parseManifestRecord(record).match(() => 'none', pathOf);
}

function pathOf(refusal: ManifestRefusal): string {
  return refusal.code === 'wrong_shape' ? refusal.path : refusal.code === 'unknown_kind' ? '/kind' : '/v';
}
