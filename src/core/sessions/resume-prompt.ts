import { quote } from '../json/json-value.ts';
import type { Call } from '../log/error-envelope.ts';
import { callText } from '../prompt/reply/footer.ts';
import { truncate } from '../text/utf8.ts';
import { visibleLine } from '../text/visible-text.ts';
import type { DuePlace } from './due-step.ts';
import type { RunStanding } from './run-standing.ts';

/** Where a new chat continues. */
export type ResumeTarget = {
  readonly run: Pick<RunStanding, 'tag' | 'workflowId' | 'goal' | 'isClosed'>;
  readonly place: DuePlace;
  /** Whether the last attempt at the step was blocked. */
  readonly isBlocked: boolean;
  /** Whether the run has already continued from this step. */
  readonly isEarlier: boolean;
  readonly call: Call;
};

const GOAL_BYTES_MAX = 300;

/** A prompt for a new chat. It lets an agent without any context resume the run with one call. */
export function resumePrompt({ run, place, isBlocked, isEarlier, call }: ResumeTarget): string {
  const goal = run.goal === undefined ? '' : ` ${quote(truncate(visibleLine(run.goal), GOAL_BYTES_MAX))}`;
  const kind = kindOf(place, isEarlier);
  const at = standing(place, kind === 'open' && isBlocked);
  return [
    `${VERB[kind]} the WorkRail run${goal} (run ${run.tag} of ${run.workflowId}${at}${run.isClosed ? ', closed' : ''}).`,
    '',
    'First make this call to the WorkRail MCP server:',
    '',
    `  ${callText(call).join('')}`,
    '',
    WHAT_FOLLOWS[kind],
    'If this tool is not available, say so and stop: the WorkRail server is not connected.',
  ].join('\n');
}

type Kind = 'open' | 'complete' | 'earlier';

function kindOf(place: DuePlace, isEarlier: boolean): Kind {
  if (isEarlier) return 'earlier';
  return place.kind === 'complete' ? 'complete' : 'open';
}

const VERB: { readonly [kind in Kind]: string } = {
  open: 'Continue',
  complete: 'Review',
  earlier: 'Go back to an earlier step of',
};

const WHAT_FOLLOWS: { readonly [kind in Kind]: string } = {
  open: 'The reply contains the goal, the work so far, the next step and the tokens to continue. Then do that step.',
  complete: 'The run is complete. The reply contains its goal and the notes; no step is left to do.',
  earlier:
    'The reply contains that step and the work up to it. The run has already continued from there: doing the step again creates a branch, and the earlier work stays on record.',
};

function standing(place: DuePlace, isBlocked: boolean): string {
  if (place.kind !== 'step') return place.kind === 'complete' ? ', complete' : '';
  const number = place.position === undefined ? '' : `${place.position} `;
  const round = place.loopPath.map(({ iteration }) => iteration + 1).join('.');
  return `, ${isBlocked ? 'blocked at' : 'at'} step ${number}"${visibleLine(place.title)}"${round === '' ? '' : `, round ${round}`}`;
}
