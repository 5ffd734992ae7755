import { err, type Result } from 'neverthrow';
import { canonicalBytes } from '../../core/json/canonical-bytes.ts';
import type { JsonRefusal } from '../../core/json/canonical-json.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { type ArtifactDigest, artifactDigestSchema } from '../../core/log/ids.ts';
import { type ArtifactRefusal, checkArtifacts } from '../../core/log/operation/output-drafts.ts';
import type { HandedArtifact } from '../../core/run/handed-in.ts';
import type { Hasher } from '../ports/system-services.ts';

/** Artifacts of a call with their digests, and the bytes to store. */
export type SealedArtifacts = {
  readonly artifacts: readonly HandedArtifact[];
  readonly bytes: ReadonlyMap<ArtifactDigest, Uint8Array>;
};

const CONTENT_TYPE = 'application/json';

/** Prepares the artifacts of a call for storing. If one is invalid, none is stored. */
export function sealArtifacts(
  values: readonly JsonObject[],
  { sha256 }: Hasher,
): Result<SealedArtifacts, ArtifactRefusal | JsonRefusal> {
  const sealed: HandedArtifact[] = [];
  const bytesOf = new Map<ArtifactDigest, Uint8Array>();
  for (const value of values) {
    const bytes = canonicalBytes(value);
    if (bytes.isErr()) return err(bytes.error);
    const digest = artifactDigestSchema.parse(sha256(bytes.value));
    const ref = { sha256: digest, contentType: CONTENT_TYPE, byteLength: bytes.value.length };
    sealed.push({ kind: artifactKind(value), value, ref });
    bytesOf.set(digest, bytes.value);
  }
  return checkArtifacts(sealed.map(({ ref }) => ref.byteLength)).map(() => ({ artifacts: sealed, bytes: bytesOf }));
}

/** The declared kind of an artifact. */
export function artifactKind({ kind }: JsonObject): string | undefined {
  return typeof kind === 'string' && kind !== '' ? kind : undefined;
}
