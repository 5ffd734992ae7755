import type { JsonObject } from '../../json/json-value.ts';
import { oneLine } from '../our-lines.ts';
import type { ReplyParts } from '../reply-parts.ts';

type Gap = ReplyParts['gaps'][number];

/** A gap on one line. */
export function gapLine({ severity, reason, summary }: Gap): string {
  return `${severity}, ${reason.category}/${reason.detail}: ${oneLine(summary)}`;
}

export function gapData({ gapId, severity, reason, summary, details }: Gap): JsonObject {
  const { category, detail } = reason;
  return { gapId, severity, category, detail, summary, ...(details === undefined ? {} : { details }) };
}

/** The first thing a finished run says: nothing that was skipped or assumed may get lost at the end. */
export function openGapsText(gaps: readonly Gap[]): string {
  if (gaps.length === 0) return 'No gap is open: everything that was asked for was handed in.';
  const count = gaps.length === 1 ? '1 gap is' : `${gaps.length} gaps are`;
  const lead = `${count} open: skipped, assumed or never handed in. Tell the user about every one:`;
  return [lead, ...gaps.map((gap) => `- ${gapLine(gap)}`)].join('\n');
}
