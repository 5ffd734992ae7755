import type { InspectedSession } from '../../app/sessions/inspect-session.ts';
import { defined } from '../../core/json/json-value.ts';
import type { DuePlace } from '../../core/sessions/due-step.ts';
import type { PlacedGap, RunStanding } from '../../core/sessions/run-standing.ts';
import type { SessionState } from '../../core/sessions/session-state.ts';
import { gapText, plural } from '../../core/text/words.ts';
import { attestationWords } from '../../core/views/attestations.ts';
import { bad, dim, good, type Line, type LineSpan, notable, strong } from '../output/line.ts';
import { clipText, wrapText } from '../output/text-width.ts';
import type { GapData, PlaceData, RunData } from './session-shapes.ts';
import { healthWords } from './session-words.ts';

export const STATE_MARKS = {
  running: strong('●'),
  blocked: notable('▲'),
  complete: good('✓'),
  closed: dim('–'),
  salvaged: dim('◐'),
  damaged: bad('✗'),
} as const satisfies { readonly [state in SessionState]: LineSpan };

export function stateSpan(state: SessionState, text: string = state): LineSpan {
  return { text, style: STATE_MARKS[state].style };
}

/** The state of one run, as if it were the only one in its session. */
export function runState({ status, isClosed }: Partial<Pick<RunStanding, 'status' | 'isClosed'>>): SessionState {
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

/** Whether a completed run lacks something it required; it is not shown in green then. */
export function lacksSomething(runs: readonly Pick<RunData, 'status' | 'isClosed'>[]): boolean {
  return runs.some(({ status, isClosed }) => status === 'complete_with_gaps' && !isClosed);
}

/** The mark and the words of a state; a completed run with gaps stands out. */
export function endSpans(
  state: SessionState,
  runs: readonly Pick<RunData, 'status' | 'isClosed'>[],
  words: string = state,
): { readonly mark: LineSpan; readonly words: LineSpan } {
  const spans = { mark: STATE_MARKS[state], words: stateSpan(state, words) };
  if (state !== 'complete' || !lacksSomething(runs)) return spans;
  return { mark: notable('✓'), words: notable(words) };
}

/** A step by its number and title, with the loop iteration it is in. */
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

/** The same with the number first, such as "2: Look around". */
export function numberedPlace(place: PlaceData): string {
  if (place.kind !== 'step' || place.position === undefined) return placeWords(place);
  const { position, ...unnumbered } = place;
  return `${position}: ${placeWords(unnumbered)}`;
}

/** A step has no number if its workflow cannot be read. */
export function numbered({ position, title }: { readonly position?: number; readonly title: string }): string {
  return position === undefined ? title : `${position} ${title}`;
}

/** A branch by its name. */
export function branchWords(name: string): string {
  return name === 'main' ? name : `branch ${name}`;
}

/** The first line of a damaged session, so that nobody takes a part for the whole. */
export function bannerOf({ health, view }: InspectedSession, width: number): readonly Line[] {
  if (health.kind === 'healthy') return [];
  const words = wrapText(`✗ ${healthWords(health, view.nextEventIndex)}`, width);
  return words.map((text) => [bad(text)]);
}

/** Quoted text, clipped to a width. */
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
    ...defined({ position }),
    ...(loopPath.length > 0 && {
      rounds: loopPath.map(({ loopId, iteration }) => ({ loopId, round: iteration + 1 })),
    }),
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
    ...defined({ workflowName, goal, status }),
    isClosed,
    openGaps: run.gaps.length,
  };
}

export function runData(run: RunStanding): RunData {
  const { startedAt, activeAt, place, stepsTotal, branches, checkpoints, attempts, blockers, gaps, preferences } = run;
  return {
    ...runHeadData(run),
    source: run.source,
    ...defined({ startedAt, lastAt: activeAt, stepsTotal }),
    place: placeData(place),
    branches,
    ...(branches > 0 ? defined({ branch: run.branch }) : {}),
    checkpoints,
    attempts,
    blockers: [...blockers],
    ...answerData(run),
    gaps: gaps.map(shownGap),
    ...(run.dueChecks.length === 0
      ? {}
      : {
          dueChecks: run.dueChecks.map(({ checkId, minimum }) => ({
            checkId,
            minimum,
            command: `workrail attest ${run.tag} ${checkId}`,
          })),
        }),
    ...evidenceData(run),
    preferences,
    ...defined({ setBy: run.setBy }),
  };
}

function evidenceData({ checks, evidence }: RunStanding): Pick<RunData, 'checks' | 'answers'> {
  const answers = evidence.flatMap(({ kind, about, words }) => (kind === 'answer' ? [{ about, words }] : []));
  const shown = checks.map((check) => {
    const run = evidence.findLast(({ about, checkId }) => about === check.stepId && checkId === check.checkId)?.words;
    return defined({ ...check, run });
  });
  return { ...(shown.length === 0 ? {} : { checks: shown }), ...(answers.length === 0 ? {} : { answers }) };
}

function answerData({ answer }: RunStanding): Pick<RunData, 'answer'> {
  if (answer === undefined || answer.statement.kind === 'check') return {};
  return { answer: { statement: answer.statement.kind, words: attestationWords(answer) } };
}

/** What comes next once a person answered. */
export function answerText({ statement, words }: NonNullable<RunData['answer']>): string {
  return `The draft was ${words}. ${statement === 'rejected' ? 'The agent must change it.' : 'Tell the agent: continue.'}`;
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

/** A gap on one line, with the step that left it. */
export function gapWords({ severity, summary, place }: GapData): string {
  return `${severity}${place?.kind === 'step' ? `, ${stepWords(place)}` : ''}: ${gapText(summary)}`;
}

function stepWords({ position, title, rounds = [] }: Extract<PlaceData, { kind: 'step' }>): string {
  const number = position === undefined ? '' : ` ${position}`;
  const round = rounds.length === 0 ? '' : `, round ${rounds.map((one) => one.round).join('.')}`;
  return `step${number} "${title}"${round}`;
}
