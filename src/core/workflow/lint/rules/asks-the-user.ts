import { field } from '../../format/reader.ts';
import type { SourceNode, SourceObject } from '../../source/source-node.ts';
import type { LintFinding, LintRule } from '../lint-rule.ts';
import { spansOf } from '../phrase-spans.ts';
import { sourceTexts } from '../source-texts.ts';

/** What tells the agent to turn to the user, and not what only speaks of it ("never ask the user", "if you ask me to"). */
const ASKING =
  /(?<!(?:\b(?:not|never|without|if you|when you)|n't) )\b(?:ask|consult|check with|confirm with) the user\b|(?<=^|[.!?:;]\s+|\n\s*(?:[-*]|\d+\.)?\s*)Ask me\b/gi;
/** Texts of a step that an agent reads. */
const READ = ['prompt', 'promptBlocks', 'guidance', 'promptFragments', 'synthesis'];

export const asksTheUser: LintRule = {
  code: 'asks_the_user',
  looksAt: 'file',
  finds: 'a prompt that tells the agent to ask the user, in a step that does not declare it',
  why: 'Whether anybody is there to be asked is decided by the mode of a run. Unattended, the agent asks into the void or makes the answer up, and the run records no gap.',
  hint: 'Give the step a "userDependency" (only the user can give it) or "requireConfirmation": true (the user may stop it); the reply then says whether to ask, and what to do if nobody is there.',
  find: ({ root, text }) =>
    root.kind === 'object' ? stepsIn(field(root, 'steps')).flatMap((step) => findIn(step, text)) : [],
};

/** The steps that declare nothing that a user has to do with, also inside of loops that do not. */
function stepsIn(list: SourceNode | undefined): readonly SourceObject[] {
  if (list?.kind !== 'array') return [];
  return list.items.flatMap((step) => {
    if (step.kind !== 'object' || isDeclared(step)) return [];
    return [step, ...stepsIn(field(step, 'body'))];
  });
}

function isDeclared(step: SourceObject): boolean {
  const confirmation = field(step, 'requireConfirmation');
  const isConfirmed = confirmation !== undefined && !(confirmation.kind === 'boolean' && !confirmation.value);
  return isConfirmed || step.fields.has('userDependency');
}

function findIn(step: SourceObject, text: string): readonly LintFinding[] {
  const read = READ.flatMap((name) => field(step, name) ?? []).flatMap(sourceTexts);
  return read.flatMap((node) =>
    spansOf(node, ASKING, text).map(({ phrase, span }) => ({
      at: node.pointer,
      span,
      message: `"${phrase}" asks whoever happens to be there; the step does not say that it needs the user.`,
    })),
  );
}
