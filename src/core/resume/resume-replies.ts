import { isList, quote } from '../json/json-value.ts';
import { runTag, type SessionId } from '../log/ids.ts';
import type { GivenReply } from '../log/operation/stored-reply.ts';
import { originWords, type SessionOrigin, shownOrigin } from '../log/origin.ts';
import { callText } from '../prompt/reply/footer.ts';
import { type RecordedEntry, recordedBlock } from '../prompt/reply-parts.ts';
import { replyWarning } from '../prompt/reply-warnings.ts';
import type { ReplyWarning } from '../prompt/warning-facts.ts';
import { clip } from '../text/utf8.ts';
import { NEXT_CALL, visibleJson, visibleText } from '../text/visible-text.ts';
import { plural } from '../text/words.ts';
import {
  candidateData,
  candidateLine,
  type ForeignRun,
  isForeignRun,
  isUnacceptedRun,
  type OfferedRun,
  type ResumeCandidate,
  showCall,
  type UnacceptedRun,
} from './candidate.ts';
import { type MatchReason, matchWords } from './rank-runs.ts';

/** A candidate with a part of its notes. */
export type ShownCandidate = (ResumeCandidate & { readonly snippet: string }) | ForeignRun | UnacceptedRun;

/** What was looked for, and what was found of it. */
export type Search = {
  /** How many runs there are to choose from. */
  readonly total: number;
  /** Whether the first of them matches what the caller said. */
  readonly isMatched: boolean;
  /** The query, if no run matches it. */
  readonly missed?: string | undefined;
  /** The query has nothing to search for. */
  readonly isUnsearchable?: boolean;
  readonly damaged: readonly SessionId[];
};

/** The reply where no single run is clearly meant. Where nothing matches, no call is suggested. */
export function candidateList(candidates: readonly ShownCandidate[], search: Search): GivenReply {
  const [first] = candidates;
  const { total, damaged } = search;
  const isOffered = first !== undefined && search.isMatched && !isUnacceptedRun(first);
  const nextCall = isOffered && !isForeignRun(first) && isAlone(candidates) ? showCall(first) : null;
  const paragraphs =
    first === undefined ? [damaged.length === 0 ? NOTHING : NOTHING_READABLE] : choice(candidates, search);
  const warnings = damagedWarnings(damaged);
  const ending = [
    ...warnings.map(({ message }) => `Warning: ${message}`),
    ...(first === undefined ? [START] : [isOffered ? ASK : isUnacceptedRun(first) ? ASK_TO_ACCEPT : ASK_FIRST]),
    ...(nextCall === null ? [] : [`${NEXT_CALL} ${callText(nextCall).join('')}`]),
  ];
  return {
    text: visibleText([...paragraphs, ['---', ...ending].join('\n')].join('\n\n')),
    structured: {
      kind: 'ok',
      candidates: candidates.map((candidate) => ({
        ...candidateData(candidate),
        ...('snippet' in candidate ? { snippet: candidate.snippet } : {}),
      })),
      total,
      ...(warnings.length === 0 ? {} : { warnings: warnings.map((warning) => ({ ...warning })) }),
      nextIntent: 'rehydrate_only',
      nextCall: nextCall === null ? null : { ...nextCall },
    },
  };
}

/** Of several runs that match equally, only the caller knows which is meant: a suggested call would be sent for the wrong one. */
function isAlone(candidates: readonly ShownCandidate[]): boolean {
  return candidates.length === 1 || matching(candidates) === 1;
}

function matching(candidates: readonly ShownCandidate[]): number {
  return candidates.filter(({ whyMatched }) => !whyMatched.includes('recency_fallback')).length;
}

const NOTHING = 'Nothing matched. No unfinished run is stored here.';
const NOTHING_READABLE = 'Nothing matched. No readable session stored here has an unfinished run.';
const START =
  'To see finished runs, send "includeFinished":true. To begin, choose a workflow with list_workflows and start it with start_workflow.';
const ASK = 'If you cannot tell which one is meant, ask the user. The calls in the list show a run and change nothing.';
const ASK_FIRST =
  'None of these runs matched. Ask the user which one is meant, or start a new run. The calls in the list show a run and change nothing.';

const ASK_TO_ACCEPT =
  'No call is suggested: an imported run cannot be continued before a person accepted it. Show the command to the user, and call resume_session again when the user has run it.';

function choice(candidates: readonly ShownCandidate[], search: Search): readonly string[] {
  const { total, isMatched } = search;
  const more = total - candidates.length;
  const notes = recordedBlock(candidates.flatMap(snippetEntry));
  return [
    isMatched ? opening(candidates) : openingWithout(search),
    ...candidates.map((candidate, i) => `${i + 1}. ${candidateLine(candidate)}`),
    ...(more > 0 ? [`${plural(more, 'more run is', 'more runs are')} stored; ${NARROWER}`] : []),
    ...(notes === undefined ? [] : [notes]),
  ];
}

