import { canonicalJson } from '../json/canonical-json.ts';
import { quote } from '../json/json-value.ts';
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
  return {
    code: 'BUNDLE_UNSUPPORTED_VERSION',
    path,
    // A number that was written as a text must not read like the number.
    version: typeof version === 'string' ? quote(shortValue(version)) : shortValue(version),
  };
}

/** What is wrong with a file, in words for a person. */
export function bundleRefusalWords(refusal: BundleRefusal): string {
  switch (refusal.code) {
    case 'BUNDLE_INVALID_FORMAT':
      return formatWords(refusal);
    case 'BUNDLE_UNSUPPORTED_VERSION':
      return `The bundle has version ${refusal.version} at ${refusal.path}, which this workrail cannot read.`;
    case 'BUNDLE_INTEGRITY_FAILED': {
      const words = INTEGRITY_WORDS[refusal.reason] ?? `is inconsistent (${refusal.reason})`;
      return `The bundle was changed after it was exported: ${refusal.path} ${words}.`;
    }
    case 'BUNDLE_MISSING_SNAPSHOT':
      return `Snapshot ${refusal.snapshotRef} is missing from the bundle.`;
    case 'BUNDLE_MISSING_PINNED_WORKFLOW':
      return `Workflow ${refusal.workflowHash} is missing from the bundle.`;
    case 'BUNDLE_EVENT_ORDER_INVALID':
      return `The events are out of order: event ${refusal.position} has the number ${refusal.found}.`;
    case 'BUNDLE_MANIFEST_ORDER_INVALID':
      return `The manifest records are out of order: record ${refusal.position} has the number ${refusal.found}.`;
  }
}

type Misformed = Extract<BundleRefusal, { code: 'BUNDLE_INVALID_FORMAT' }>;

function formatWords({ reason, path, offset, size, max }: Misformed): string {
  const where = path !== undefined && path !== '' ? ` at ${path}` : offset === undefined ? '' : ` at byte ${offset}`;
  const words: { readonly [reason in FormatReason]: string } = {
    too_large: `The file has ${size} bytes; a bundle can have ${max}.`,
    too_many_events: `The file has more than ${max} events, the maximum for a bundle.`,
    too_deep: `The file is nested too deeply for a bundle${where}.`,
    not_json: `The file is not valid JSON${where}.`,
    missing_field: `The file is not a bundle: a required field is missing${where}.`,
    unknown_field: `The file is not a bundle: unknown field${where}.`,
    repeated_field: `The file is not a bundle: duplicate field${where}.`,
    wrong_name: `The file is not a bundle: the name${where} is not a digest.`,
    reserved_name: `The file is not a bundle: the name "__proto__" is reserved${where}.`,
    wrong_shape: `The file is not a bundle: invalid value${where}.`,
    text_too_long: `The file is not a bundle: the text${where} is too long for a workflow.`,
  };
  return words[reason];
}

const INTEGRITY_WORDS: { readonly [reason in IntegrityReason]?: string } = {
  digest_mismatch: 'has changed',
  not_listed: 'is not in the list of exported parts',
  nothing_there: 'was exported and is missing',
  wrong_bundle_id: 'does not match the content',
  missing_artifact: 'is used by an event and is missing',
  not_attested: 'is not recorded in the manifest',
  unnamed_content: 'is not used by anything',
  salvage_disagrees: 'names a different end from the one the events have',
  foreign_session: 'belongs to another session',
  chain_broken: 'was changed, moved or duplicated',
  segment_mismatch: 'records different events from those in the bundle',
  pins_mismatch: 'lacks the records that belong to it',
  history_inconsistent: 'contradicts what comes before it',
  snapshot_unfit: 'is at a step that its workflow does not have',
  other_workflow: 'names a different workflow from the one the run was started with',
};
