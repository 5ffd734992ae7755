import { canonicalJson } from '../json/canonical-json.ts';
import type { SnapshotRef, WorkflowHash } from '../log/ids.ts';
import type { ViolationReason } from './admit-append.ts';

export type FormatReason =
  | 'too_large'
  | 'too_many_events'
  | 'too_deep'
  | 'not_json'
  | 'missing_field'
  | 'unknown_field'
  | 'repeated_field'
  | 'wrong_name'
  | 'reserved_name'
  | 'wrong_shape'
  | 'text_too_long';

export type IntegrityReason =
  | 'digest_mismatch'
  | 'not_listed'
  | 'nothing_there'
  | 'wrong_bundle_id'
  | 'missing_artifact'
  | 'not_attested'
  | 'unnamed_content'
  | 'salvage_disagrees'
  | ViolationReason;

/** Why a file cannot be imported. `path` names the value in the bundle, `offset` a byte of the file. */
export type BundleRefusal =
  | {
      readonly code: 'BUNDLE_INVALID_FORMAT';
      readonly reason: FormatReason;
      readonly path?: string;
      readonly offset?: number;
      readonly size?: number;
      readonly max?: number;
    }
  | { readonly code: 'BUNDLE_UNSUPPORTED_VERSION'; readonly path: string; readonly version: string }
  | { readonly code: 'BUNDLE_INTEGRITY_FAILED'; readonly reason: IntegrityReason; readonly path: string }
  | { readonly code: 'BUNDLE_MISSING_SNAPSHOT'; readonly snapshotRef: SnapshotRef }
  | { readonly code: 'BUNDLE_MISSING_PINNED_WORKFLOW'; readonly workflowHash: WorkflowHash }
  | { readonly code: 'BUNDLE_EVENT_ORDER_INVALID'; readonly position: number; readonly found: string }
  | { readonly code: 'BUNDLE_MANIFEST_ORDER_INVALID'; readonly position: number; readonly found: string };

const SHOWN_MAX = 120;

/** A value from a file for a message. It may be anything, and as long as the file. */
export function shortValue(value: unknown): string {
  const text = typeof value === 'string' ? value : canonicalJson(value).unwrapOr('nothing');
  return text.slice(0, SHOWN_MAX).toWellFormed();
}

export function invalid(reason: FormatReason, path: string): BundleRefusal {
  return { code: 'BUNDLE_INVALID_FORMAT', reason, path: shortValue(path) };
}

export function broken(reason: IntegrityReason, path: string): BundleRefusal {
  return { code: 'BUNDLE_INTEGRITY_FAILED', reason, path: shortValue(path) };
}

export function newer(path: string, version: unknown): BundleRefusal {
  return { code: 'BUNDLE_UNSUPPORTED_VERSION', path, version: shortValue(version) };
}
