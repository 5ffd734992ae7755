import * as z from 'zod';
import { assert } from '../assert.ts';
import { canonicalJson, canonicalLength } from '../json/canonical-json.ts';
import { defined } from '../json/json-value.ts';
import { truncate, utf8Length, utf8Prefix } from '../text/utf8.ts';
import { BLOCKER_FIX_BYTES_MAX, BLOCKER_MESSAGE_BYTES_MAX, BLOCKERS_MAX, DETAILS_BYTES_MAX } from './budgets.ts';
import { detailsSchema, textSchema } from './document-schema.ts';
import { contextKeySchema, stepIdSchema } from './ids.ts';
import { BLOCKER_CODES } from './reasons.ts';

/** Optional abilities of an agent that a workflow depends on. Ordinary tools are not listed. */
export const CAPABILITIES = ['delegation', 'web_browsing'] as const;
export const capabilitySchema = z.enum(CAPABILITIES);
export type Capability = z.infer<typeof capabilitySchema>;

export const CAPABILITY_STATUSES = ['unknown', 'available', 'unavailable'] as const;
export const capabilityStatusSchema = z.enum(CAPABILITY_STATUSES);
export type CapabilityStatus = z.infer<typeof capabilityStatusSchema>;

/** A contract of the built-in registry. */
export const contractRefSchema = z
  .string()
  .regex(/^wr\.contracts\.[a-z0-9_-]+$/)
  .brand<'ContractRef'>();

/** What a blocker is about. */
export const blockerPointerSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('context_key'), key: contextKeySchema }),
  z.object({ kind: z.literal('output_contract'), contractRef: contractRefSchema }),
  z.object({ kind: z.literal('capability'), capability: capabilitySchema }),
  z.object({ kind: z.literal('workflow_step'), stepId: stepIdSchema }),
]);

/** What an error may point at. A context over its budget is refused before any attempt, so it is never a blocker. */
export const errorPointerSchema = z.discriminatedUnion('kind', [
  ...blockerPointerSchema.options,
  z.object({ kind: z.literal('context_budget') }),
]);

export const blockerSchema = z.object({
  code: z.enum(BLOCKER_CODES),
  pointer: blockerPointerSchema,
  message: textSchema(BLOCKER_MESSAGE_BYTES_MAX),
  suggestedFix: textSchema(BLOCKER_FIX_BYTES_MAX).optional(),
  details: detailsSchema(DETAILS_BYTES_MAX).optional(),
});
export type Blocker = z.infer<typeof blockerSchema>;

/** At least one blocker, each code and pointer once, in order. A report over its budget is refused, never cut. */
export const blockerReportSchema = z
  .array(blockerSchema)
  .min(1)
  .max(BLOCKERS_MAX)
  .refine(
    (blockers) => blockers.every((blocker, i) => i === 0 || compareBlockers(blockers[i - 1] ?? blocker, blocker) < 0),
    {
      error: 'blockers must be sorted by code and pointer, each once',
    },
  );
export type BlockerReport = readonly Blocker[];

/** The order of blockers: code, pointer kind, then the fields of the pointer. Zero means the same place. */
export function compareBlockers(a: Blocker, b: Blocker): number {
  const left = sortKey(a);
  const right = sortKey(b);
  for (let i = 0; i < left.length; i++) {
    const x = left[i] ?? '';
    const y = right[i] ?? '';
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}

function sortKey({ code, pointer }: Blocker): readonly string[] {
  return [code, pointer.kind, canonicalJson(pointer).unwrapOr('')];
}

/** A report of everything that is unmet, within its budget: one blocker for each place, and a count of the rest. */
export function blockerReport(findings: readonly Blocker[]): BlockerReport {
  assert(findings.length > 0, 'a report has at least one blocker');
  const groups = groupByPlace(findings);
  const shown = groups.slice(0, BLOCKERS_MAX);
  const hidden = groups.slice(BLOCKERS_MAX).flat().length;
  return shown.map((group, i) => merge(group, i === shown.length - 1 ? hidden : 0));
}

type Group = readonly [Blocker, ...Blocker[]];

function groupByPlace(findings: readonly Blocker[]): readonly Group[] {
  const groups: [Blocker, ...Blocker[]][] = [];
  for (const finding of [...findings].sort(compareBlockers)) {
    const group = groups.at(-1);
    if (group !== undefined && compareBlockers(group[0], finding) === 0) group.push(finding);
    else groups.push([finding]);
  }
  return groups;
}

function merge(group: Group, hidden: number): Blocker {
  const [{ code, pointer }] = group;
  const fixes = [...new Set(group.flatMap(({ suggestedFix }) => suggestedFix ?? []))].join('\n');
  // Details are optional, so those over budget are dropped instead of refusing the report.
  const details = group.find((one) => one.details && canonicalLength(one.details) <= DETAILS_BYTES_MAX)?.details;
  const messages = group.map(({ message }) => message);
  return defined({
    code,
    pointer,
    message: fitMessages(messages, hidden),
    suggestedFix: fixes === '' ? undefined : truncate(fixes, BLOCKER_FIX_BYTES_MAX),
    details,
  });
}

/** As many whole messages as fit, then the count of the others. */
function fitMessages(messages: readonly string[], hidden: number): string {
  for (let kept = messages.length; kept > 0; kept--) {
    const text = messages.slice(0, kept).join(' ') + andMore(messages.length - kept + hidden);
    if (utf8Length(text) <= BLOCKER_MESSAGE_BYTES_MAX) return text;
  }
  const more = messages.length - 1 + hidden;
  const first = messages[0] ?? '';
  if (more === 0) return truncate(first, BLOCKER_MESSAGE_BYTES_MAX);
  const tail = `…${andMore(more)}`;
  return utf8Prefix(first, BLOCKER_MESSAGE_BYTES_MAX - utf8Length(tail)) + tail;
}

function andMore(count: number): string {
  return count === 0 ? '' : ` and ${count} more`;
}
