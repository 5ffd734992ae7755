import { type JsonObject, quote } from '../../json/json-value.ts';
import { readPath } from '../../run/condition/context-values.ts';
import { keysAgainst, unsetKeys } from '../../run/condition/deciding-context.ts';
import { conditionFacts } from '../../run/step-place.ts';
import { visibleLine } from '../../text/visible-text.ts';
import { andList, plural } from '../../text/words.ts';
import type { SkippedStep } from '../../views/session-view.ts';
import type { Entry } from '../../workflow/compiled/compiled-loop.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import {
  entriesThrough,
  entryPart,
  guardsOver,
  stepsInside,
  type WorkflowIndex,
} from '../../workflow/compiled/workflow-index.ts';
import { conditionText } from '../../workflow/outline/condition-text.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { titleWithoutValues } from '../step/fill-values.ts';

/** A step that was skipped, and why. */
type SkippedResult = {
  readonly stepId: string;
  readonly title: string;
  /** How many steps of the workflow it stands for: a loop is skipped with all of its steps. */
  readonly steps: number;
  readonly reason: string;
  /** Keys of context whose values were never set. */
  readonly unset: readonly string[];
};

/** What a finished run did. */
export type RunResult = { readonly stepsDone: number; readonly skipped: readonly SkippedResult[] };

export function runResult({ index, facts, line }: ReplyParts): RunResult {
  const asked = conditionFacts({ index, facts, loopVariables: {} });
  const conditionsById = conditionsIn(index);
  const skipped = [...new Set(line.skipped.flatMap((step) => skippedIds(index, step)))].map((stepId): SkippedResult => {
    const conditions = conditionsById.get(stepId) ?? [];
    const unset = [...new Set(conditions.flatMap((condition) => unsetKeys(condition, asked)))];
    const title = index.steps.get(stepId)?.title ?? index.loops.get(stepId)?.title ?? stepId;
    const steps = stepsInside(index, stepId);
    const reason = unset.length > 0 ? neverSet(unset) : reasonOf(index, conditions, facts.context);
    return { stepId, title: visibleLine(titleWithoutValues(title)), steps, reason, unset };
  });
  return { stepsDone: line.stepNumber - 1, skipped };
}

/** Whether no step was skipped only because a value is missing. */
export function isWhole({ skipped }: RunResult): boolean {
  return skipped.every(({ unset }) => unset.length === 0);
}

const SKIPPED_MAX = 20;

/** The first lines about a finished run. */
export function lineText({ stepsDone, skipped }: RunResult): readonly string[] {
  const done = `${plural(stepsDone, 'step')} done.`;
  if (skipped.length === 0) return [`${done} None was skipped.`];
  const groups = groupedByReason(skipped);
  const list = groups.slice(0, SKIPPED_MAX).map((group) => `- ${titlesText(group)}: ${group.reason}`);
  const more = stepCount(groups.slice(SKIPPED_MAX));
  const rest = more > 0 ? [`- and ${more} more`] : [];
  return [[`${done} ${plural(stepCount(skipped), 'step was', 'steps were')} skipped:`, ...list, ...rest].join('\n')];
}

type Group = { readonly reason: string; readonly titles: readonly string[]; readonly steps: number };

/** Steps that were skipped one after the other for the same reason are one line. */
function groupedByReason(skipped: RunResult['skipped']): readonly Group[] {
  const groups: Group[] = [];
  for (const { title, reason, steps } of skipped) {
    const last = groups.at(-1);
    if (last?.reason === reason) {
      groups[groups.length - 1] = { reason, titles: [...last.titles, title], steps: last.steps + steps };
    } else groups.push({ reason, titles: [title], steps });
  }
  return groups;
}

function titlesText({ titles, steps }: Group): string {
  const isLoop = steps > titles.length;
  if (titles.length < 3) {
    return `${titles.map((title) => `"${title}"`).join(' and ')}${isLoop ? ` (${plural(steps, 'step')})` : ''}`;
  }
  return `${steps} steps ("${titles[0]}" … "${titles.at(-1)}")`;
}

