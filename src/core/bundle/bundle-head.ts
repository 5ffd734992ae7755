import { assert } from '../assert.ts';
import type { Sha256 } from '../json/canonical-bytes.ts';
import { canonicalJson } from '../json/canonical-json.ts';
import {
  BUNDLE_VERSION,
  bundleIdOf,
  INTEGRITY_KIND,
  type IntegrityEntry,
  inPathOrder,
  type Producer,
} from './bundle-document.ts';

/** What a bundle says about itself. */
export type BundleEnvelope = { readonly exportedAt: string; readonly producer: Producer };

/** The canonical JSON of a bundle up to where its session begins. */
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
