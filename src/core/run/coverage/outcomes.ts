import type { TraceEntry } from '../../log/events/trace-events.ts';
import { holdsAt, type StepPlace } from '../step-place.ts';
import { loopSiteId, runSiteId, stepConditions } from './condition-sites.ts';

/** One way in which a condition came out. */
export type ConditionOutcome = { readonly siteId: string; readonly outcome: string };

const RUN = /^The run condition of (.+) "([^"]+)" is (true|false)\.$/;
const ROUND = /^The (while|until) condition of loop "([^"]+)" is (true|false)\.$/;
const DECISION = /^The decision is "(continue|stop)" in loop "([^"]+)"\.$/;

/** What a line of the trace says about a condition; most lines are about something else. */
export function tracedOutcome({ kind, summary }: TraceEntry): ConditionOutcome | undefined {
  if (kind !== 'evaluated_condition') return undefined;
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

/** How the conditions of a pending step come out where the run stands. */
export function outcomesAt(place: StepPlace): readonly ConditionOutcome[] {
  return stepConditions(place.step).map(({ siteId, condition }) => ({
    siteId,
    outcome: String(holdsAt(place, condition)),
  }));
}
