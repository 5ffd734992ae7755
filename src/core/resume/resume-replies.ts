import { quote } from '../json/json-value.ts';
import type { GivenReply } from '../log/operation/stored-reply.ts';
import { NEXT_CALL, quoteReservedLines } from '../prompt/recorded-text.ts';
import { callText } from '../prompt/reply/footer.ts';
import { clip } from '../text/utf8.ts';
import { plural } from '../text/words.ts';
import { candidateData, candidateLine, type ResumeCandidate, showCall } from './candidate.ts';
import { type MatchReason, reasonWords } from './rank-runs.ts';

/** A candidate with a part of its notes. */
export type ShownCandidate = ResumeCandidate & { readonly snippet: string };

/** How many runs there are, and the query if none of them matches it. */
export type Search = { readonly total: number; readonly missed?: string | undefined };

/** The reply where no single run is clearly meant. */
export function candidateList(candidates: readonly ShownCandidate[], { total, missed }: Search): GivenReply {
  const [first] = candidates;
  if (first === undefined) return nothingThere();
  const nextCall = showCall(first);
  const more = total - candidates.length;
  const paragraphs = [
    missed === undefined ? opening(candidates) : openingWithout(missed, candidates),
    ...candidates.map((candidate, i) => `${i + 1}. ${candidateLine(candidate)}${snippetText(candidate)}`),
    ...(more > 0 ? [`${plural(more, 'more run is', 'more runs are')} stored; ${NARROWER}`] : []),
    `---\nIf you cannot tell which one is meant, ask the user. These calls change nothing.\n${NEXT_CALL} ${callText(nextCall).join('')}`,
  ];
  return {
    text: paragraphs.join('\n\n'),
    structured: {
      kind: 'ok',
      candidates: candidates.map((candidate) => ({ ...candidateData(candidate), snippet: candidate.snippet })),
      total,
      nextIntent: 'rehydrate_only',
      nextCall,
    },
  };
}

/** A query may be of any length. */
const MISSED_BYTES_MAX = 128;

const NARROWER = 'to find another, call resume_session with words from its notes as "query", or with its gitBranch.';

function opening(candidates: readonly ShownCandidate[]): string {
  const count = candidates.length;
  const has = 'The reply contains the goal, the work so far, the current step and its tokens.';
  if (count === 1) return `One stored run may be the one you mean. If it is, send its call. ${has}`;
  const found = candidates.filter(({ whyMatched }) => !whyMatched.includes('recency_fallback')).length;
  const which =
    found === 0 || found === count
      ? `${count} runs may be the one you mean; the most likely is first.`
      : `${plural(found, 'run matches', 'runs match')} your search. Other recent runs are listed after ${found === 1 ? 'it' : 'them'}.`;
  return `${which} Send the call shown with the run you mean. ${has}`;
}

function openingWithout(missed: string, candidates: readonly ShownCandidate[]): string {
  const what = `No run has ${quote(clip(missed, MISSED_BYTES_MAX))} in its notes or in its workflow name.`;
  const isLatest = candidates.every(({ whyMatched }) => whyMatched.includes('recency_fallback'));
  return `${what} ${isLatest ? 'These are the latest runs here:' : opening(candidates)}`;
}

function snippetText({ snippet }: ShownCandidate): string {
  return snippet === '' ? '' : `\n${quoteReservedLines(snippet)}`;
}

function nothingThere(): GivenReply {
  const nextCall = { tool: 'list_workflows', arguments: {} };
  return {
    text: `No run is stored here, so there is nothing to resume. Choose a workflow and start it with start_workflow.\n${NEXT_CALL} ${callText(nextCall).join('')}`,
    structured: { kind: 'ok', candidates: [], total: 0, nextIntent: 'rehydrate_only', nextCall },
  };
}

export type Resumed = {
  readonly whyMatched: readonly MatchReason[];
  /** Other runs that may be meant. */
  readonly others: readonly ResumeCandidate[];
};

/** The rehydrated run, and one line for each other run that may be meant. */
export function resumedReply(shown: GivenReply, { whyMatched, others }: Resumed): GivenReply {
  const lead = `This run was matched by ${reasonWords(whyMatched)}.`;
  const lines = others.map((candidate) => `- ${candidateLine(candidate)}`);
  const text = others.length === 0 ? lead : [`${lead} If you mean another one:`, ...lines].join('\n');
  return {
    ...shown,
    furtherTexts: [...(shown.furtherTexts ?? []), text],
    structured: { ...shown.structured, resumed: { whyMatched, others: others.map(candidateData) } },
  };
}
