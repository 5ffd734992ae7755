import type { JsonObject } from '../../json/json-value.ts';
import type { NodeId } from '../../log/ids.ts';
import type { Recap } from '../../views/recap.ts';
import type { RecapPart } from '../reply-parts.ts';
import { quoteReservedLines } from '../reserved-lines.ts';
import { titleWithoutValues } from '../step/fill-values.ts';

/** The step that a note was written for; one from before the first step or behind the last has only a title. */
export type NotedStep = { readonly stepId?: string; readonly title: string };

/** What a view found of the work so far, under the titles of its steps. */
export function recapPart(recap: Recap, stepOfNote: (nodeId: NodeId) => NotedStep): RecapPart {
  return {
    lines: recap.entries.map(({ nodeId, text }) => {
      const step = stepOfNote(nodeId);
      return { ...step, title: titleWithoutValues(step.title), text };
    }),
    omitted: recap.olderLeftOut,
  };
}

/** The recap as text, oldest first; that something is left out comes before what is there. */
export function recapText({ lines, omitted }: RecapPart, lead: string): string {
  if (lines.length === 0 && omitted === 0) return `${lead}: no notes yet.`;
  const notes = `${omitted} older ${omitted === 1 ? 'note is' : 'notes are'}`;
  const left = omitted === 0 ? '' : ` (${notes} left out; the newest are kept)`;
  return [
    `${lead}${left}:`,
    ...lines.map(({ title, text }) => `### ${title}\n${quoteReservedLines(text.trimEnd())}`),
  ].join('\n\n');
}

/** The recap as data. A short one names the rule by which it was shortened. */
export function recapData({ lines, omitted }: RecapPart): JsonObject {
  return {
    entries: lines.map(({ stepId, title, text }) => ({ ...(stepId === undefined ? {} : { stepId }), title, text })),
    omitted,
    ...(omitted === 0 ? {} : { policy: 'kept_newest' }),
  };
}
