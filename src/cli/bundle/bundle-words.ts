import type { TooLargeToShare } from '../../app/bundle/survey-session.ts';
import type { OutputFailure } from '../../app/ports/bundle-output.ts';
import { unreachable } from '../../core/assert.ts';
import type { BundleRefusal, FormatReason, IntegrityReason } from '../../core/bundle/bundle-refusal.ts';
import type { ErrorEnvelope, Retry } from '../../core/log/error-envelope.ts';
import type { InputFailure } from '../program.ts';

const NOT_RETRYABLE: Retry = { kind: 'not_retryable' };
const EXPORT_AGAIN =
  'Have it exported again with "workrail export ID --as bundle -o FILE", and import that file as it is.';
const UPDATE = 'Update workrail, then type the command again.';
const UNTOUCHED = 'Nothing was written.';

/** The words for a bundle that cannot be imported. */
export function explainBundle(refusal: BundleRefusal): ErrorEnvelope {
  const { code, ...facts } = refusal;
  const details = Object.fromEntries(Object.entries(facts));
  const told = { code, retry: NOT_RETRYABLE, details } as const;
  switch (refusal.code) {
    case 'BUNDLE_INVALID_FORMAT':
      return { ...told, message: `${formatWords(refusal)} ${UNTOUCHED}`, suggestion: EXPORT_AGAIN };
    case 'BUNDLE_UNSUPPORTED_VERSION':
      return {
        ...told,
        message: `The bundle has version ${refusal.version} at ${refusal.path}, which this workrail does not know. ${UNTOUCHED}`,
        suggestion: UPDATE,
      };
    case 'BUNDLE_INTEGRITY_FAILED':
      return {
        ...told,
        message: `The bundle is not what was exported: ${refusal.path} ${INTEGRITY_WORDS[refusal.reason] ?? `breaks the rules of a history (${refusal.reason})`}. ${UNTOUCHED}`,
        suggestion: EXPORT_AGAIN,
      };
    case 'BUNDLE_MISSING_SNAPSHOT':
      return {
        ...told,
        message: `The bundle lacks snapshot ${refusal.snapshotRef}. ${UNTOUCHED}`,
        suggestion: EXPORT_AGAIN,
      };
    case 'BUNDLE_MISSING_PINNED_WORKFLOW':
      return {
        ...told,
        message: `The bundle lacks workflow ${refusal.workflowHash}. ${UNTOUCHED}`,
        suggestion: EXPORT_AGAIN,
      };
    case 'BUNDLE_EVENT_ORDER_INVALID':
      return {
        ...told,
        message: `Events are out of order: number ${refusal.position} says that it is ${refusal.found}. ${UNTOUCHED}`,
        suggestion: EXPORT_AGAIN,
      };
    case 'BUNDLE_MANIFEST_ORDER_INVALID':
      return {
        ...told,
        message: `Manifest records are out of order: in place ${refusal.position} stands ${refusal.found}. ${UNTOUCHED}`,
        suggestion: EXPORT_AGAIN,
      };
    default:
      return unreachable(refusal);
  }
}

type Misformed = Extract<BundleRefusal, { code: 'BUNDLE_INVALID_FORMAT' }>;

function formatWords({ reason, path, offset, size, max }: Misformed): string {
  const where = path !== undefined && path !== '' ? ` at ${path}` : offset === undefined ? '' : ` at byte ${offset}`;
  const words: { readonly [reason in FormatReason]: string } = {
    too_large: `The file has ${size} bytes; a bundle has at most ${max}.`,
    too_many_events: `The file has more than ${max} events, which no bundle has.`,
    too_deep: `The file is nested too deep for a bundle${where}.`,
    not_json: `The file is no JSON${where}.`,
    missing_field: `The file is no bundle: it has nothing${where}.`,
    unknown_field: `The file is no bundle: nothing of that name belongs${where}.`,
    repeated_field: `The file is no bundle: there are two values${where}.`,
    wrong_name: `The file is no bundle: what stands${where} is not named by a digest.`,
    reserved_name: `The file is no bundle: something is called "__proto__"${where}.`,
    wrong_shape: `The file is no bundle: the value${where} has a wrong shape.`,
    text_too_long: `The file is no bundle: the text${where} is longer than any workflow may have.`,
  };
  return words[reason];
}

const INTEGRITY_WORDS: { readonly [reason in IntegrityReason]?: string } = {
  digest_mismatch: 'has changed',
  not_listed: 'is in no list of what was exported',
  nothing_there: 'was exported and is not there',
  wrong_bundle_id: 'does not fit the rest',
  missing_artifact: 'is named by an event and is not there',
  not_attested: 'is named by no record of the manifest',
  unnamed_content: 'is used by nothing',
  salvage_disagrees: 'tells another end than the events have',
  foreign_session: 'belongs to another session',
  chain_broken: 'was changed, moved or doubled',
  segment_mismatch: 'attests other events than those that are there',
  pins_mismatch: 'lacks the records that belong to it',
  history_inconsistent: 'contradicts what comes before it',
  snapshot_unfit: 'stands at a place that its workflow does not have',
  other_workflow: 'names another workflow than the one that is pinned',
};

/** The words for trouble with the file of a bundle. */
export function explainBundleFile(trouble: InputFailure | OutputFailure | TooLargeToShare): ErrorEnvelope {
  switch (trouble.code) {
    case 'input_failed':
      return {
        code: 'VALIDATION_ERROR',
        message:
          trouble.cause === 'ENOENT'
            ? `There is no file ${trouble.place}.`
            : `${trouble.place} could not be read (${trouble.cause}).`,
        suggestion: 'Type the path of a bundle that "workrail export" made.',
        retry: NOT_RETRYABLE,
      };
    case 'input_too_large': {
      const { size, max } = trouble;
      return explainBundle({ code: 'BUNDLE_INVALID_FORMAT', reason: 'too_large', size, max });
    }
    case 'output_failed':
      return {
        code: 'STORE_IO',
        message: `${trouble.place} could not be written (${trouble.cause}); nothing is left of it.`,
        suggestion: 'Check the folder, its free space and permissions, then type the command again.',
        retry: NOT_RETRYABLE,
      };
    case 'session_too_large':
      return {
        code: 'VALIDATION_ERROR',
        message: `The session is too large for a bundle: ${trouble.measure} ${trouble.size}, at most ${trouble.max}.`,
        suggestion: 'Copy the folder of the session instead, together with the data directory it is in.',
        retry: NOT_RETRYABLE,
        details: { measure: trouble.measure, size: trouble.size, max: trouble.max },
      };
    default:
      return unreachable(trouble);
  }
}
