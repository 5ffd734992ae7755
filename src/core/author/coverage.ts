import { conditionSites } from '../run/coverage/condition-sites.ts';
import type { ConditionOutcome } from '../run/coverage/outcomes.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';

/** What runs have met so far. */
export type Met = { readonly stepIds: readonly string[]; readonly outcomes: readonly ConditionOutcome[] };

type Share = { readonly reached: number; readonly total: number };

/** How much of a workflow was met, and what was not. */
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

/** A share in whole percent, rounded down: 100 means all of it. What has nothing to reach is reached. */
export function percentOf({ reached, total }: Share): number {
  return total === 0 ? 100 : Math.floor((reached * 100) / total);
}
