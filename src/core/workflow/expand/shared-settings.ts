import type { Confirmation, Gate } from '../compiled/compiled-step.ts';
import type { Condition } from '../compiled/condition.ts';
import { gatesOf } from '../compiled/condition-references.ts';
import type { TemplateStep } from '../format/step-fields.ts';
import { type Brought, type ExpandedEntry, type ExpandedStep, mapSteps } from './expanded.ts';
import type { Instance } from './instantiate.ts';
import { isEntered, type NamedConditions } from './loop-controls.ts';

/** What a step says that stands for several: a loop for its body, a call for its template. */
type Settings = { readonly confirmation: Confirmation; readonly isNotesOptional: boolean };

/**
 * Notes are as optional as the whole says. A confirmation is asked for where the whole ends: with a loop, at the end of
 * every round. It may be asked for twice where the last step can be skipped, but it is never passed over.
 */
export function withSettings(
  entries: readonly ExpandedEntry[],
  { confirmation, isNotesOptional }: Settings,
  { conditions }: Brought,
): readonly ExpandedEntry[] {
  const noted = isNotesOptional ? mapSteps(entries, (step) => withSyntax(step, { isNotesOptional })) : entries;
  if (confirmation.kind === 'none') return noted;
  const confirm = (step: ExpandedStep) =>
    withSyntax(step, { confirmation: strongestConfirmation(confirmation, step.syntax.confirmation) });
  return changeEdge(noted, { edge: 'last', named: namedOf(conditions) }, confirm);
}

/**
 * The opening texts of a template are shown where it begins, which need not be the beginning of the run. The arguments
 * of a call answer its questions.
 */
export function withOpening(
  entries: readonly ExpandedEntry[],
  { preconditions, clarificationPrompts }: Instance,
  { call, brought }: { readonly call: TemplateStep; readonly brought: Brought },
): readonly ExpandedEntry[] {
  const questions = Object.keys(call.args).length === 0 ? clarificationPrompts : [];
  const lines = [
    ...preconditions.map((text) => `Before this step, make sure: ${text}`),
    ...questions.map((text) => `Before this step, answer: ${text}`),
  ];
  if (lines.length === 0) return entries;
  const open = (step: ExpandedStep) => withSyntax(step, { guidance: [...lines, ...step.syntax.guidance] });
  return changeEdge(entries, { edge: 'first', named: namedOf(brought.conditions) }, open);
}

/** The role of a template holds for all that it stands for and that has none of its own. */
export function withRole(entries: readonly ExpandedEntry[], agentRole: string | undefined): readonly ExpandedEntry[] {
  if (agentRole === undefined) return entries;
  return entries.map((entry): ExpandedEntry => {
    if (entry.kind === 'step') return { ...entry, step: withSyntax(entry.step, { agentRole, ...entry.step.syntax }) };
    return { ...entry, loop: { agentRole, ...entry.loop, body: withRole(entry.loop.body, agentRole) } };
  });
}

function withSyntax(step: ExpandedStep, syntax: Partial<ExpandedStep['syntax']>): ExpandedStep {
  return { ...step, syntax: { ...step.syntax, ...syntax } };
}

function namedOf(conditions: Brought['conditions']) {
  return new Map(conditions.map(({ conditionId, condition }) => [conditionId, condition]));
}

/** A person's word weighs more than a coordinator's, and both more than a question that never blocks. */
const BY_STRENGTH = ['human_approval', 'coordinator_eval', 'confirm'] as const;

/** Both confirmations in one: at any time the strongest of those whose condition holds. */
export function strongestConfirmation(a: Confirmation, b: Confirmation): Confirmation {
  const asked = [...gatesOf(a), ...gatesOf(b)];
  const merged = BY_STRENGTH.flatMap((kind): Gate[] => {
    const conditions = asked.filter((gate) => gate.kind === kind).map(({ when }) => when);
    return conditions.length === 0 ? [] : [{ kind, when: anyOf(conditions) }];
  });
  const last = merged.findIndex(({ when }) => when.kind === 'always');
  const needed = last === -1 ? merged : merged.slice(0, last + 1);
  return needed.reduceRight<Confirmation>(
    (weaker, gate) => (weaker.kind === 'none' ? gate : { ...gate, otherwise: weaker }),
    { kind: 'none' },
  );
}

function anyOf(conditions: readonly Condition[]): Condition {
  const [first, ...others] = conditions.filter(({ kind }) => kind !== 'never');
  if (conditions.some(({ kind }) => kind === 'always')) return { kind: 'always' };
  if (first === undefined) return { kind: 'never' };
  return others.length === 0 ? first : { kind: 'or', conditions: [first, ...others] };
}

type Edge = { readonly edge: 'first' | 'last'; readonly named: NamedConditions };
type Change = (step: ExpandedStep) => ExpandedStep;

/** Changes every step that may be the first or the last to be done. */
function changeEdge(entries: readonly ExpandedEntry[], edge: Edge, change: Change): readonly ExpandedEntry[] {
  const found = edgeOf(entries, edge);
  return entries.map((entry, i) => {
    if (!found.has(i)) return entry;
    if (entry.kind === 'step') return { ...entry, step: change(entry.step) };
    return { ...entry, loop: { ...entry.loop, body: changeEdge(entry.loop.body, edge, change) } };
  });
}

/** The places of the entries that may be the first or the last of a list. */
function edgeOf(entries: readonly ExpandedEntry[], { edge, named }: Edge): ReadonlySet<number> {
  const groups = groupsOf(entries);
  const found = new Set<number>();
  let at = edge === 'first' ? 0 : entries.length - 1;
  for (let entry = entries[at]; entry !== undefined; entry = entries[at]) {
    found.add(at);
    const here = at;
    // Only when the group around it is skipped does one beyond that group take the place of an entry that is sure.
    const around = isSure(entry, named) ? groups.filter(({ from, to }) => from <= here && here <= to) : undefined;
    if (around?.length === 0) break;
    if (edge === 'first') at = Math.min(...(around?.map(({ to }) => to) ?? [at])) + 1;
    else at = Math.max(...(around?.map(({ from }) => from) ?? [at])) - 1;
  }
  return found;
}

/** The stretches of a list that are skipped together. */
function groupsOf(entries: readonly ExpandedEntry[]): readonly { readonly from: number; readonly to: number }[] {
  return entries.flatMap(({ guards = [] }, from) => guards.map((guard) => ({ from, to: from + guard.entries - 1 })));
}

/** Whether an entry is done whenever a run comes to it. */
function isSure(entry: ExpandedEntry, named: NamedConditions): boolean {
  if (entry.kind === 'step') return entry.step.syntax.runCondition === undefined;
  const { body } = entry.loop;
  const groups = groupsOf(body);
  const isSomeDone = body.some((one, i) => isSure(one, named) && !groups.some(({ from, to }) => from <= i && i <= to));
  return isSomeDone && isEntered(entry.loop, named);
}
