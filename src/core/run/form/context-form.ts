import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import type { CompiledLoop } from '../../workflow/compiled/compiled-loop.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import { conditionLeaves } from '../../workflow/compiled/condition.ts';
import { writtenConditions } from '../../workflow/compiled/condition-references.ts';
import { criteriaRules } from '../../workflow/compiled/criteria.ts';
import type { WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { contextVariable, itemsLike } from '../requirements/sample-values.ts';
import { blank, choiceBlank } from './blank.ts';

/** Context keys that a step is meant to set and that have no value yet, with a blank for each. */
export function contextForm({
  index,
  step,
  context,
}: {
  readonly index: WorkflowIndex;
  readonly step: CompiledStep;
  readonly context: JsonObject;
}): JsonObject {
  const keys = (keysByStep(index).get(step.stepId) ?? []).filter((key) => !Object.hasOwn(context, key));
  return Object.fromEntries(keys.map((key) => [key, keyBlank(index, key)]));
}

/** A blank for a context key, with the values that conditions compare it with. */
export function keyBlank(index: WorkflowIndex, key: string): JsonValue {
  const { choices, isNumber, loop } = comparedWith(index.workflow).get(key) ?? NOTHING_KNOWN;
  if (choices.length > 1) return choiceBlank(choices);
  if (loop !== undefined) return itemsLike(index, loop, ITEM_BLANKS);
  if (isNumber) return blank(`number for ${key}`);
  if (choices.length === 1) return typeof choices[0] === 'boolean' ? choiceBlank([true, false]) : choiceBlank(choices);
  return blank(`value of ${key}`);
}

/** Blanks for what a loop iterates over. */
export const ITEM_BLANKS = {
  count: blank('whole number, 0 or more'),
  item: (name: string) => blank(`one ${name} per entry`),
};

type Compared = {
  readonly choices: readonly JsonValue[];
  readonly isNumber: boolean;
  /** A loop that iterates over the value, or that takes it as the number of rounds. */
  readonly loop?: CompiledLoop | undefined;
};
const NOTHING_KNOWN: Compared = { choices: [], isNumber: false };

/** A pinned workflow never changes, and every reply asks. */
const compared = new WeakMap<CompiledWorkflow, ReadonlyMap<string, Compared>>();
const meant = new WeakMap<CompiledWorkflow, ReadonlyMap<string, readonly string[]>>();

function comparedWith(workflow: CompiledWorkflow): ReadonlyMap<string, Compared> {
  const known = compared.get(workflow);
  if (known !== undefined) return known;
  const found = new Map<string, Compared>();
  const note = (key: string, change: (before: Compared) => Compared) =>
    found.set(key, change(found.get(key) ?? NOTHING_KNOWN));
  for (const leaf of conditionsOf(workflow).flatMap(conditionLeaves)) {
    if (leaf.kind !== 'compare' || leaf.variable.includes('.')) continue;
    const { comparison, value, variable } = leaf;
    const values = comparison === 'in' && Array.isArray(value) ? value : [value];
    const isChoice = comparison === 'equals' || comparison === 'not_equals' || comparison === 'in';
    // A list is compared only to tell whether it is empty.
    const chosen = (isChoice ? values : []).filter(
      (one) => one !== null && !Array.isArray(one),
    ) as readonly JsonValue[];
    const isNumber = ['gt', 'gte', 'lt', 'lte'].includes(comparison);
    note(variable, (before) => ({
      ...before,
      choices: [...new Set([...before.choices, ...chosen])],
      isNumber: before.isNumber || isNumber,
    }));
  }
  for (const loop of workflow.loops) {
    const variable = contextVariable(loop);
    if (variable !== undefined && !variable.includes('.')) note(variable, (before) => ({ ...before, loop }));
  }
  compared.set(workflow, found);
  return found;
}

function conditionsOf(workflow: CompiledWorkflow) {
  return [...workflow.conditions.map(({ condition }) => condition), ...writtenConditions(workflow)];
}

/**
 * The keys that each step is meant to set: those it lists, and those that its own texts name in backticks or quotes,
 * where it is the first step that does so.
 */
function keysByStep({ workflow }: WorkflowIndex): ReadonlyMap<string, readonly string[]> {
  const known = meant.get(workflow);
  if (known !== undefined) return known;
  const open = new Set([...comparedWith(workflow).keys()].filter((key) => !isLoopVariable(workflow, key)));
  const listed = new Set(workflow.steps.flatMap(({ sets = [] }) => sets));
  const found = new Map<string, readonly string[]>();
  for (const step of workflow.steps) {
    const texts = [step.prompt, ...(step.criteria === undefined ? [] : criteriaRules(step.criteria).map(messageOf))];
    const named = [...open].filter((key) => !listed.has(key) && texts.some((text) => namesKey(text, key)));
    for (const key of named) open.delete(key);
    const keys = [...new Set([...(step.sets ?? []), ...named])];
    if (keys.length > 0) found.set(step.stepId, keys);
  }
  meant.set(workflow, found);
  return found;
}

function messageOf({ message }: { readonly message: string }): string {
  return message;
}

function namesKey(text: string, key: string): boolean {
  return [`\`${key}\``, `"${key}"`, `\`${key}:`, `\`${key} `, `\`{"${key}"`].some((name) => text.includes(name));
}

function isLoopVariable({ loops }: CompiledWorkflow, key: string): boolean {
  return loops.some(({ variables }) => Object.values(variables).includes(key));
}
