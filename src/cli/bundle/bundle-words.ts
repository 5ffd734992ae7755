import type { TooLargeToShare } from '../../app/bundle/survey-session.ts';
import type { InputFailure, OutputFailure, SealFailure } from '../../app/ports/bundle-output.ts';
import { type BundleRefusal, bundleRefusalWords } from '../../core/bundle/bundle-refusal.ts';
import type { Salvage } from '../../core/log/health.ts';
import { type Line, notable } from '../output/line.ts';
import type { RefusalTable } from '../problem.ts';

const EXPORT_AGAIN =
  'Export the session again with "workrail export ID --as bundle -o FILE", and import that file unchanged.';

/** The words for a bundle that cannot be imported. */
export const BUNDLE_REFUSALS: RefusalTable<BundleRefusal> = {
  BUNDLE_INVALID_FORMAT: invalidBundle,
  BUNDLE_UNSUPPORTED_VERSION: (refusal) => ({
    ...invalidBundle(refusal),
    suggestion: 'Update workrail, then run the command again.',
  }),
  BUNDLE_INTEGRITY_FAILED: invalidBundle,
  BUNDLE_MISSING_SNAPSHOT: invalidBundle,
  BUNDLE_MISSING_PINNED_WORKFLOW: invalidBundle,
  BUNDLE_EVENT_ORDER_INVALID: invalidBundle,
  BUNDLE_MANIFEST_ORDER_INVALID: invalidBundle,
};

function invalidBundle(refusal: BundleRefusal) {
  const { code, ...facts } = refusal;
  const details = Object.fromEntries(Object.entries(facts));
  return { code, message: `${bundleRefusalWords(refusal)} Nothing was written.`, suggestion: EXPORT_AGAIN, details };
}

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
  output_exists: ({ place }) => ({
    message: `${place} already exists and was not changed.`,
    suggestion: 'Choose another file, or add --force to replace it.',
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
