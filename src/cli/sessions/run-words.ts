import type { InspectedSession } from '../../app/sessions/inspect-session.ts';
import { type JsonObject, quote } from '../../core/json/json-value.ts';
import type { RunStanding } from '../../core/sessions/run-standing.ts';
import { type SessionState, waitsForPerson } from '../../core/sessions/session-state.ts';
import { andList, gapText, plural } from '../../core/text/words.ts';
import type { GapData, PlaceData, RunData } from '../../core/wire/session-shapes.ts';
import { bad, dim, good, type Line, type LineSpan, notable, strong } from '../output/line.ts';
import { clipText, wrapText } from '../output/text-width.ts';
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

/** What comes next once a person answered. */
export function answerText({ statement, words }: NonNullable<RunData['answer']>): string {
  return `The draft was ${words}. ${statement === 'rejected' ? 'The agent must change it.' : 'Tell the agent: continue.'}`;
}

/** What holds a run up now: what is missing, or that nothing is missing any more. */
export function holdUps(run: Pick<RunData, 'status' | 'answer' | 'blockers' | 'shownChecks'>): readonly string[] {
  const { status, answer, blockers } = run;
  if (answer !== undefined) return [answerText(answer)];
  if (blockers.length > 0) return blockers.map(({ message }) => message);
  return status === 'blocked' ? shownTexts(run) : [];
}

/** The checks that commands have shown since the agent's last call, and what comes next if nothing else is missing. */
export function shownTexts({
  status,
  blockers,
  shownChecks = [],
}: Pick<RunData, 'status' | 'blockers' | 'shownChecks'>): readonly string[] {
  if (shownChecks.length === 0) return [];
  const named = andList(shownChecks.map(({ checkId, grade }) => `${quote(checkId)} is ${grade}`));
  return [`${named} now.${status === 'blocked' && blockers.length === 0 ? ' Tell the agent: continue.' : ''}`];
}

type Waiting = {
  readonly run: Parameters<typeof runState>[0] & Pick<RunStanding, 'blockers'> & { readonly answer?: unknown };
  /** What the command calls the run. */
  readonly name: string;
};

/** The command by which a person answers a run; `undefined` if it does not wait for an answer. */
export function answerCommand({ run, name }: Waiting): string | undefined {
  const { blockers, answer } = run;
  const asked = blockers.find(isAnsweredByPerson);
  if (runState(run) !== 'blocked' || !waitsForPerson(blockers) || answer !== undefined) return undefined;
  return asked && `workrail answer ${name}${asked.details?.['assurance'] === 'signed' ? ' --sign' : ''}`;
}

/** Whether a person answers it on a channel of their own. After a rejection, only the agent can go on. */
export function isAnsweredByPerson({ details }: { readonly details?: JsonObject | undefined }): boolean {
  return details?.['approval'] !== undefined && details['rejected'] !== true;
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
