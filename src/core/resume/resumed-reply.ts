import type { GivenReply } from '../log/operation/stored-reply.ts';
import { candidateData, candidateLine, type ResumeCandidate } from './candidate.ts';
import { type MatchReason, reasonWords } from './match-reason.ts';

export type Resumed = {
  readonly whyMatched: readonly MatchReason[];
  /** What else may have been meant. */
  readonly others: readonly ResumeCandidate[];
};

/** The rehydration of the run that is meant, and in one line each what else might be. */
export function resumedReply(shown: GivenReply, { whyMatched, others }: Resumed): GivenReply {
  const lead = `This run was found by ${reasonWords(whyMatched)}.`;
  const lines = others.map((candidate) => `- ${candidateLine(candidate)}`);
  const text = others.length === 0 ? lead : [`${lead} If you mean another one:`, ...lines].join('\n');
  return {
    ...shown,
    furtherTexts: [...(shown.furtherTexts ?? []), text],
    structured: { ...shown.structured, resumed: { whyMatched, others: others.map(candidateData) } },
  };
}
