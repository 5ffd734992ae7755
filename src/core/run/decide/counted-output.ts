import { ARTIFACTS_PER_CALL_MAX } from '../../log/budgets.ts';
import { type HandedIn, mergeHandedIn } from '../handed-in.ts';
import type { UnreadableArtifact } from '../requirements/step-check.ts';

/** What an attempt has to show together with the blocked attempts above it. */
export type CountedOutput = { readonly handedIn: HandedIn; readonly leftOut: readonly UnreadableArtifact[] };

/**
 * Merges the drafts and this call. Blocked attempts may pile up more artifacts than one plan takes, so as many count as
 * one call may hold, the newest of them; the others stay where they are kept.
 */
export function whatCounts({
  drafts,
  handedIn,
}: {
  readonly drafts: readonly HandedIn[];
  readonly handedIn: HandedIn;
}): CountedOutput {
  const { notesMarkdown, artifacts } = mergeHandedIn([...drafts, handedIn]);
  const older = artifacts.length - ARTIFACTS_PER_CALL_MAX;
  if (older <= 0) return { handedIn: { notesMarkdown, artifacts }, leftOut: [] };
  const message = `Only the newest ${ARTIFACTS_PER_CALL_MAX} artifacts of the attempts at this step count. Older ones that do not: ${older}. They stay with the attempt that brought them; send again what is still needed.`;
  return {
    handedIn: { notesMarkdown, artifacts: artifacts.slice(older) },
    leftOut: [{ artifactKind: undefined, message }],
  };
}
