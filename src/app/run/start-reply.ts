import { defined } from '../../core/json/json-value.ts';
import type { StoredReply } from '../../core/log/events/graph-events.ts';
import type { RunId } from '../../core/log/ids.ts';
import { stepReply } from '../../core/prompt/reply/step-reply.ts';
import type { ShownReference } from '../../core/prompt/reply-parts.ts';
import { replyWarning } from '../../core/prompt/reply-warnings.ts';
import type { WarningFact } from '../../core/prompt/warning-facts.ts';
import { blockersOf } from '../../core/run/decide/advance-run.ts';
import type { StartOutcome } from '../../core/run/decide/start-run.ts';
import type { RunFacts } from '../../core/run/step-place.ts';
import { indexWorkflow } from '../../core/workflow/compiled/workflow-index.ts';
import type { ListedWorkflow } from '../catalog/catalog.ts';
import { secretsIn, shownGoal } from './advance-reply.ts';

export type StartedRun = {
  readonly runId: RunId;
  readonly listed: ListedWorkflow;
  readonly facts: RunFacts;
  readonly references: readonly ShownReference[];
  /** Warnings from looking up the workflow. */
  readonly noticed: readonly WarningFact[];
};

/** The reply to a start: the first step, and what applies to the whole run. */
export function startReply(started: StartedRun, outcome: StartOutcome): StoredReply {
  const { runId, listed, facts, references } = started;
  const { unmet, gaps } = outcome;
  const { state } = outcome.snapshot.enginePayload;
  const goal = shownGoal(facts.context['goal']);
  const found = [...warningFacts(started, outcome), ...goal.warnings];
  return stepReply({
    runId,
    index: indexWorkflow(listed.workflow),
    state,
    facts,
    line: { stepNumber: 1, skipped: outcome.skipped },
    lifecycle: 'start',
    warnings: found.map((fact) => replyWarning(fact, facts.preferences.riskPolicy)),
    gaps,
    ...(unmet.length === 0 ? {} : { blocked: { blockers: blockersOf(unmet), unmet } }),
    ...defined({ goal: goal.text }),
    ...(references.length === 0 ? {} : { references }),
  });
}

function warningFacts(started: StartedRun, { warnings, unset }: StartOutcome): readonly WarningFact[] {
  const { listed, references, noticed } = started;
  const titles = references.filter(({ isResolved }) => !isResolved).map(({ title }) => title);
  const isOthers = listed.file.kind === 'project' || listed.file.kind === 'remote' || listed.file.kind === 'plugin';
  const outside = references.filter(({ isOutside }) => isOutside && isOthers).map(({ title }) => title);
  const { id, suggestedId } = listed;
  return [
    ...noticed,
    ...warnings,
    ...secretsIn(started.facts.context),
    ...(unset.length === 0 ? [] : [{ code: 'skipped_for_unset_value', skipped: unset } as const]),
    ...(titles.length === 0 ? [] : [{ code: 'reference_unresolved', titles } as const]),
    ...(outside.length === 0 ? [] : [{ code: 'reference_outside', titles: outside } as const]),
    ...(suggestedId === undefined ? [] : [{ code: 'legacy_id', workflowId: id, suggestedId } as const]),
  ];
}
