import { type JsonObject, type JsonValue, quote } from '../../json/json-value.ts';
import type { CompiledLoop, Entry } from '../../workflow/compiled/compiled-loop.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import { type Condition, conditionLeaves } from '../../workflow/compiled/condition.ts';
import { writtenConditions } from '../../workflow/compiled/condition-references.ts';
import { criteriaRules } from '../../workflow/compiled/criteria.ts';
import { entryPart, guardsOver, loopOf, stepOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { contextVariable, itemsLike } from '../requirements/sample-values.ts';
import { blank, blankWords, choiceBlank, textsIn } from './blank.ts';

/**
 * Context keys that a step is meant to set, with a blank for each: those that have no value yet, those that it sets each
 * time, and in a later round of a loop all of them, because their values are those of the round before.
 */
export function contextForm({
  index,
  step,
  context,
  isLaterRound = false,
}: {
  readonly index: WorkflowIndex;
  readonly step: CompiledStep;
  readonly context: JsonObject;
  readonly isLaterRound?: boolean;
}): JsonObject {
  const keys = (keysByStep(index).get(step.stepId) ?? []).filter(
    ({ key, isSetEachTime }) => isSetEachTime || isLaterRound || !Object.hasOwn(context, key),
  );
  const asked = [...argumentsFor(index, step, context), ...keys.map(({ key }) => key)];
  return Object.fromEntries(asked.map((key) => [key, keyBlank(index, key)]));
}

/** The arguments of a routine that was started directly: until they have a value, those that may be left out once. */
function argumentsFor({ workflow }: WorkflowIndex, { stepId }: CompiledStep, context: JsonObject): readonly string[] {
  const isFirst = workflow.steps[0]?.stepId === stepId;
  return (workflow.arguments ?? [])
    .filter(({ name, isRequired }) => (isRequired || isFirst) && !Object.hasOwn(context, name))
    .map(({ name }) => name);
}

/** The keys of a step's form that a rehearsal may leave out: the run continues without them. */
export function optionalKeys(index: WorkflowIndex, step: CompiledStep): ReadonlySet<string> {
  const meantKeys = (keysByStep(index).get(step.stepId) ?? []).map(({ key }) => key);
  const keys = [...(index.workflow.arguments ?? []).map(({ name }) => name), ...meantKeys];
  return new Set(keys.filter((key) => comparedWith(index.workflow).get(key)?.loop === undefined));
}

/** A blank for a context key, with the values that conditions compare it with. */
export function keyBlank(index: WorkflowIndex, key: string): JsonValue {
  const prefix = accountedPrefix(index, key);
  if (prefix !== undefined) return [blank(`${prefix}1: the text of the entry`)];
  const { choices, isNumber, loop } = comparedWith(index.workflow).get(key) ?? NOTHING_KNOWN;
  if (choices.length > 1) return choiceBlank(choices);
  if (loop !== undefined) return itemsLike(index, loop, ITEM_BLANKS);
  const argument = index.workflow.arguments?.find(({ name }) => name === key);
  if (argument !== undefined) return blank(argument.description);
  if (isNumber) return blank(`number for ${key}`);
  if (choices.length === 1 && choices[0] === 'none') return blank(`value of ${key}, or none`);
  if (choices.length === 1) return typeof choices[0] === 'boolean' ? choiceBlank([true, false]) : choiceBlank(choices);
  return blank(`value of ${key}`);
}

/** What the ids of a list begin with that some step accounts for; `undefined` for any other key. */
export function accountedPrefix({ workflow }: WorkflowIndex, key: string): string | undefined {
  for (const { accountsFor = [] } of workflow.steps) {
    const found = accountsFor.find((one) => one.key === key);
    if (found !== undefined) return found.prefix;
  }
  return undefined;
}

/** Whether a text is what a blank for a key says, and not one of the values that the workflow compares it with. */
export function isKeyWords(index: WorkflowIndex, key: string, text: string): boolean {
  const said = text.trim();
  if (said.length > WORDS_LENGTH_MAX || !WORDS_LIKE.test(said)) return false;
  const { choices } = comparedWith(index.workflow).get(key) ?? NOTHING_KNOWN;
  const known = choices.map((choice) => (typeof choice === 'string' ? choice : quote(choice)));
  if (known.includes(said)) return false;
  const isList = known.length > 0 && said.split(' | ').every((one) => known.includes(one));
  return isList || ofKey(index, key).includes(said) || known.some((one) => said === `${one}, or another value`);
}

const WORDS_LENGTH_MAX = 160;
/** What blanks for keys say has a space; nearly all values end here. */
const WORDS_LIKE = / /;

/** Every blank for a key that does not list its values. */
function ofKey(index: WorkflowIndex, key: string): readonly string[] {
  const blanks = textsIn([
    keyBlank(index, key),
    blank(`value of ${key}`),
    blank(USER_ANSWER_WORDS),
    blank(COMMAND_WORDS),
    blank(COMMAND_VALUE_WORDS),
  ]);
  return blanks.flatMap(({ text }) => blankWords(text));
}

export const USER_ANSWER_WORDS = "the user's answer, in their words";
/** For a value that is a whole command, and for one that is put into a command. */
export const COMMAND_WORDS = 'the command line to run';
export const COMMAND_VALUE_WORDS = 'the value to put into the command';

/** Blanks for what a loop iterates over. */
export const ITEM_BLANKS = {
  count: blank('whole number, 0 or more'),
  item: (name: string) => blank(`one ${name} per entry`),
  field: (path: string) => blank(`value of ${path}`),
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
const meant = new WeakMap<CompiledWorkflow, ReadonlyMap<string, readonly MeantKey[]>>();

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

/** A key that a step is meant to set; `isSetEachTime` also where it has a value. */
type MeantKey = { readonly key: string; readonly isSetEachTime: boolean };

/**
 * The keys that each step is meant to set: those it lists, and those that its own texts name in backticks or quotes where
 * no earlier step on every path does. A key that decides about the loop around a step is set in each round.
 */
function keysByStep(index: WorkflowIndex): ReadonlyMap<string, readonly MeantKey[]> {
  const { workflow } = index;
  const known = meant.get(workflow);
  if (known !== undefined) return known;
  const listed = listedKeys(workflow);
  const read = [...comparedWith(workflow).keys()].filter((key) => !isLoopVariable(workflow, key) && !listed.has(key));
  const settled = new Set<string>();
  const found = new Map<string, readonly MeantKey[]>();
  const addStep = (step: CompiledStep, loops: readonly CompiledLoop[], isOnEveryPath: boolean) => {
    const texts = [step.prompt, ...(step.criteria === undefined ? [] : criteriaRules(step.criteria).map(messageOf))];
    const named = read.filter((key) => texts.some((text) => namesKey(text, key)));
    const isDecision = (key: string) => loops.some((loop) => isDecidedBy(index, loop, key));
    const keys = [
      // A value from the start of the run is kept, unless several steps set the key one after the other.
      ...(step.sets ?? []).map((key) => ({ key, isSetEachTime: listed.get(key) !== 1 || isDecision(key) })),
      ...named
        .map((key) => ({ key, isSetEachTime: isDecision(key) }))
        .filter(({ key, isSetEachTime }) => isSetEachTime || !settled.has(key)),
    ];
    if (isOnEveryPath) for (const key of named) settled.add(key);
    if (keys.length > 0) found.set(step.stepId, keys);
  };
  const addEntries = (entries: readonly Entry[], loops: readonly CompiledLoop[], isOnEveryPath: boolean) => {
    for (const [at, entry] of entries.entries()) {
      const { runCondition } = entryPart(index, entry);
      const isSure = isOnEveryPath && runCondition === undefined && guardsOver(entries, at).length === 0;
      if (entry.kind === 'step') {
        addStep(stepOf(index, entry.stepId), loops, isSure);
      } else {
        const loop = loopOf(index, entry.loopId);
        // Any other loop may have no round at all.
        addEntries(loop.body, [...loops, loop], isSure && loop.control.kind === 'artifact');
      }
    }
  };
  addEntries(workflow.entries, [], true);
  meant.set(workflow, found);
  return found;
}

/** How many steps list each key that they set. */
function listedKeys({ steps }: CompiledWorkflow): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const key of steps.flatMap(({ sets = [] }) => sets)) counts.set(key, (counts.get(key) ?? 0) + 1);
  return counts;
}

/** Whether the condition of a loop reads a key. */
function isDecidedBy(index: WorkflowIndex, { control }: CompiledLoop, key: string): boolean {
  const isRead = (condition: Condition): boolean =>
    conditionLeaves(condition).some((leaf) => {
      const named = leaf.kind === 'ref' ? index.conditions.get(leaf.conditionId) : undefined;
      return named === undefined ? leaf.kind === 'compare' && leaf.variable === key : isRead(named);
    });
  return (control.kind === 'while' || control.kind === 'until') && isRead(control.condition);
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
