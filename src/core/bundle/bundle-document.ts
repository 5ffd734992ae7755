import * as z from 'zod';
import { assert } from '../assert.ts';
import { canonicalJson, type Sha256 } from '../json/canonical-json.ts';
import { sessionEventSchema } from '../log/event.ts';
import { executionSnapshotSchema } from '../log/execution-snapshot.ts';
import { salvageSchema } from '../log/health.ts';
import {
  artifactDigestSchema,
  derivedBits,
  ID_BODY_PATTERN,
  plainDigestSchema,
  SessionId,
  snapshotRefSchema,
  workflowHashSchema,
} from '../log/ids.ts';
import { manifestRecordSchema } from '../log/manifest.ts';
import { toBase32 } from '../text/binary-text.ts';
import { compiledWorkflowSchema } from '../workflow/compiled/compiled-workflow.ts';

/** Limits of a bundle. A larger file is refused before its content is read. */

/** A whole bundle is in memory once while it is checked. */
export const BUNDLE_BYTES_MAX = 256 * 1024 * 1024;
/** Far more than any real session has; limits the time of the check. */
export const BUNDLE_EVENTS_MAX = 1_000_000;
/** The deepest context inside a stored reply, with some room. */
export const BUNDLE_DEPTH_MAX = 64;

export const BUNDLE_VERSION = 1;
export const INTEGRITY_KIND = 'sha256_manifest_v1';

/** A value of the bundle, with the hash and the length of its canonical JSON. */
export const integrityEntrySchema = z.strictObject({
  path: z.string().min(1),
  sha256: plainDigestSchema,
  bytes: z.int().min(0).max(BUNDLE_BYTES_MAX),
});
export type IntegrityEntry = z.infer<typeof integrityEntrySchema>;

/** Derived from the whole content: the same session in the same state has the same id. */
export const bundleIdSchema = z.string().regex(new RegExp(`^bundle_${ID_BODY_PATTERN}$`));

/** For people only, like `producer`: no decision depends on it. */
export const exportedAtSchema = z.iso.datetime();

export const producerSchema = z.object({
  appVersion: z.string().min(1),
  appliedConfigHash: plainDigestSchema.optional(),
});
export type Producer = z.infer<typeof producerSchema>;

/** A session as one document, from which another machine can continue. It contains no tokens. */
export const bundleSchema = z.strictObject({
  bundleSchemaVersion: z.literal(BUNDLE_VERSION),
  bundleId: bundleIdSchema,
  exportedAt: exportedAtSchema,
  producer: producerSchema,
  integrity: z.strictObject({ kind: z.literal(INTEGRITY_KIND), entries: z.array(integrityEntrySchema) }),
  session: z.strictObject({
    sessionId: SessionId.schema,
    /** Ascending by `eventIndex`, from 0. */
    events: z.array(sessionEventSchema).min(1).max(BUNDLE_EVENTS_MAX),
    /** Ascending by `manifestIndex`, from 0. */
    manifest: z.array(manifestRecordSchema).min(1),
    snapshots: z.record(snapshotRefSchema, executionSnapshotSchema),
    pinnedWorkflows: z.record(workflowHashSchema, compiledWorkflowSchema),
    /** The bytes of artifacts in base64; absent if there are none. */
    artifacts: z.record(artifactDigestSchema, z.base64()).optional(),
    /** Present if this is only the readable part of a session. */
    salvage: salvageSchema.optional(),
  }),
});

/** The tables of content in a bundle. */
export const TABLES = ['artifacts', 'pinnedWorkflows', 'snapshots'] as const;
export type TableName = (typeof TABLES)[number];

export function bundleIdOf(entries: readonly IntegrityEntry[], sha256: Sha256): string {
  const parts = inPathOrder(entries).flatMap(({ path, sha256: digest, bytes }) => [path, digest, bytes]);
  return `bundle_${toBase32(derivedBits(['bundle', ...parts], sha256))}`;
}

export function inPathOrder(entries: readonly IntegrityEntry[]): readonly IntegrityEntry[] {
  return [...entries].sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** When and by what a bundle was made. */
export type BundleEnvelope = { readonly exportedAt: string; readonly producer: Producer };

/** The canonical JSON of a bundle up to its session. */
export function bundleHead(
  { exportedAt, producer }: BundleEnvelope,
  entries: readonly IntegrityEntry[],
  sha256: Sha256,
): { readonly text: string; readonly bundleId: string } {
  const bundleId = bundleIdOf(entries, sha256);
  const head = canonicalJson({
    bundleId,
    bundleSchemaVersion: BUNDLE_VERSION,
    exportedAt,
    integrity: { kind: INTEGRITY_KIND, entries: inPathOrder(entries) },
    producer,
  });
  assert(head.isOk(), 'the head of a bundle is JSON');
  return { text: `${head.value.slice(0, -1)},"session":`, bundleId };
}