function stepCount(parts: readonly { readonly steps: number }[]): number {
  return parts.reduce((count, { steps }) => count + steps, 0);
}

export function resultData({ stepsDone, skipped }: RunResult): JsonObject {
  return {
    stepsDone,
    skipped: skipped.slice(0, SKIPPED_MAX).map(({ stepId, title, reason, unset }) => ({
      stepId,
      title,
      reason,
      ...(unset.length === 0 ? {} : { unset }),
    })),
    ...(skipped.length > SKIPPED_MAX ? { skippedOmitted: skipped.length - SKIPPED_MAX } : {}),
  };
}

/** Why a step or loop was skipped with this context; `undefined` if no condition decides that. */
export function skipReason(
  index: WorkflowIndex,
  { stepId }: Pick<SkippedStep, 'stepId'>,
  context?: JsonObject,
): string | undefined {
  const conditions = conditionsIn(index).get(stepId) ?? [];
  return conditions.length === 0 ? undefined : reasonOf(index, conditions, context);
}

/** How many steps of the workflow a record of skipping stands for: a loop is skipped with all of its steps. */
export function stepsSkipped(index: WorkflowIndex, step: SkippedStep): number {
  return skippedIds(index, step).reduce((sum, stepId) => sum + stepsInside(index, stepId), 0);
}

function neverSet(unset: readonly string[]): string {
  return `${unset.map((key) => quote(key)).join(', ')} was never set.`;
}

function reasonOf(index: WorkflowIndex, conditions: readonly Condition[], context: JsonObject | undefined): string {
  if (conditions.length === 0) return 'not due.';
  const values = context && valuesAgainst(index, conditions, context);
  if (values !== undefined) return visibleLine(`because ${andList(values)}.`);
  // Named conditions stay names: what they mean is in `inspect_workflow`, and is longer than the rest of the reply.
  return visibleLine(`runs only if ${conditions.map((one) => conditionText(one)).join(', and ')}.`);
}

const VALUE_MAX = 40;

/** The values that make the first condition false that is; `undefined` if they are long, or do not explain it. */
function valuesAgainst(
  { conditions: named }: WorkflowIndex,
  conditions: readonly Condition[],
  context: JsonObject,
): readonly string[] | undefined {
  const facts = { context, loopVariables: {}, conditions: named };
  for (const condition of conditions) {
    const keys = keysAgainst(condition, facts);
    if (keys === undefined || keys.length === 0) continue;
    const values = keys.map((key) => valueText(key, readPath(facts, key)));
    return values.some((text) => text.length > VALUE_MAX) ? undefined : values;
  }
  return undefined;
}

function valueText(key: string, value: ReturnType<typeof readPath>): string {
  if (value === undefined || value === null) return `${key} is not set`;
  return Array.isArray(value) && value.length === 0 ? `${key} is empty` : `${key} is ${quote(value)}`;
}

/** All conditions that decide whether a step or a loop is due, the outermost first, by its id. */
function conditionsIn(index: WorkflowIndex): ReadonlyMap<string, readonly Condition[]> {
  const found = new Map<string, readonly Condition[]>();
  const visit = (entries: readonly Entry[], above: readonly Condition[]) => {
    for (const [i, entry] of entries.entries()) {
      const part = entryPart(index, entry);
      const own = part.runCondition === undefined ? [] : [part.runCondition];
      const conditions = [...above, ...guardsOver(entries, i), ...own];
      for (const id of [entry.kind === 'step' ? entry.stepId : entry.loopId, part.stepId]) {
        if (!found.has(id)) found.set(id, conditions);
      }
      if (entry.kind === 'loop') visit(index.loops.get(entry.loopId)?.body ?? [], conditions);
    }
  };
  visit(index.workflow.entries, []);
  return found;
}

/** The steps that an event about skipped steps stands for; only its ends, if others between them were not skipped. */
function skippedIds(index: WorkflowIndex, { stepId, through, count }: SkippedStep): readonly string[] {
  if (through === undefined) return [stepId];
  const all = entriesThrough(index, stepId, through.stepId);
  return all !== undefined && all.length === count ? all : [stepId, through.stepId];
}
