import { assert } from '../../assert.ts';
import { type JsonValue, quote } from '../../json/json-value.ts';
import { numberOf } from '../../run/condition/context-values.ts';
import { evaluateCondition } from '../../run/condition/evaluate-condition.ts';
import { nearest } from '../../text/spelling.ts';
import type { Entry } from '../compiled/compiled-loop.ts';
import type { CompiledStep } from '../compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import { type Condition, conditionLeaves } from '../compiled/condition.ts';
import { criteriaRules } from '../compiled/criteria.ts';
import { entryPart, guardsOver, indexWorkflow } from '../compiled/workflow-index.ts';
import { authoredSteps } from '../format/read-workflow.ts';
import { type SourceText, sourceTexts } from '../source/source-node.ts';
import type { LintFinding, LintRule } from './lint-rule.ts';

type Comparison = Extract<Condition, { kind: 'compare' }>;

/** More combinations are not tried; then a condition counts as one that can hold. */
const TRIES_MAX = 4_096;

/**
 * Whether there is a context in which a condition holds. Every value that it compares with is tried, the ones next to
 * it, and some that are none of these; what a pattern lets pass is not guessed, so it always can.
 */
function canHold(
  condition: Condition,
  named: ReadonlyMap<string, Condition>,
  isUnset: (variable: string) => boolean = () => false,
): boolean {
  const comparisons = comparisonsIn(condition, named, new Set());
  if (comparisons.some(({ comparison, variable }) => comparison === 'matches' && !isUnset(variable))) return true;
  const values = new Map<string, Map<string, JsonValue | undefined>>();
  for (const one of comparisons) {
    const known = values.get(one.variable) ?? new Map<string, JsonValue | undefined>([['', undefined]]);
    for (const value of isUnset(one.variable) ? [] : valuesFor(one)) known.set(quote(value), value);
    values.set(one.variable, known);
  }
  const variables = [...values].map(([name, candidates]) => ({ name, candidates: [...candidates.values()] }));
  const tries = variables.reduce((product, { candidates }) => product * candidates.length, 1);
  if (tries > TRIES_MAX) return true;
  return Array.from({ length: tries }, (_, i) => i).some((i) => {
    const context: { [name: string]: JsonValue } = {};
    let rest = i;
    for (const { name, candidates } of variables) {
      const value = candidates[rest % candidates.length];
      rest = Math.floor(rest / candidates.length);
      if (value !== undefined) context[name] = value;
    }
    return evaluateCondition(condition, { context, loopVariables: {}, conditions: named, compilePattern: noPatterns });
  });
}

const noPatterns = (pattern: string) => {
  assert(false, `what "${pattern}" lets pass is not tried`);
};

/** Every comparison that a condition goes by, also by way of named ones. */
function comparisonsIn(
  condition: Condition,
  named: ReadonlyMap<string, Condition>,
  seen: Set<string>,
): readonly Comparison[] {
  return conditionLeaves(condition).flatMap((leaf) => {
    if (leaf.kind === 'compare') return [leaf];
    if (leaf.kind !== 'ref' || seen.has(leaf.conditionId)) return [];
    seen.add(leaf.conditionId);
    const found = named.get(leaf.conditionId);
    return found === undefined ? [] : comparisonsIn(found, named, seen);
  });
}

function valuesFor({ value }: Comparison): readonly JsonValue[] {
  // Compiled conditions are JSON; the schema says so, the type cannot.
  const expected = value as JsonValue;
  const written = Array.isArray(expected) ? (expected as readonly JsonValue[]) : [expected];
  const number = numberOf(expected);
  return [...written, ...(number === undefined ? [] : [number + 1, number - 1]), true, false, 'none of these'];
}

export const unreachableStep: LintRule = {
  code: 'unreachable_step',
  looksAt: 'workflow',
  finds: 'a step or loop whose conditions can never all be true',
  why: 'It looks like part of the process, but no run ever reaches it.',
  hint: 'Correct the condition, or remove the step.',
  find: ({ syntax, workflow }) => {
    const written = new Map(authoredSteps(syntax.steps).map((step) => [step.id, step.at]));
    return unreachable(workflow, workflow.entries).flatMap((stepId) => {
      const at = written.get(stepId);
      return at === undefined
        ? []
        : [{ at: `${at}/id`, message: `No run ever reaches "${stepId}": its conditions can never all be true.` }];
    });
  },
};

