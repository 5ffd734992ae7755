import type { JsonObject } from '../json/json-value.ts';
import { quote } from '../json/quote.ts';
import type { ArtifactRef } from '../log/operation/output-drafts.ts';

/** A structured result that an agent sent. */
export type HandedArtifact = {
  /** The kind that the artifact states; it may state none. */
  readonly kind: string | undefined;
  readonly value: JsonObject;
  readonly ref: ArtifactRef;
};

/** What an attempt sends. Blank notes count as none. */
export type HandedIn = {
  readonly notesMarkdown: string | undefined;
  readonly artifacts: readonly HandedArtifact[];
};

/**
 * What counts for an attempt: this call merged over the blocked attempts above it, oldest first. The later one wins,
 * for notes and for each slot of artifacts, so that nothing needs to be sent twice.
 */
export function mergeHandedIn(attempts: readonly HandedIn[]): HandedIn {
  const bySlot = new Map<string, readonly HandedArtifact[]>();
  for (const { artifacts } of attempts) {
    for (const slot of new Set(artifacts.map(slotOf))) {
      // Removed first, so that what was sent later also comes later.
      bySlot.delete(slot);
      bySlot.set(
        slot,
        artifacts.filter((artifact) => slotOf(artifact) === slot),
      );
    }
  }
  return {
    notesMarkdown: attempts.findLast(({ notesMarkdown }) => notesMarkdown !== undefined)?.notesMarkdown,
    artifacts: [...bySlot.values()].flat(),
  };
}

/** Artifacts of one kind that are about different things do not replace each other. */
function slotOf({ kind, value }: HandedArtifact): string {
  const about = value['assessmentId'] ?? value['capability'] ?? null;
  return quote([kind ?? null, typeof about === 'string' ? about : null]);
}
