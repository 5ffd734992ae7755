import type { InspectedSession } from '../../app/sessions/inspect-session.ts';
import type { DuePlace } from '../../core/sessions/due-step.ts';
import type { PlacedGap, RunStanding } from '../../core/sessions/run-standing.ts';
import type { SessionState } from '../../core/sessions/session-state.ts';
import { plural } from '../../core/text/words.ts';
import type { SessionSummary } from '../../core/views/session-summary.ts';
import type { Line, LineSpan } from '../output/line.ts';
import { clipText, wrapText } from '../output/text-width.ts';
import type { GapData, PlaceData, RunData } from './session-shapes.ts';
import { healthWords } from './session-words.ts';

/** The sign that a session or run in this state is marked with. */
export const STATE_MARKS: { readonly [state in SessionState]: LineSpan } = {
  running: { text: '●', style: 'strong' },
  blocked: { text: '▲', style: 'notable' },
  complete: { text: '✓', style: 'good' },
  closed: { text: '–', style: 'dim' },
  salvaged: { text: '◐', style: 'dim' },
  damaged: { text: '✗', style: 'bad' },
};

const STATE_STYLES = {
  running: 'strong',
  blocked: 'notable',
  complete: 'good',
  closed: 'dim',
  salvaged: 'dim',
  damaged: 'bad',
} as const;

export function stateSpan(state: SessionState, text: string = state): LineSpan {
  return { text, style: STATE_STYLES[state] };
}

/** The state of one run, as of a session with only this one. */
export function runState({ status, isClosed }: Pick<RunData, 'status' | 'isClosed'>): SessionState {
  if (isClosed) return 'closed';
  if (status === 'blocked') return 'blocked';
  return status === 'complete' || status === 'complete_with_gaps' ? 'complete' : 'running';
}

type RunEnd = Pick<RunData, 'status' | 'isClosed' | 'openGaps'>;

export function runStateWords({ status, isClosed, openGaps = 0 }: RunEnd): string {
  if (isClosed) return 'closed';
  if (status === undefined) return 'unknown';
  const gaps = openGaps === 0 ? '' : `, ${plural(openGaps, 'gap')} open`;
  return {
    in_progress: 'running',
    blocked: 'blocked',
    complete: `complete${gaps}`,
    complete_with_gaps: `complete${gaps === '' ? ', gaps open' : gaps}`,
  }[status];
}

/** Whether something that was asked for is missing for good: such an end is not painted as a good one. */
export function lacksSomething(runs: readonly Pick<RunData, 'status' | 'isClosed'>[]): boolean {
  return runs.some(({ status, isClosed }) => status === 'complete_with_gaps' && !isClosed);
}

/** The sign and the words of a state, with what its runs lack in sight. */
export function endSpans(
  state: SessionState,
  runs: readonly Pick<RunData, 'status' | 'isClosed'>[],
  words: string = state,
): { readonly mark: LineSpan; readonly words: LineSpan } {
  const spans = { mark: STATE_MARKS[state], words: stateSpan(state, words) };
  if (state !== 'complete' || !lacksSomething(runs)) return spans;
  return { mark: { text: '✓', style: 'notable' }, words: { text: words, style: 'notable' } };
}

/** What a session is called: the goal of its first run that has one, else its first workflow. */
export function titleOf(runs: readonly Pick<RunData, 'goal' | 'workflowId' | 'workflowName'>[]): string | undefined {
  const goal = runs.find((run) => (run.goal ?? '').trim() !== '')?.goal;
  return goal ?? runs[0]?.workflowName ?? runs[0]?.workflowId;
}

export function summaryTitle({ runs }: SessionSummary): string | undefined {
  return titleOf(runs);
}

/** A step by its number and title, with the round of a loop it is in. */
export function placeWords(place: PlaceData): string {
  switch (place.kind) {
    case 'step': {
      const rounds = place.rounds?.map(({ round }) => round).join('.');
      return `${numbered(place)}${rounds === undefined ? '' : ` · round ${rounds}`}`;
    }
    case 'start':
      return 'before the first step';
    case 'complete':
      return 'complete';
    case 'untold':
      return 'a step that cannot be read';
  }
}

/** Without its workflow a step has no number. */
export function numbered({ position, title }: { readonly position?: number; readonly title: string }): string {
  return position === undefined ? title : `${position} ${title}`;
}

/** What leads a damaged session: nobody must take a part for the whole. */
export function bannerOf({ health, view }: InspectedSession, width: number): readonly Line[] {
  if (health.kind === 'healthy') return [];
  const words = wrapText(`✗ ${healthWords(health, view.nextEventIndex)}`, width);
  return words.map((text) => [{ text, style: 'bad' }]);
}

/** A text in quotes that takes no more than so many cells. */
export function quoted(text: string, widthMax: number): string {
  return `"${clipText(text, Math.max(1, widthMax - 2))}"`;
}

export function placeData(place: DuePlace): PlaceData {
  if (place.kind !== 'step') return place;
  const { stepId, title, position, loopPath } = place;
  return {
    kind: 'step',
    stepId,
    title,
    ...(position === undefined ? {} : { position }),
    ...(loopPath.length === 0
      ? {}
      : { rounds: loopPath.map(({ loopId, iteration }) => ({ loopId, round: iteration + 1 })) }),
  };
}

type RunHeadData = Pick<
  RunData,
  'runId' | 'tag' | 'workflowId' | 'workflowName' | 'goal' | 'status' | 'isClosed' | 'openGaps'
>;

export function runHeadData(run: RunStanding): RunHeadData {
  const { runId, tag, workflowId, workflowName, goal, status, isClosed } = run;
  return {
    runId,
    tag,
    workflowId,
    ...(workflowName === undefined ? {} : { workflowName }),
    ...(goal === undefined ? {} : { goal }),
    ...(status === undefined ? {} : { status }),
    isClosed,
    openGaps: run.gaps.length,
  };
}

export function runData(run: RunStanding): RunData {
  const { startedAt, activeAt, place, stepsTotal, branches, checkpoints, attempts, blockers, gaps, preferences } = run;
  return {
    ...runHeadData(run),
    ...(startedAt === undefined ? {} : { startedAt }),
    ...(activeAt === undefined ? {} : { lastAt: activeAt }),
    place: placeData(place),
    ...(stepsTotal === undefined ? {} : { stepsTotal }),
    branches,
    checkpoints,
    attempts,
    blockers: [...blockers],
    gaps: gaps.map(shownGap),
    preferences,
  };
}

export function shownGap({ severity, reason, summary, place }: PlacedGap): GapData {
  const at = place === undefined ? undefined : placeData(place);
  return {
    severity,
    category: reason.category,
    detail: reason.detail,
    summary,
    ...(at?.kind === 'step' ? { place: at } : {}),
  };
}

/** A gap on one line, with the step that it was left at. */
export function gapWords({ severity, summary, place }: GapData): string {
  return `${severity}${place === undefined ? '' : ` at ${placeWords(place)}`}: ${summary}`;
}