/** A query may be of any length. */
const MISSED_BYTES_MAX = 128;

const NARROWER =
  'to find another, call resume_session with words from its goal or notes as "query", or with its gitBranch.';

function opening(candidates: readonly ShownCandidate[]): string {
  const count = candidates.length;
  const has = 'The reply contains the goal, the work so far, the current step and its tokens.';
  if (candidates.every(isUnacceptedRun)) {
    return `${plural(count, 'imported run', 'imported runs')} may be the one you mean, and no person has accepted ${count === 1 ? 'it' : 'them'} yet:`;
  }
  const [first] = candidates;
  if (first !== undefined && isUnacceptedRun(first)) {
    const imported = candidates.filter((one) => isUnacceptedRun(one) && !one.whyMatched.includes('recency_fallback'));
    const which = plural(imported.length, 'imported run matches', 'imported runs match');
    return `${which} your search, and no person has accepted ${imported.length === 1 ? 'it' : 'them'} yet. Other runs are listed after ${imported.length === 1 ? 'it' : 'them'}:`;
  }
  if (candidates.every(isFinished)) {
    return `No unfinished run matches, but ${plural(count, 'finished run does', 'finished runs do')}. The call of a run shows how it ended; it cannot be continued.`;
  }
  if (count === 1) return `One stored run may be the one you mean. If it is, send its call. ${has}`;
  const found = matching(candidates);
  const which =
    found === 0 || found === count
      ? `You may mean one of these ${count} runs; the most likely is first.`
      : `${plural(found, 'run matches', 'runs match')}. Other recent runs are listed after ${found === 1 ? 'it' : 'them'}.`;
  return `${which} Choose the run you mean, and send the call next to it. ${has}`;
}

function isFinished(run: ShownCandidate): boolean {
  return 'status' in run && (run.status === 'complete' || run.status === 'complete_with_gaps');
}

function openingWithout({ missed, isUnsearchable = false }: Search): string {
  const asked = missed === undefined ? '' : visibleJson(quote(clip(missed, MISSED_BYTES_MAX)));
  const what = isUnsearchable
    ? `the query ${asked} has no letters or digits to search for`
    : missed === undefined
      ? 'no unfinished run belongs to this workspace, branch or commit'
      : `no unfinished run has ${asked} in its goal, its notes or its workflow name`;
  return `Nothing matched: ${what}. These are the latest runs:`;
}

function snippetEntry(candidate: ShownCandidate): readonly RecordedEntry[] {
  if (!('snippet' in candidate) || candidate.snippet === '') return [];
  return [{ heading: `Notes of run ${runTag(candidate.runId)}:`, text: candidate.snippet }];
}

function damagedWarnings(damaged: readonly SessionId[]): readonly ReplyWarning[] {
  return damaged.length === 0 ? [] : [replyWarning({ code: 'session_damaged', sessionIds: damaged }, 'balanced')];
}

export type Resumed = {
  readonly whyMatched: readonly MatchReason[];
  /** Other runs that may be meant. */
  readonly others: readonly OfferedRun[];
  readonly damaged: readonly SessionId[];
  /** Absent for a run that was started here. */
  readonly origin?: SessionOrigin | undefined;
};

/** The rehydrated run, and one line for each other run that may be meant. */
export function resumedReply(shown: GivenReply, { whyMatched, others, damaged, origin }: Resumed): GivenReply {
  const imported = origin === undefined ? '' : ` It was ${originWords(shownOrigin(origin))}.`;
  const lead = `This run was chosen because it ${whyMatched.includes('recency_fallback') ? 'is ' : ''}${matchWords(whyMatched)}.${imported}`;
  const lines = others.map((candidate) => `- ${candidateLine(candidate)}`);
  const warnings = damagedWarnings(damaged);
  const text = [
    others.length === 0 ? lead : `${lead} If you mean another one:`,
    ...lines,
    ...warnings.map(({ message }) => `Warning: ${message}`),
  ].join('\n');
  const { structured } = shown;
  const earlier = isList(structured['warnings']) ? structured['warnings'] : [];
  return {
    ...shown,
    furtherTexts: [...(shown.furtherTexts ?? []), visibleText(text)],
    structured: {
      ...structured,
      warnings: [...earlier, ...warnings.map((warning) => ({ ...warning }))],
      resumed: {
        whyMatched,
        ...(origin === undefined ? {} : { origin: shownOrigin(origin) }),
        others: others.map(candidateData),
      },
    },
  };
}
