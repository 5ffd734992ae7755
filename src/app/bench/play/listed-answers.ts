import type { SentStep } from '../../../core/author/scenario.ts';
import type { Answer } from '../../author/play-run.ts';
import { filledIn } from './sent-step.ts';

/** Answers with what is listed, in order; a step that is not listed gets its own example. */
export function listedAnswers(steps: readonly SentStep[]): { readonly answer: Answer; readonly left: SentStep[] } {
  const left = [...steps];
  return {
    left,
    answer: async (turn) => {
      const [first] = left;
      const { pending } = turn.reply;
      if (first === undefined || first.at !== pending?.stepId) return turn.example && { sent: turn.example };
      left.shift();
      return { sent: filledIn(first, turn.example), listed: first };
    },
  };
}
