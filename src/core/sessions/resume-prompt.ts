import type { Call } from '../log/error-envelope.ts';
import { callText } from '../prompt/reply/call-text.ts';
import { oneLine } from '../prompt/reserved-lines.ts';
import { truncate } from '../text/utf8.ts';
import type { DuePlace } from './due-step.ts';
import type { RunStanding } from './run-standing.ts';

/** Where a new chat is to go on. */
export type ResumeTarget = {
  readonly run: Pick<RunStanding, 'tag' | 'workflowId' | 'goal' | 'isClosed'>;
  readonly place: DuePlace;
  /** Whether the last try at the step was turned down. */
  readonly isHeldUp: boolean;
  /** Whether the run has gone further than this place. */
  readonly isEarlier: boolean;
  readonly call: Call;
};

const GOAL_BYTES_MAX = 300;

/** Text for a person to paste into a new chat, after which an agent that knows nothing is back with one call. */
export function resumePrompt({ run, place, isHeldUp, isEarlier, call }: ResumeTarget): string {
  const goal = run.goal === undefined ? '' : ` "${truncate(oneLine(run.goal), GOAL_BYTES_MAX)}"`;
  const kind = kindOf(place, isEarlier);
  const at = standing(place, kind === 'open' && isHeldUp);
  return [
    `${VERB[kind]} the WorkRail run${goal} (run ${run.tag} of ${run.workflowId}${at}${run.isClosed ? ', closed until now' : ''}).`,
    '',
    'Before anything else, make this one call to the WorkRail MCP server:',
    '',
    `  ${callText(call).join('')}`,
    '',
    WHAT_FOLLOWS[kind],
    'If you have no tool of this name, say so and stop: the WorkRail server is not connected.',
  ].join('\n');
}

type Kind = 'open' | 'complete' | 'earlier';

function kindOf(place: DuePlace, isEarlier: boolean): Kind {
  if (isEarlier) return 'earlier';
  return place.kind === 'complete' ? 'complete' : 'open';
}

const VERB: { readonly [kind in Kind]: string } = {
  open: 'Go on with',
  complete: 'Look back at',
  earlier: 'Go back to an earlier step of',
};

const WHAT_FOLLOWS: { readonly [kind in Kind]: string } = {
  open: 'Its reply has the goal, the work so far, the step to do now and the tokens for going on. Then do that step.',
  complete: 'The run is complete. The reply has its goal and what was noted; there is no step left to do.',
  earlier:
    'Its reply has that step and the work up to it, and says that the run went on from there once. Do the step again from that reply: this makes a branch, and what was done before stays on record.',
};

function standing(place: DuePlace, isHeldUp: boolean): string {
  if (place.kind !== 'step') return place.kind === 'complete' ? ', complete' : '';
  const number = place.position === undefined ? '' : `${place.position} `;
  const round = place.loopPath.map(({ iteration }) => iteration + 1).join('.');
  return `, ${isHeldUp ? 'held up at' : 'at'} step ${number}"${oneLine(place.title)}"${round === '' ? '' : `, round ${round}`}`;
}