/** What is inside something that is never reached is not reported again. */
function unreachable(workflow: CompiledWorkflow, entries: readonly Entry[]): readonly string[] {
  const index = indexWorkflow(workflow);
  return entries.flatMap((entry, i) => {
    const part = entryPart(index, entry);
    const own = [...guardsOver(entries, i), ...(part.runCondition === undefined ? [] : [part.runCondition])];
    // What is decided before a loop may be decided otherwise inside of it, so each level is judged by itself.
    const isNever = own.length > 0 && !canHold({ kind: 'and', conditions: own }, index.conditions);
    if (isNever) return [part.stepId];
    if (!('body' in part)) return [];
    const { control } = part;
    const isEmpty =
      (control.kind === 'for' && control.count.kind === 'literal' && control.count.count === 0) ||
      (control.kind === 'for_each' && control.items.kind === 'literal' && control.items.items.length === 0) ||
      (control.kind === 'while' && !canHold(control.condition, index.conditions));
    return isEmpty ? [part.stepId] : unreachable(workflow, part.body);
  });
}

export const unusedCondition: LintRule = {
  code: 'unused_condition',
  looksAt: 'workflow',
  finds: 'a named condition that nothing refers to',
  why: 'It looks like a rule of the process, but nothing uses it.',
  hint: 'Refer to it with {"kind": "condition_ref", "conditionId": "…"}, or remove it.',
  find: ({ syntax, root }) => {
    const used = new Set(
      sourceTexts(root)
        .filter(({ pointer }) => pointer.endsWith('/conditionId'))
        .map(({ value }) => value),
    );
    return syntax.conditions
      .filter(({ conditionId }) => !used.has(conditionId))
      .map(({ at, conditionId }) => ({ at: `${at}/id`, message: `Nothing refers to the condition "${conditionId}".` }));
  },
};

/** A value of context that something goes by, and where that is written. */
type UsedVariable = { readonly name: string; readonly at: string };

