import type { JsonObject } from '../../json/json-value.ts';
import { gapStep } from '../../run/gap-step.ts';
import type { WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { oneLine } from '../reserved-lines.ts';

type Gap = ReplyParts['gaps'][number];

/** A gap on one line, under the step that it was left at where that is known. */
export function gapLine({ severity, reason, summary, details }: Gap, index: WorkflowIndex): string {
  const what = `${severity}, ${reason.category}/${reason.detail}`;
  const step = stepName(details, index);
  return `${step === undefined ? what : `${step} (${what})`}: ${oneLine(summary)}`;
}

export function replyGapData({ gapId, severity, reason, summary, details }: Gap): JsonObject {
  const { category, detail } = reason;
  return { gapId, severity, category, detail, summary, ...(details === undefined ? {} : { details }) };
}

/** The first thing a finished run says: nothing that was skipped or assumed may get lost at the end. */
export function openGapsText(gaps: readonly Gap[], index: WorkflowIndex): string {
  if (gaps.length === 0) return 'No gap is open: everything that was asked for was handed in.';
  const count = gaps.length === 1 ? '1 gap is' : `${gaps.length} gaps are`;
  const lead = `${count} open: skipped, assumed or never handed in. Tell the user about every one:`;
  return [lead, ...gaps.map((gap) => `- ${gapLine(gap, index)}`)].join('\n');
}

/** A title that holds values of its round says nothing without them, so the id stands for it. */
function stepName(details: JsonObject | undefined, index: WorkflowIndex): string | undefined {
  const found = gapStep(details, index);
  if (found === undefined) return undefined;
  const { step, loopPath } = found;
  const name = step.title.includes('{{') ? step.stepId : oneLine(step.title);
  const round = loopPath.map(({ iteration }) => iteration + 1).join('.');
  return `"${name}"${round === '' ? '' : `, round ${round}`}`;
}
