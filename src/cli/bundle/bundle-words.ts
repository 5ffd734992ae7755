import type { TooLargeToShare } from '../../app/bundle/survey-session.ts';
import type { InputFailure, OutputFailure } from '../../app/ports/bundle-output.ts';
import { unreachable } from '../../core/assert.ts';
import type { BundleRefusal, FormatReason, IntegrityReason } from '../../core/bundle/bundle-refusal.ts';
import type { ErrorEnvelope } from '../../core/log/error-envelope.ts';
import type { Salvage } from '../../core/log/health.ts';
import { type Line, notable } from '../output/line.ts';
import { errorWords } from '../problem.ts';

const EXPORT_AGAIN =
  'Export the session again with "workrail export ID --as bundle -o FILE", and import that file unchanged.';

/** The words for a bundle that cannot be imported. */
export function explainBundle(refusal: BundleRefusal): ErrorEnvelope {
  const { code, ...facts } = refusal;
  const suggestion =
    code === 'BUNDLE_UNSUPPORTED_VERSION' ? 'Update workrail, then run the command again.' : EXPORT_AGAIN;
  return {
    ...errorWords(code, `${whatIsWrong(refusal)} Nothing was written.`, suggestion),
    details: Object.fromEntries(Object.entries(facts)),
  };
}

function whatIsWrong(refusal: BundleRefusal): string {
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
    default:
      return unreachable(refusal);
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

/** The words for a file that cannot be read or written. */
export function explainBundleFile(trouble: InputFailure | OutputFailure | TooLargeToShare): ErrorEnvelope {
  switch (trouble.code) {
    case 'input_failed':
      return errorWords(
        'VALIDATION_ERROR',
        trouble.cause === 'ENOENT'
          ? `${trouble.place} does not exist.`
          : `${trouble.place} could not be read (${trouble.cause}).`,
        'Give the path of a bundle written by "workrail export".',
      );
    case 'input_too_large': {
      const { size, max } = trouble;
      return explainBundle({ code: 'BUNDLE_INVALID_FORMAT', reason: 'too_large', size, max });
    }
    case 'output_failed':
      return errorWords(
        'STORE_IO',
        `${trouble.place} could not be written (${trouble.cause}); no partial file was left.`,
        'Check the folder, its free space and permissions, then run the command again.',
      );
    case 'session_too_large': {
      const { measure, size, max } = trouble;
      return {
        ...errorWords(
          'VALIDATION_ERROR',
          `The session is too large for a bundle: ${size} ${measure}, the maximum is ${max}.`,
          'Copy the data directory instead.',
        ),
        details: { measure, size, max },
      };
    }
    default:
      return unreachable(trouble);
  }
}

/** Warns that this is only part of a session. */
export function salvageLine({ health, lastEventIndex }: Salvage): Line {
  return [
    notable('Only part of a session'),
    `: ${causeOf(health)} after event ${lastEventIndex}. It can be read and exported, but not continued.`,
  ];
}

function causeOf(health: Salvage['health']): string {
  switch (health) {
    case 'corrupt_tail':
      return 'it is damaged';
    case 'unknown_version':
      return 'a newer workrail wrote what comes';
    case 'import_unfinished':
      return 'its import stopped';
    default:
      return unreachable(health);
  }
}
