import type { TraceEntry } from '../log/events/graph-events.ts';
import { holdsAt, type StepPlace } from '../run/step-place.ts';
import { plural } from '../text/words.ts';
import type { CompiledLoop, Entry } from '../workflow/compiled/compiled-loop.ts';
import type { CompiledStep } from '../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import type { Condition } from '../workflow/compiled/condition.ts';
import { gatesOf } from '../workflow/compiled/condition-references.ts';
import { criteriaRules } from '../workflow/compiled/criteria.ts';
import { entryPart, indexWorkflow, type WorkflowIndex } from '../workflow/compiled/workflow-index.ts';
import { conditionText } from '../workflow/outline/condition-text.ts';

/** The steps and condition results that runs have covered so far. */
export type Met = { readonly stepIds: readonly string[]; readonly outcomes: readonly ConditionOutcome[] };

type Share = { readonly reached: number; readonly total: number };

/** How much of a workflow was covered, and what is missing. */
export type Coverage = {
  readonly steps: Share & { readonly missing: readonly string[] };
  readonly outcomes: Share & { readonly missing: readonly { readonly condition: string; readonly never: string }[] };
};

export function coverageOf(workflow: CompiledWorkflow, met: Met): Coverage {
  const done = new Set(met.stepIds);
  const seen = new Set(met.outcomes.map(({ siteId, outcome }) => `${siteId}\n${outcome}`));
  const stepIds = workflow.steps.map(({ stepId }): string => stepId);
  const missing = stepIds.filter((stepId) => !done.has(stepId));
  const possible = conditionSites(workflow).flatMap(({ siteId, words, outcomes }) =>
    outcomes.map((outcome) => ({ key: `${siteId}\n${outcome}`, condition: words, never: outcome })),
  );
  const unseen = possible.filter(({ key }) => !seen.has(key));
  return {
    steps: { reached: stepIds.length - missing.length, total: stepIds.length, missing },
    outcomes: {
      reached: possible.length - unseen.length,
      total: possible.length,
      missing: unseen.map(({ condition, never }) => ({ condition, never })),
    },
  };
}

/** A share in whole percent, rounded down, so that 100 means all of it. An empty share counts as 100. */
export function percentOf({ reached, total }: Share): number {
  return total === 0 ? 100 : Math.floor((reached * 100) / total);
}

/** A place in a workflow where a condition decides something. */
export type ConditionSite = {
  readonly siteId: string;
  /** What it decides, in words. */
  readonly words: string;
  readonly outcomes: readonly string[];
};

/** A condition that is evaluated while a step is pending. */
export type StepCondition = ConditionSite & { readonly condition: Condition };

const YES_NO = ['true', 'false'] as const;

/** Every condition that can be true or false, each once. Conditions that are always or never true are left out. */
export function conditionSites(workflow: CompiledWorkflow): readonly ConditionSite[] {
  const index = indexWorkflow(workflow);
  const sites = [
    ...entrySites(index, workflow.entries),
    ...workflow.loops.flatMap((loop) => [...loopSites(loop), ...entrySites(index, loop.body)]),
    ...workflow.steps.flatMap(stepConditions).map(({ condition: _, ...site }) => site),
  ];
  return [...new Map(sites.map((site) => [site.siteId, site])).values()];
}

const runSiteId = (of: string, stepId: string) => `run condition of ${of} ${stepId}`;
/** Whether a site is a rule for notes, which is evaluated when they are sent. */
export const isCriterion = (siteId: string) => siteId.startsWith('criterion ');
const loopSiteId = (kind: string, loopId: string) => `${kind} of loop ${loopId}`;

function entrySites(index: WorkflowIndex, entries: readonly Entry[]): readonly ConditionSite[] {
  return entries.flatMap((entry) => {
    const part = entryPart(index, entry);
    const own = part.runCondition === undefined ? [] : [{ of: entry.kind, condition: part.runCondition }];
    const guards = (entry.guards ?? []).map(({ entries: size, condition }) => ({ of: groupOf(size), condition }));
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
function stepConditions({
  stepId,
  fragments,
  confirmation,
  criteria,
  purpose,
}: CompiledStep): readonly StepCondition[] {
  const delegations = purpose.kind === 'delegation' ? purpose.delegations : [];
  return [
    ...fragments.map(({ id, when }) => ({ siteId: `fragment ${id} of step ${stepId}`, condition: when })),
    ...gatesOf(confirmation).map(({ kind, when }) => ({ siteId: `${kind} of step ${stepId}`, condition: when })),
    ...(criteria === undefined ? [] : criteriaRules(criteria).flatMap(({ when }) => when ?? [])).map(
      (condition, i) => ({
        siteId: `criterion ${i + 1} of step ${stepId}`,
        condition,
      }),
    ),
    ...delegations.flatMap(({ workflowId, runCondition }) =>
      runCondition === undefined
        ? []
        : [{ siteId: `delegation to ${workflowId} of step ${stepId}`, condition: runCondition }],
    ),
  ].flatMap(({ siteId, condition }) => site(siteId, condition).map((one) => ({ ...one, condition })));
}

function site(siteId: string, condition: Condition): readonly ConditionSite[] {
  if (condition.kind === 'always' || condition.kind === 'never') return [];
  return [{ siteId, words: `${siteId} (${conditionText(condition)})`, outcomes: YES_NO }];
}

/** One result of a condition. */
export type ConditionOutcome = { readonly siteId: string; readonly outcome: string };

const groupOf = (size: number) => `${plural(size, 'step')} from`;
const SKIPPED = /^Skipped ([0-9]+) steps? \(/;
const RUN = /^The run condition of (.+) "([^"]+)" is (true|false)\.$/;
const ROUND = /^The (while|until) condition of loop "([^"]+)" is (true|false)\.$/;
const DECISION = /^The decision is "(continue|stop)" in loop "([^"]+)"\.$/;

/** The result of a condition in a trace entry; most entries are about something else. */
export function tracedOutcome({ kind, summary, refs = [] }: TraceEntry): ConditionOutcome | undefined {
  if (kind !== 'evaluated_condition') return undefined;
  const [, size] = SKIPPED.exec(summary) ?? [];
  const first = refs.find((ref) => ref.kind === 'step_id');
  if (size !== undefined && first !== undefined)
    return { siteId: runSiteId(groupOf(Number(size)), first.stepId), outcome: 'false' };
  const [, of, stepId, isMet] = RUN.exec(summary) ?? [];
  if (of !== undefined && stepId !== undefined && isMet !== undefined)
    return { siteId: runSiteId(of, stepId), outcome: isMet };
  const [, control, loopId, holds] = ROUND.exec(summary) ?? [];
  if (control !== undefined && loopId !== undefined && holds !== undefined)
    return { siteId: loopSiteId(control, loopId), outcome: holds };
  const [, decision, decided] = DECISION.exec(summary) ?? [];
  if (decision !== undefined && decided !== undefined)
    return { siteId: loopSiteId('decision', decided), outcome: decision };
  return undefined;
}

/** The results of a pending step's conditions. */
export function outcomesAt(place: StepPlace): readonly ConditionOutcome[] {
  return stepConditions(place.step).map(({ siteId, condition }) => ({
    siteId,
    outcome: String(holdsAt(place, condition)),
  }));
}
