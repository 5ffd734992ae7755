import * as z from 'zod';
import type { ListedWorkflow } from '../../app/catalog/catalog.ts';
import { unreachable } from '../../core/assert.ts';
import { defined } from '../../core/json/json-value.ts';
import { asksForWords, sizeOf } from '../../core/text/words.ts';
import { count } from '../../core/wire/list-shapes.ts';
import {
  conditionsShape,
  type ListedData,
  outlineStepShape,
  type WorkflowShowData,
} from '../../core/wire/workflow-shapes.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { conditionText } from '../../core/workflow/outline/condition-text.ts';
import { type OutlineEntry, promptBytes } from '../../core/workflow/outline/workflow-outline.ts';
import { dim, type Line, strong } from '../output/line.ts';
import { hangText, textWidth } from '../output/text-width.ts';
import { short } from '../sources.ts';

type StepData = z.infer<typeof outlineStepShape>;

export const workflowPreviewData = z.strictObject({
  id: z.string(),
  hash: z.string(),
  steps: z.array(outlineStepShape).readonly(),
  conditions: conditionsShape,
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
      ...(asksFor.length === 0 || !isFull ? [] : below(asksForWords(asksFor))),
      ...(origin === undefined || !isFull ? [] : below(`from ${origin}`)),
    ];
  });
}
