import * as z from 'zod';
import type { ListedWorkflow } from '../../app/catalog/catalog.ts';
import { unreachable } from '../../core/assert.ts';
import { defined } from '../../core/json/json-value.ts';
import { WORKFLOW_SOURCE_KINDS } from '../../core/log/events/run-events.ts';
import { sizeOf } from '../../core/text/words.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { conditionText } from '../../core/workflow/outline/condition-text.ts';
import { type OutlineEntry, promptBytes } from '../../core/workflow/outline/workflow-outline.ts';
import { dim, type Line, strong } from '../output/line.ts';
import { hangText, textWidth } from '../output/text-width.ts';
import { short } from '../sources.ts';

const count = z.int().min(0);

const listed = z.strictObject({
  id: z.string(),
  kind: z.enum(['workflow', 'routine']),
  name: z.string(),
  description: z.string(),
  tags: z.array(z.string()).readonly(),
  source: z.enum(WORKFLOW_SOURCE_KINDS),
  /** The source it comes from, by the name in `workrail source list`. */
  added: z
    .strictObject({ name: z.string(), kind: z.enum(['git', 'folder', 'package']), commit: z.string().exactOptional() })
    .exactOptional(),
  path: z.string(),
  /** Files with the same id that this one overrides. */
  shadows: z.array(z.string()).readonly(),
  warnings: count,
  /** The new id proposed for an old-style id. */
  suggestedId: z.string().exactOptional(),
});
export type ListedData = z.infer<typeof listed>;

export const workflowListData = z.strictObject({
  workflows: z.array(listed).readonly(),
  invalid: z
    .array(z.strictObject({ path: z.string(), id: z.string().exactOptional(), errors: count, first: z.string() }))
    .readonly(),
});
export type WorkflowListData = z.infer<typeof workflowListData>;

const step = z.strictObject({
  kind: z.enum(['step', 'loop']),
  id: z.string(),
  title: z.string(),
  /** How many loops it is in. */
  depth: count,
  when: z.string().exactOptional(),
  repeats: z.string().exactOptional(),
  asksFor: z.array(z.string()).readonly(),
  promptBytes: count.exactOptional(),
  /** The template or feature that added it. */
  origin: z.string().exactOptional(),
});
type StepData = z.infer<typeof step>;

/** What the names in `when` and `repeats` mean. */
const conditions = z.array(z.strictObject({ id: z.string(), when: z.string() })).readonly();

const size = z.strictObject({
  steps: count,
  loops: count,
  conditional: count,
  promptBytes: z.strictObject({ median: count, max: count, total: count }),
});

export const workflowShowData = z.strictObject({
  ...listed.shape,
  hash: z.string(),
  version: z.string().exactOptional(),
  about: z.string().exactOptional(),
  examples: z.array(z.string()).readonly(),
  size,
  steps: z.array(step).readonly(),
  conditions,
});
export type WorkflowShowData = z.infer<typeof workflowShowData>;

export const workflowPreviewData = z.strictObject({
  id: z.string(),
  hash: z.string(),
  steps: z.array(step).readonly(),
  conditions,
  /** The requested step as an agent reads it; tokens are placeholders. */
  step: z
    .strictObject({
      stepId: z.string(),
      text: z.string(),
      bytes: count,
      /** Conditions that skip it in this context. */
      failing: z.array(z.string()).readonly(),
    })
    .exactOptional(),
});
export type WorkflowPreviewData = z.infer<typeof workflowPreviewData>;

export function listedWorkflowData(listed: ListedWorkflow): ListedData {
  const { id, kind, name, description, tags, sourceKind, file, shadows, warnings, suggestedId } = listed;
  return {
    id,
    kind,
    name,
    description,
    tags,
    source: sourceKind,
    ...defined({ added: file.added, suggestedId }),
    path: file.path,
    shadows: shadows.map(({ path }) => path),
    warnings: warnings.length,
  };
}

/** The name and pinned commit of the source, or the kind of place. */
export function sourceText({ source, added }: Pick<ListedData, 'source' | 'added'>): string {
  if (added === undefined) return source;
  const { name, kind, commit } = added;
  return `${name} (${kind}${commit === undefined ? '' : ` ${short(commit)}`})`;
}

/** Steps and loops in order, each with its depth. */
export function outlineData(entries: readonly OutlineEntry[], depth = 0): readonly StepData[] {
  return entries.flatMap((entry): readonly StepData[] => {
    const when = entry.when === undefined ? {} : { when: entry.when };
    switch (entry.kind) {
      case 'loop': {
        const { stepId, title, maxIterations } = entry.loop;
        const repeats = `${entry.repeats}, at most ${maxIterations} times`;
        const head = { kind: 'loop' as const, id: stepId, title, depth, ...when, repeats, asksFor: [] };
        return [head, ...outlineData(entry.body, depth + 1)];
      }
      case 'step': {
        const { step, asksFor } = entry;
        const { provenance } = step;
        const origin = provenance.source === 'authored' ? {} : { origin: provenance.originId };
        const head = { kind: 'step' as const, id: step.stepId, title: step.title, depth };
        return [{ ...head, ...when, asksFor, promptBytes: promptBytes(step), ...origin }];
      }
      default:
        return unreachable(entry);
    }
  });
}

/** A longer id has its condition on the next line. */
const CONDITION_ID_MAX = 30;

/** What each named condition means. */
export function conditionsData({ conditions }: CompiledWorkflow): WorkflowShowData['conditions'] {
  return conditions.map(({ conditionId, condition }) => ({ id: conditionId, when: conditionText(condition) }));
}

export function conditionLines(conditions: WorkflowShowData['conditions'], width: number): readonly Line[] {
  const widest = Math.max(0, ...conditions.map(({ id }) => id.length));
  const rest = Math.min(widest + 6, CONDITION_ID_MAX);
  return [
    ...(conditions.length === 0 ? [] : [[], [strong('Conditions')]]),
    ...conditions.flatMap(({ id, when }) =>
      hangText(when, { first: `    ${id}`, rest, width }).map((line): Line => [line]),
    ),
  ];
}

/** One line per step, with details below it. */
export function outlineLines(
  steps: readonly StepData[],
  { isFull, width: columns }: { readonly isFull: boolean; readonly width: number },
): readonly Line[] {
  const width = Math.max(0, ...steps.map(({ id, depth }) => id.length + 2 * depth));
  return steps.flatMap((step): readonly Line[] => {
    const { kind, id, title, depth, when, repeats, asksFor, promptBytes: bytes, origin } = step;
    const indent = '  '.repeat(depth);
    const mark = kind === 'loop' ? '↻ ' : '  ';
    const below = (words: string) =>
      hangText(words, { first: '', rest: indent.length + 8, width: columns }).map((text): Line => [dim(text)]);
    const size = bytes === undefined ? '' : `  ${sizeOf(bytes)}`;
    const room = columns - width - 6;
    const isBeside = textWidth(title) + size.length <= room;
    return [
      [
        `  ${indent}${mark}`,
        strong(isBeside ? id.padEnd(width - 2 * depth) : id),
        isBeside ? `  ${title}` : '',
        dim(size),
      ],
      ...(isBeside
        ? []
        : hangText(title, { first: '', rest: indent.length + 8, width: columns }).map((line): Line => [line])),
      ...(repeats === undefined ? [] : below(repeats)),
      ...(when === undefined ? [] : below(`when ${when}`)),
      ...(asksFor.length === 0 || !isFull ? [] : below(`asks for ${asksFor.join(', ')}`)),
      ...(origin === undefined || !isFull ? [] : below(`from ${origin}`)),
    ];
  });
}
