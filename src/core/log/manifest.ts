import { err, type Result } from 'neverthrow';
import * as z from 'zod';
import { assert } from '../assert.ts';
import { genesisBytes, linkedBytes, type Sha256, type Sha256Digest } from '../json/canonical-json.ts';
import { labelOf, parseDocument, type SchemaRefusal } from './document-schema.ts';
import {
  EventId,
  eventIndexSchema,
  manifestIndexSchema,
  plainDigestSchema,
  SessionId,
  snapshotRefSchema,
} from './ids.ts';

export const MANIFEST_VERSION = 1;

const head = {
  v: z.literal(MANIFEST_VERSION),
  manifestIndex: manifestIndexSchema,
  sessionId: SessionId.schema,
  /** Hash of the previous chain value and this record, so that a moved, repeated or changed record is found. */
  chain: plainDigestSchema,
};

/** A signature with the key of the store that wrote the record, in the shape of a DSSE signature. */
export const logSignatureSchema = z.object({
  /** SHA-256 of the public key as DER (SubjectPublicKeyInfo). */
  keyid: z.string().regex(/^[0-9a-f]{64}$/),
  /** The 64 bytes of Ed25519 in base64. */
  sig: z.string().regex(/^[A-Za-z0-9+/]{85}[AQgw]==$/),
});
export type LogSignature = z.infer<typeof logSignatureSchema>;

/** Signs a digest with the key of a store. The key stays outside of core. */
export type LogSigner = { readonly keyid: string; readonly sign: (digest: Sha256Digest) => LogSignature };

/** Confirms that a segment of events is complete and on disk. */
export const segmentClosedSchema = z
  .object({
    ...head,
    kind: z.literal('segment_closed'),
    firstEventIndex: eventIndexSchema,
    lastEventIndex: eventIndexSchema,
    segmentRelPath: z.string().regex(/^events\/[0-9]{8,10}-[0-9]{8,10}\.jsonl$/),
    sha256: plainDigestSchema,
    bytes: z.int().min(0),
    /** The number of `snapshot_pinned` records in the same append; fewer at the end mean that it is incomplete. */
    pins: z.int().min(0),
    /** Over the chain value that the record would have without it. Records of earlier releases have none. */
    sig: logSignatureSchema.optional(),
  })
  .refine(({ firstEventIndex, lastEventIndex }) => firstEventIndex <= lastEventIndex, {
    path: ['lastEventIndex'],
    error: 'a segment must not end before it starts',
  })
  .refine((record) => record.segmentRelPath === segmentRelPath(record.firstEventIndex, record.lastEventIndex), {
    path: ['segmentRelPath'],
    error: 'a segment must be named after its events',
  });
export type SegmentClosed = z.infer<typeof segmentClosedSchema>;

/** Lets garbage collection and export find a snapshot without reading events. Repeated pins are allowed. */
export const snapshotPinnedSchema = z.object({
  ...head,
  kind: z.literal('snapshot_pinned'),
  eventIndex: eventIndexSchema,
  snapshotRef: snapshotRefSchema,
  createdByEventId: EventId.schema,
});
export type SnapshotPinned = z.infer<typeof snapshotPinnedSchema>;

export const manifestRecordSchema = z.discriminatedUnion('kind', [segmentClosedSchema, snapshotPinnedSchema]);
export type ManifestRecord = z.infer<typeof manifestRecordSchema>;

export type ManifestRefusal =
  | { readonly code: 'unknown_version'; readonly version: unknown }
  | { readonly code: 'unknown_kind'; readonly kind: unknown }
  | SchemaRefusal;

export function parseManifestRecord(value: unknown): Result<ManifestRecord, ManifestRefusal> {
  const label = labelOf(value, ['v', 'kind']);
  if (label.isErr()) return err(label.error);
  const { v, kind } = label.value;
  if (v !== MANIFEST_VERSION) return err({ code: 'unknown_version', version: v });
  if (kind !== 'segment_closed' && kind !== 'snapshot_pinned') return err({ code: 'unknown_kind', kind });
  return parseDocument(manifestRecordSchema, value);
}

/** The chain value before the first record of a session. */
export function chainGenesis(sessionId: SessionId, sha256: Sha256): Sha256Digest {
  return sha256(genesisBytes(sessionId));
}

/** The chain value of a record that follows `previous`. */
export function chainOf(previous: Sha256Digest, record: Unchained, sha256: Sha256): Sha256Digest {
  const { chain: _, ...unchained } = { chain: undefined, ...record };
  const bytes = linkedBytes(previous, unchained);
  assert(bytes.isOk(), 'a manifest record is JSON');
  return sha256(bytes.value);
}

/** What is signed of a segment's record. The chain covers the signature, so it cannot be taken away unnoticed. */
export function signedDigest(
  previous: Sha256Digest,
  record: Omit<SegmentClosed, 'chain'>,
  sha256: Sha256,
): Sha256Digest {
  const { sig: _, ...unsigned } = record;
  return chainOf(previous, unsigned, sha256);
}

export type Unchained = Omit<SegmentClosed, 'chain'> | Omit<SnapshotPinned, 'chain'>;

/** The path of a segment in its session. It is named by event index, never by time, with zeros so that listings are sorted. */
export function segmentRelPath(firstEventIndex: number, lastEventIndex: number): string {
  const [first, last] = [firstEventIndex, lastEventIndex].map((index) => String(index).padStart(8, '0'));
  return `events/${first}-${last}.jsonl`;
}
