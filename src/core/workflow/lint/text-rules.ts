import type { LintRule } from './lint-rule.ts';
import { spansOf } from './phrase-spans.ts';
import { sourceTexts } from './source-texts.ts';

/** Each leaves it to the agent whether a thing is done, without saying by what. */
const PHRASES = [
  'if (?:it is |it seems )?(?:applicable|appropriate|needed|necessary|required|relevant|possible|desired|feasible|you (?:want|like|wish))',
  '(?:as|where|when|whenever|wherever) (?:applicable|appropriate|needed|necessary|required|relevant|possible|feasible|desired)',
  'if time (?:permits|allows)',
  'feel free to',
  'you (?:may|might|can) (?:want|choose|wish) to',
  'optionally',
  'as you see fit',
  'at your discretion',
  'to the extent possible',
  'nice to have',
];
const VAGUE = new RegExp(`\\b(?:${PHRASES.join('|')})\\b`, 'gi');
const READ_BY_AGENTS = /^\/(?:steps|metaGuidance|functionDefinitions)\//;
/** Names, and what is compared or looked for as it stands. */
const NOT_PROSE = /\/(?:id|title|message|value|pattern|equals|contains|var|contractRef|source)$/;

export const vagueOptOut: LintRule = {
  code: 'vague_opt_out',
  looksAt: 'file',
  finds: 'words that let the agent leave something out without saying when',
  why: 'An agent in a hurry reads "if needed" as "no". Nobody can tell afterwards whether it was looked into or skipped.',
  hint: 'Say by what it is decided ("when the change touches the public API, …; otherwise write why not"), or put it behind a runCondition.',
  find: ({ root, text }) =>
    sourceTexts(root)
      .filter(({ pointer }) => READ_BY_AGENTS.test(pointer) && !NOT_PROSE.test(pointer))
      .flatMap((node) =>
        spansOf(node, VAGUE, text).map(({ phrase, span }) => ({
          at: node.pointer,
          span,
          message: `"${phrase}" lets the agent choose without saying by what.`,
        })),
      ),
};
