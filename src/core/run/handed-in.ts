import type { JsonObject } from '../json/json-value.ts';
import { quote } from '../json/quote.ts';
import type { ArtifactRef } from '../log/operation/output-drafts.ts';

/** A structured result that an agent sent. */
export type HandedArtifact = {
  /** What the artifact says it is; an artifact may fail to say so. */
  readonly kind: string | undefined;
  readonly value: JsonObject;
  readonly ref: ArtifactRef;
};

/** What an attempt has to show. Blank notes are no notes. */
export type HandedIn = {
  readonly notesMarkdown: string | undefined;
  readonly artifacts: readonly HandedArtifact[];
};

/**
 * What counts for an attempt: this call on top of what the blocked attempts above it already held, oldest first. The
 * later one wins, for notes and for each slot of artifacts, so that nothing needs to be typed twice.
 */
export function mergeHandedIn(attempts: readonly HandedIn[]): HandedIn {
  const bySlot = new Map<string, readonly HandedArtifact[]>();
  for (const { artifacts } of attempts) {
    for (const slot of new Set(artifacts.map(slotOf))) {
      // Taken out first, so that what came later also stands later.
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
