import type { CompiledLoop, Entry } from '../../workflow/compiled/compiled-loop.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import type { Condition } from '../../workflow/compiled/condition.ts';
import type { Gate } from '../../workflow/compiled/confirmation.ts';
import type { Criteria } from '../../workflow/compiled/criteria.ts';
import { indexWorkflow, loopOf, stepOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { conditionText } from '../../workflow/outline/condition-text.ts';

/** A place in a workflow where a condition decides something. */
export type ConditionSite = {
  readonly siteId: string;
  /** What it decides, for a reader. */
  readonly words: string;
  readonly outcomes: readonly string[];
};

/** A condition that is asked while a step is pending. */
export type StepCondition = ConditionSite & { readonly condition: Condition };

const YES_NO = ['true', 'false'] as const;

/** Every condition that can come out one way or the other, each once. What always holds or never does is left out. */
export function conditionSites(workflow: CompiledWorkflow): readonly ConditionSite[] {
  const index = indexWorkflow(workflow);
  const sites = [
    ...entrySites(index, workflow.entries),
    ...workflow.loops.flatMap((loop) => [...loopSites(loop), ...entrySites(index, loop.body)]),
    ...workflow.steps.flatMap(stepConditions).map(({ condition: _, ...site }) => site),
  ];
  return [...new Map(sites.map((site) => [site.siteId, site])).values()];
}

export const runSiteId = (of: string, stepId: string) => `run condition of ${of} ${stepId}`;
/** Whether a site is a rule for notes, which is asked when they are handed in. */
export const isCriterion = (siteId: string) => siteId.startsWith('criterion ');
export const loopSiteId = (kind: string, loopId: string) => `${kind} of loop ${loopId}`;

function entrySites(index: WorkflowIndex, entries: readonly Entry[]): readonly ConditionSite[] {
  return entries.flatMap((entry) => {
    const part = entry.kind === 'step' ? stepOf(index, entry.stepId) : loopOf(index, entry.loopId);
    const own = part.runCondition === undefined ? [] : [{ of: entry.kind, condition: part.runCondition }];
    const guards = (entry.guards ?? []).map((guard) => ({
      of: `${guard.entries} in a row from`,
      condition: guard.condition,
    }));
    return [...guards, ...own].flatMap(({ of, condition }) => site(runSiteId(of, part.stepId), condition));
  });
}

function loopSites({ loopId, control }: CompiledLoop): readonly ConditionSite[] {
  if (control.kind === 'artifact') {
    const siteId = loopSiteId('decision', loopId);
    return [{ siteId, words: `the agent's decision in loop "${loopId}"`, outcomes: ['continue', 'stop'] }];
  }
  return control.kind === 'while' || control.kind === 'until'
    ? site(loopSiteId(control.kind, loopId), control.condition)
    : [];
}

/** The conditions of a step's fragments, confirmation, criteria and delegations. */
export function stepConditions({
  stepId,
  fragments,
  confirmation,
  criteria,
  purpose,
}: CompiledStep): readonly StepCondition[] {
  const gates = confirmation.kind === 'none' ? [] : gatesOf(confirmation);
  const delegations = purpose.kind === 'delegation' ? purpose.delegations : [];
  return [
    ...fragments.map(({ id, when }) => ({ siteId: `fragment ${id} of step ${stepId}`, condition: when })),
    ...gates.map(({ kind, when }) => ({ siteId: `${kind} of step ${stepId}`, condition: when })),
    ...(criteria === undefined ? [] : rulesOf(criteria)).map((condition, i) => ({
      siteId: `criterion ${i + 1} of step ${stepId}`,
      condition,
    })),
    ...delegations.flatMap(({ workflowId, runCondition }) =>
      runCondition === undefined
        ? []
        : [{ siteId: `delegation to ${workflowId} of step ${stepId}`, condition: runCondition }],
    ),
  ].flatMap(({ siteId, condition }) => site(siteId, condition).map((one) => ({ ...one, condition })));
}

function gatesOf(gate: Gate): readonly Gate[] {
  return gate.otherwise === undefined ? [gate] : [gate, ...gatesOf(gate.otherwise)];
}

function rulesOf(criteria: Criteria): readonly Condition[] {
  switch (criteria.kind) {
    case 'and':
    case 'or':
      return criteria.criteria.flatMap(rulesOf);
    case 'not':
      return rulesOf(criteria.criteria);
    default:
      return criteria.when === undefined ? [] : [criteria.when];
  }
}

function site(siteId: string, condition: Condition): readonly ConditionSite[] {
  if (condition.kind === 'always' || condition.kind === 'never') return [];
  return [{ siteId, words: `${siteId} (${conditionText(condition)})`, outcomes: YES_NO }];
}
