import { Link } from '@tanstack/react-router';
import { plural } from '../../src/core/text/words.ts';
import type { RunData } from '../../src/core/wire/session-shapes.ts';
import { useNow } from '../parts/shell.tsx';
import { type MarkName, StateMark, stateWord } from '../parts/state-mark.tsx';
import { ago } from '../parts/times.ts';

/** The workflow of a session that was started for notes only. */
const NOTES_WORKFLOW = 'wr.session_notes';

export function isNotesRun({ workflowId }: Pick<RunData, 'workflowId'>): boolean {
  return workflowId === NOTES_WORKFLOW;
}

export function markOf({ status, isClosed, blockers, answer }: RunData): MarkName {
  if (isClosed) return 'closed';
  if (status === 'blocked') return waitsForPerson(blockers) && answer === undefined ? 'waiting' : 'blocked';
  // What is finished without something that was required must not look like what is complete.
  if (status === 'complete_with_gaps') return 'lacking';
  return status === 'complete' ? 'complete' : 'running';
}

function waitsForPerson(blockers: RunData['blockers']): boolean {
  return blockers.some(({ code }) => code === 'USER_ONLY_DEPENDENCY');
}

/** What is going on, who must act, since when and how often it was tried. */
export function Sentence({ standing, isWhole }: { readonly standing: RunData; readonly isWhole: boolean }) {
  const now = useNow();
  const { blockers, gaps, answer, dueChecks = [], shownChecks = [] } = standing;
  const mark = isWhole ? markOf(standing) : 'salvaged';
  const open = plural(gaps.length, 'follow-up');
  const isDone = mark === 'complete' || mark === 'lacking';
  return (
    <section className="sentence" style={{ borderLeftColor: `var(--${mark})` }} aria-label="Where the run stands">
      <p>
        <StateMark name={mark} {...(isDone && gaps.length > 0 ? { words: `${stateWord(mark)}, ${open}` } : {})} />{' '}
        {sentenceOf(standing, mark, now)} {mark === 'waiting' && <Link to="/waiting">Answer it</Link>}
      </p>
      {answer && <p>The draft was {answer.words}. The agent has not looked since.</p>}
      {(mark === 'blocked' || mark === 'waiting') &&
        answer === undefined &&
        blockers.map(({ code, message, suggestedFix }, i) => (
          <p key={i} className="blocker">
            {message} <span className="meta">{mark === 'blocked' ? `${suggestedFix} ${code}` : code}</span>
          </p>
        ))}
      {!isDone &&
        shownChecks.map(({ checkId, grade }) => (
          <p key={checkId}>
            Check {checkId} is {grade} now. The agent has not looked since.
          </p>
        ))}
      {!isDone &&
        isWhole &&
        dueChecks.map(({ checkId, command }) => (
          <p key={checkId} className="meta">
            Check {checkId}: <code>{command}</code>
          </p>
        ))}
      {gaps.length > 0 && (
        <details>
          <summary>{open} open</summary>
          <ul>
            {gaps.map(({ summary, severity, place }, i) => (
              <li key={i}>
                {summary}{' '}
                <span className="meta">{place === undefined ? severity : `${severity}, "${place.title}"`}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}

function sentenceOf({ place, stepsTotal, attempts, lastAt }: RunData, mark: MarkName, now: number): string {
  const since = lastAt === undefined ? '' : ago(lastAt, now);
  if (mark === 'complete') return `The last step was finished ${since}.`;
  if (mark === 'lacking') return `The last step was finished ${since}, without something that was required.`;
  const at = place.kind === 'step' ? `${numbered(place.position, stepsTotal)} "${place.title}"` : 'the start';
  if (mark === 'closed') return `Closed at ${at}. Last activity ${since}.`;
  const tried = attempts > 1 ? `, tried ${attempts} times` : '';
  if (mark === 'running') return `The agent works on ${at}. Last activity ${since}.`;
  if (mark === 'salvaged') return `What can be read ends at ${at}. Last activity ${since}.`;
  if (mark === 'waiting') return `You must decide at ${at}${tried}. Last activity ${since}.`;
  return `at ${at}${tried}. The agent must try again. Last activity ${since}.`;
}

function numbered(position: number | undefined, of: number | undefined): string {
  if (position === undefined) return 'the step';
  return of === undefined || of < position ? `step ${position}` : `step ${position} of ${of}`;
}
