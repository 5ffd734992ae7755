import type { GivenReply } from '../log/operation/stored-reply.ts';
import { NEXT_CALL, quoteOurLines } from '../prompt/our-lines.ts';
import { callText } from '../prompt/reply/call-text.ts';
import { type Candidate, candidateData, candidateLine, showCall } from './candidate.ts';

/** A candidate with some of what was noted in it. */
export type ShownCandidate = Candidate & { readonly snippet: string };

/** The reply where none is surely meant. `total` counts all runs that were looked at. */
export function candidateList(candidates: readonly ShownCandidate[], total: number): GivenReply {
  const [first] = candidates;
  if (first === undefined) return nothingThere();
  const nextCall = showCall(first);
  const more = total - candidates.length;
  const paragraphs = [
    opening(candidates.length),
    ...candidates.map((candidate, i) => `${i + 1}. ${candidateLine(candidate)}${snippetText(candidate)}`),
    ...(more > 0 ? [`${more} more ${more === 1 ? 'run is' : 'runs are'} stored; ${NARROWER}`] : []),
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

const NARROWER = 'to find another, call resume_session with words of its notes as "query", or its gitBranch.';

function opening(count: number): string {
  const has = 'its reply has the goal, the work so far, the step and its tokens.';
  if (count === 1) return `One run is stored that may be the one you mean. If it is, send its call: ${has}`;
  return `${count} runs may be the one you mean, the likeliest first. Send the call behind the one that is: ${has}`;
}

function snippetText({ snippet }: ShownCandidate): string {
  return snippet === '' ? '' : `\n${quoteOurLines(snippet)}`;
}

function nothingThere(): GivenReply {
  const nextCall = { tool: 'list_workflows', arguments: {} };
  return {
    text: `No run is stored here, so there is nothing to go on with. Pick a workflow and begin with start_workflow.\n${NEXT_CALL} ${callText(nextCall).join('')}`,
    structured: { kind: 'ok', candidates: [], total: 0, nextIntent: 'rehydrate_only', nextCall },
  };
}
