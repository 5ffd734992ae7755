import type { SessionId } from '../../src/core/log/ids.ts';
import {
  chainGenesis,
  chainOf,
  type LogSignature,
  type ManifestRecord,
  type Unchained,
} from '../../src/core/log/manifest.ts';
import { digest, sha256 } from '../examples/sha256.ts';
import type { Forged } from './forgeries.ts';
import { KEY, OTHER_KEY, recordsOf } from './random-passports.ts';

/** Records as a forger writes them down, before the chain is recomputed. */
type Loose = { readonly [field: string]: unknown };

/** How a forger without the key repairs the records: hashes and chain fit again, signatures are kept, left out or their own. */
export const REPAIRS: {
  readonly [how: string]: (forged: Forged, old: readonly ManifestRecord[]) => readonly ManifestRecord[];
} = {
  'without signatures': ({ log }) => recordsOf(log, () => undefined),
  'signed by another key': ({ log }) => recordsOf(log, () => OTHER_KEY),
  'signed by another key under the name of the right one': ({ log }) =>
    recordsOf(log, () => ({ ...OTHER_KEY, sign: (digest) => ({ ...OTHER_KEY.sign(digest), keyid: KEY.keyid }) })),
  'with the old signatures': ({ log }, old) => {
    const sigs = signaturesOf(old);
    let append = 0;
    const records = recordsOf(log, () => undefined);
    return rechained(
      log.sessionId,
      records.map((record) => (isSegment(record) ? withSignature(record, sigs[append++]) : record)),
    );
  },
};

/** What a forger can do to the records alone, with the events as they are. Each gets the records of another session too. */
export const RECORD_FORGERIES: {
  readonly [what: string]: (records: readonly ManifestRecord[], other: readonly ManifestRecord[]) => readonly Loose[];
} = {
  'the last signature is removed': (records) => changed(records, lastOf(records), { sig: undefined }),
  'the first signature is removed': (records) => changed(records, 0, { sig: undefined }),
  'every signature is removed': (records) => records.map((record) => ({ ...record, sig: undefined })),
  'the first signature is copied to the last append': (records) =>
    changed(records, lastOf(records), { sig: signaturesOf(records)[0] }),
  'two signatures are swapped': (records) => {
    const sigs = signaturesOf(records);
    return changed(changed(records, 0, { sig: sigs.at(-1) }), lastOf(records), { sig: sigs[0] });
  },
  'a signature comes from another session': (records, other) =>
    changed(records, lastOf(records), { sig: signaturesOf(other).at(-1) }),
  'a signature gets the name of another key': (records) =>
    changed(records, lastOf(records), { sig: { ...signaturesOf(records).at(-1), keyid: OTHER_KEY.keyid } }),
  'a signature is of another key': (records) =>
    changed(records, lastOf(records), { sig: OTHER_KEY.sign(digest('something else')) }),
  'a signature is 64 zeros': (records) =>
    changed(records, lastOf(records), {
      sig: { keyid: KEY.keyid, sig: Buffer.alloc(64).toString('base64') },
    }),
  'a segment has another digest': (records) => changed(records, 0, { sha256: digest('other events') }),
  'a segment is longer': (records) => changed(records, 0, { bytes: Number((records[0] as Loose)['bytes']) + 1 }),
  'a segment claims a pin more': (records) => changed(records, 0, { pins: Number((records[0] as Loose)['pins']) + 1 }),
  'a segment begins elsewhere': (records) =>
    changed(records, lastOf(records), { firstEventIndex: 0, segmentRelPath: 'events/00000000-00000001.jsonl' }),
  'a segment gets a field that nobody knows': (records) => changed(records, 0, { approvedBy: 'the boss' }),
  'the last pin is dropped': (records) => records.toSpliced(lastPin(records), 1),
  'the last pin is repeated': (records) => records.toSpliced(lastPin(records), 0, records[lastPin(records)] as never),
  'a pin names another snapshot': (records) =>
    changed(records, lastPin(records), { snapshotRef: digest('another snapshot') }),
  'a pin names another event': (records) => changed(records, lastPin(records), { eventIndex: 0 }),
  'a pin says that another event made it': (records, other) =>
    changed(records, lastPin(records), {
      createdByEventId: (other[lastPin(other)] as Loose)['createdByEventId'],
    }),
  'the records are those of another session': (_, other) => [...other],
  'the records of another session follow': (records, other) => [...records, ...other],
  'the first records are those of another session': (records, other) => [...other.slice(0, 2), ...records.slice(2)],
  'a record is repeated': (records) => [...records.slice(0, 1), ...records],
  'the last append is missing': (records) => records.slice(0, lastOf(records)),
  'the first append is missing': (records) =>
    records.slice(1 + records.slice(1).findIndex((record) => isSegment(record))),
  'the records are in reverse order': (records) => records.toReversed(),
};

/** Numbers and chain of records that follow each other. */
export function rechained(sessionId: SessionId, records: readonly Loose[]): readonly ManifestRecord[] {
  let chain = chainGenesis(sessionId, sha256);
  return records.map((record, manifestIndex) => {
    const { sig, ...rest } = record;
    const signed = { ...rest, ...(sig === undefined ? {} : { sig }), sessionId, manifestIndex } as unknown as Unchained;
    chain = chainOf(chain, signed, sha256);
    return { ...signed, chain } as ManifestRecord;
  });
}

const isSegment = ({ kind }: ManifestRecord) => kind === 'segment_closed';
const lastOf = (records: readonly ManifestRecord[]) => records.findLastIndex(isSegment);
const lastPin = (records: readonly ManifestRecord[]) => records.findLastIndex((record) => !isSegment(record));

function signaturesOf(records: readonly ManifestRecord[]): readonly (LogSignature | undefined)[] {
  return records.flatMap((record) => (record.kind === 'segment_closed' ? [record.sig] : []));
}

function withSignature(record: ManifestRecord, sig: LogSignature | undefined): Loose {
  return { ...record, sig };
}

function changed(records: readonly ManifestRecord[], at: number, fields: Loose): readonly ManifestRecord[] {
  return records.map((record, i) => (i === at ? ({ ...record, ...fields } as ManifestRecord) : record));
}
