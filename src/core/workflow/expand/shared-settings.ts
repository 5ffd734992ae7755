import type { Confirmation } from '../compiled/confirmation.ts';
import type { TemplateStep } from '../format/syntax.ts';
import { type Brought, type ExpandedEntry, type ExpandedStep, mapSteps } from './expanded.ts';
import type { Instance } from './instantiate.ts';
import { strongest } from './settings/confirmations.ts';
import { changeFirst, changeLast } from './settings/edge-steps.ts';

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
    withSyntax(step, { confirmation: strongest(confirmation, step.syntax.confirmation) });
  return changeLast(noted, confirm, namedOf(conditions));
}

/**
 * What a template says at its beginning is told where it begins, which need not be the beginning of the run. What it
 * would ask is answered by the arguments of a call.
 */
export function withOpening(
  entries: readonly ExpandedEntry[],
  { preconditions, clarificationPrompts }: Instance,
  { call, brought }: { readonly call: TemplateStep; readonly brought: Brought },
): readonly ExpandedEntry[] {
  const questions = Object.keys(call.args).length === 0 ? clarificationPrompts : [];
  const lines = [
    ...preconditions.map((text) => `Must hold before this step: ${text}`),
    ...questions.map((text) => `Settle before this step: ${text}`),
  ];
  if (lines.length === 0) return entries;
  const open = (step: ExpandedStep) => withSyntax(step, { guidance: [...lines, ...step.syntax.guidance] });
  return changeFirst(entries, open, namedOf(brought.conditions));
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
