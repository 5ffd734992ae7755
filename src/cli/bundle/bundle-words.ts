import type { TooLargeToShare } from '../../app/bundle/survey-session.ts';
import type { InputFailure, OutputFailure, SealFailure } from '../../app/ports/bundle-output.ts';
import type { BundleRefusal, FormatReason, IntegrityReason } from '../../core/bundle/bundle-refusal.ts';
import type { Salvage } from '../../core/log/health.ts';
import { type Line, notable } from '../output/line.ts';
import type { RefusalTable } from '../problem.ts';

const EXPORT_AGAIN =
  'Export the session again with "workrail export ID --as bundle -o FILE", and import that file unchanged.';

/** The words for a bundle that cannot be imported. */
export const BUNDLE_REFUSALS: RefusalTable<BundleRefusal> = {
  BUNDLE_INVALID_FORMAT: (refusal) => invalidBundle(refusal, formatWords(refusal)),
  BUNDLE_UNSUPPORTED_VERSION: (refusal) => ({
    ...invalidBundle(
      refusal,
      `The bundle has version ${refusal.version} at ${refusal.path}, which this workrail cannot read.`,
    ),
    suggestion: 'Update workrail, then run the command again.',
  }),
  BUNDLE_INTEGRITY_FAILED: (refusal) => {
    const words = INTEGRITY_WORDS[refusal.reason] ?? `is inconsistent (${refusal.reason})`;
    return invalidBundle(refusal, `The bundle was changed after it was exported: ${refusal.path} ${words}.`);
  },
  BUNDLE_MISSING_SNAPSHOT: (refusal) =>
    invalidBundle(refusal, `Snapshot ${refusal.snapshotRef} is missing from the bundle.`),
  BUNDLE_MISSING_PINNED_WORKFLOW: (refusal) =>
    invalidBundle(refusal, `Workflow ${refusal.workflowHash} is missing from the bundle.`),
  BUNDLE_EVENT_ORDER_INVALID: (refusal) =>
    invalidBundle(refusal, `The events are out of order: event ${refusal.position} has the number ${refusal.found}.`),
  BUNDLE_MANIFEST_ORDER_INVALID: (refusal) =>
    invalidBundle(
      refusal,
      `The manifest records are out of order: record ${refusal.position} has the number ${refusal.found}.`,
    ),
};

function invalidBundle({ code, ...facts }: BundleRefusal, whatIsWrong: string) {
  const details = Object.fromEntries(Object.entries(facts));
  return { code, message: `${whatIsWrong} Nothing was written.`, suggestion: EXPORT_AGAIN, details };
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

/** The words for a file that cannot be read or written. */
export const BUNDLE_FILE_REFUSALS: RefusalTable<InputFailure | OutputFailure | SealFailure | TooLargeToShare> = {
  passphrase_wrong: () => ({
    code: 'BUNDLE_INTEGRITY_FAILED',
    message: 'The passphrase is wrong, or the file was changed. Nothing was written.',
    suggestion: 'Run the command again with the passphrase that was used for the export.',
  }),
  seal_unknown: () => ({
    code: 'BUNDLE_UNSUPPORTED_VERSION',
    message: 'The file is encrypted in a form that this workrail cannot read. Nothing was written.',
    suggestion: 'Update workrail, or export the session again.',
  }),
  input_failed: ({ place, cause }) => ({
    message: cause === 'ENOENT' ? `${place} does not exist.` : `${place} could not be read (${cause}).`,
    suggestion: 'Give the path of a bundle written by "workrail export".',
  }),
  input_too_large: ({ size, max }, dataDir) =>
    BUNDLE_REFUSALS.BUNDLE_INVALID_FORMAT({ code: 'BUNDLE_INVALID_FORMAT', reason: 'too_large', size, max }, dataDir),
  output_failed: ({ place, cause }) => ({
    code: 'STORE_IO',
    message: `${place} could not be written (${cause}); no partial file was left.`,
    suggestion: 'Check the folder, its free space and permissions, then run the command again.',
  }),
  session_too_large: ({ measure, size, max }) => ({
    message: `The session is too large for a bundle: ${size} ${measure}, the maximum is ${max}.`,
    suggestion: 'Copy the data directory instead.',
    details: { measure, size, max },
  }),
};

/** Warns that this is only part of a session. */
export function salvageLine({ health, lastEventIndex }: Salvage): Line {
  return [
    notable('Only part of a session'),
    `: ${CAUSES[health]} after event ${lastEventIndex}. It can be read and exported, but not continued.`,
  ];
}

const CAUSES: { readonly [health in Salvage['health']]: string } = {
  corrupt_tail: 'it is damaged',
  unknown_version: 'a newer workrail wrote what comes',
  import_unfinished: 'its import stopped',
};