const PLACE = /\{\{[ \t]*(?!wr\.)([\p{L}\p{N}_$-]+)/gu;
const CONDITION_KEY = /\/var$/;
/** What loops go over, where that is a name and not a list. */
const LOOP_KEY = /\/loop\/(?:items|count)$/;
const READ_BY_AGENTS = /^\/steps\//;

/** Every value of context that a file names: in conditions, in what loops go over, and in double braces. */
function usedVariables(texts: readonly SourceText[]): readonly UsedVariable[] {
  return texts.flatMap(({ pointer, value }) => {
    if (CONDITION_KEY.test(pointer) || LOOP_KEY.test(pointer)) return [{ name: value, at: pointer }];
    if (!READ_BY_AGENTS.test(pointer)) return [];
    return [...value.matchAll(PLACE)].map((match) => ({ name: match[1] ?? '', at: pointer }));
  });
}

/** Given when a run starts. */
const GIVEN = ['goal'];

export const contextNeverSet: LintRule = {
  code: 'context_never_set',
  looksAt: 'workflow',
  finds: 'a context value that conditions or prompts use, but that no text asks the agent to set',
  why: 'The condition always has the same result, and a prompt shows [unset: …] instead of the value.',
  hint: 'Name the context key and its allowed values in the prompt of an earlier step, as in: send context {"taskSize": "small"} or {"taskSize": "large"}.',
  find: ({ kind, root, workflow }) => {
    // The workflow that calls a routine may set what the routine uses.
    if (kind === 'routine') return [];
    const texts = [...workflow.steps.map(stepTexts), commonTexts(workflow)].join('\n');
    const loopNames = namesOfLoops(workflow);
    const isKnown = (name: string) => GIVEN.includes(name) || loopNames.has(name) || mentions(texts, name);
    const seen = new Set<string>();
    return usedVariables(sourceTexts(root)).flatMap(({ name, at }) => {
      const key = name.split('.')[0] ?? name;
      if (seen.has(key) || isKnown(key)) return [];
      seen.add(key);
      const meant = nearest(key, [...loopNames, ...GIVEN, ...quotedNames(texts)]);
      const advice = meant === undefined ? '' : ` Did you mean "${meant}"?`;
      return [{ at, message: `No text asks the agent to set "${key}", so it is never set.${advice}` }];
    });
  },
};

/** Words that texts name as one names a key. */
function quotedNames(texts: string): readonly string[] {
  return [...new Set([...texts.matchAll(/[`"']([\p{L}_][\p{L}\p{N}_-]*)[`"']/gu)].map(([, name = '']) => name))];
}

function namesOfLoops({ loops }: CompiledWorkflow): ReadonlySet<string> {
  return new Set(loops.flatMap(({ variables }) => Object.values(variables)));
}

export const contextSetLater: LintRule = {
  code: 'context_set_later',
  looksAt: 'workflow',
  finds: 'a condition or loop that reads a context value before any text asks the agent to set it',
  why: 'The value is missing when it is needed, so the step is skipped, or the loop never begins or is blocked.',
  hint: 'Ask for the value in an earlier step, before the loop or the condition that reads it.',
  find: ({ kind, syntax, workflow }) => {
    // The workflow that calls a routine may set what the routine uses.
    if (kind === 'routine') return [];
    const index = indexWorkflow(workflow);
    const written = new Map(authoredSteps(syntax.steps).map((step) => [step.id, step.at]));
    const whole = [...workflow.steps.map(stepTexts), commonTexts(workflow)].join('\n');
    const loopNames = namesOfLoops(workflow);
    const found: LintFinding[] = [];
    // What nothing ever asks for is found by another rule.
    const isLate = (name: string, before: string) => {
      const key = name.split('.')[0] ?? name;
      return !GIVEN.includes(key) && !loopNames.has(key) && !mentions(before, key) && mentions(whole, key);
    };
    const report = (stepId: string, place: string, names: readonly string[]) => {
      const at = written.get(stepId);
      const [name] = names;
      if (at === undefined || name === undefined) return;
      const message = `"${stepId}" reads "${name}", but only itself, its own steps or later steps ask the agent to set it.`;
      found.push({ at: `${at}/${place}`, message });
    };
    const check = (stepId: string, place: string, { condition, before }: { condition: Condition; before: string }) => {
      const names = comparisonsIn(condition, index.conditions, new Set()).map(({ variable }) => variable);
      const late = names.filter((name) => isLate(name, before));
      if (late.length === 0 || canHold(condition, index.conditions, (name) => late.includes(name))) return;
      report(stepId, place, late);
    };
    const visit = (entries: readonly Entry[], start: string): string => {
      let before = start;
      for (const entry of entries) {
        const part = entryPart(index, entry);
        if (part.runCondition !== undefined) {
          check(part.stepId, 'runCondition', { condition: part.runCondition, before });
        }
        if (!('body' in part)) {
          before = `${before}\n${stepTexts(part)}`;
          continue;
        }
        const { control, stepId } = part;
        if (control.kind === 'while') check(stepId, 'loop/condition', { condition: control.condition, before });
        const source = control.kind === 'for' ? control.count : control.kind === 'for_each' ? control.items : undefined;
        if (source?.kind === 'context' && isLate(source.variable, before)) {
          report(stepId, control.kind === 'for' ? 'loop/count' : 'loop/items', [source.variable]);
        }
        // A later round reads what an earlier one set.
        visit(part.body, `${before}\n${bodyTexts(index, part.body)}`);
        before = `${before}\n${bodyTexts(index, part.body)}`;
      }
      return before;
    };
    visit(workflow.entries, commonTexts(workflow));
    return found;
  },
};

function bodyTexts(index: ReturnType<typeof indexWorkflow>, entries: readonly Entry[]): string {
  return entries
    .map((entry) => {
      const part = entryPart(index, entry);
      return 'body' in part ? bodyTexts(index, part.body) : stepTexts(part);
    })
    .join('\n');
}

/** Everything that a step tells the agent to send, without the places where values are put in. */
function stepTexts(step: CompiledStep): string {
  const { prompt, guidance, fragments, output, userDependency, sets = [], collects = [], criteria } = step;
  return readTexts([
    prompt,
    ...guidance,
    ...fragments.map(({ text }) => text),
    ...(output?.hints ?? []),
    ...(userDependency === undefined ? [] : [userDependency.prompt, userDependency.contextKey ?? '']),
    ...sets,
    ...collects.map(({ into }) => into),
    ...(criteria === undefined ? [] : criteriaRules(criteria).map(({ message, form = '' }) => `${message} ${form}`)),
  ]);
}

/** The same of what holds for the whole run. */
function commonTexts({ functions, metaGuidance, preconditions, clarificationPrompts }: CompiledWorkflow): string {
  const definitions = functions.map(({ definition }) => definition);
  return readTexts([...definitions, ...metaGuidance, ...preconditions, ...clarificationPrompts]);
}

function readTexts(texts: readonly string[]): string {
  return texts.join('\n').replaceAll(/\{\{[^}]*\}\}/g, ' ');
}

function mentions(text: string, name: string): boolean {
  let at = text.indexOf(name);
  while (at !== -1) {
    const around = `${text.charAt(at - 1)}${text.charAt(at + name.length)}`;
    if (!/[\w-]/.test(around)) return true;
    at = text.indexOf(name, at + 1);
  }
  return false;
}
