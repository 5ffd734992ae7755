import type { JsonObject } from '../../json/json-value.ts';
import { BLOCKER_FIX_BYTES_MAX, BLOCKER_MESSAGE_BYTES_MAX } from '../../log/budgets.ts';
import type { Criteria } from '../../workflow/compiled/criteria.ts';
import type { Facts } from '../condition/evaluate-condition.ts';
import { evaluateCriteria } from '../condition/evaluate-criteria.ts';
import { conditionFacts, type StepAttempt, type StepPlace } from '../step-place.ts';
import { describeUnmet, missingChoices } from './describe-criteria.ts';
import { exampleNotes } from './example-notes.ts';
import { clip } from './judge-artifact.ts';
import type { Requirement } from './requirement.ts';
import { sampleFor } from './sample-values.ts';
import { type Found, fitItems, met, notMet, stepPointer } from './step-check.ts';

/** One rule must not push all others out of the message; the fix has room for more of it. */
const RULE_IN_MESSAGE_BYTES_MAX = 200;
const RULE_IN_FIX_BYTES_MAX = 400;

const WORK_DONE = 'What was done in this step, what came of it, and what is open.';
const USER_SAID = 'What the user said, in their words.';

export function checkNotes(attempt: StepAttempt, example: () => string): Found {
  const { step } = attempt;
  const requirement = `notes:${step.stepId}`;
  if (hasNotes(attempt)) return met(requirement);
  return notMet({
    reason: 'contract_violation:missing_required_output',
    pointer: stepPointer(step),
    message: 'This step needs notes and none were sent.',
    suggestedFix:
      'Send output.notesMarkdown: what you did in this step, what came of it, and what is open. Write about this step only; earlier notes are kept.',
    requirement,
    example: { notesMarkdown: example() },
  });
}

/** What the notes have to show. Notes that are not there are missing, not wrong. */
export function checkCriteria(
  { criteria, isEnforced }: Extract<Requirement, { kind: 'criteria' }>,
  attempt: StepAttempt,
  example: () => string,
): Found {
  const { step, handedIn } = attempt;
  const requirement = `criteria:${step.stepId}`;
  if (!isEnforced) return { unmet: [], met: [] };
  const notes = handedIn.notesMarkdown ?? '';
  const found = evaluateCriteria(criteria, notes, conditionFacts(attempt));
  if (found.length === 0) return met(requirement);
  const unmet = found.map((one) => describeUnmet(one, conditionFacts(attempt)));
  // Notes that will do are kept, and so is what they say in place of a value.
  const lacking: Criteria = {
    kind: 'and',
    criteria: found.flatMap((one) => (one.kind === 'missing' ? [one.rule] : [])),
  };
  const areNotesEnough =
    hasNotes(attempt) && evaluateCriteria(criteria, notes, chosenFacts(attempt, lacking)).length === 0;
  const context = choicesAt(attempt, areNotesEnough ? lacking : criteria);
  return notMet({
    reason: `contract_violation:${hasNotes(attempt) ? 'invalid' : 'missing'}_required_output`,
    pointer: stepPointer(step),
    message: fitItems(
      unmet.map((rule) => clip(rule, RULE_IN_MESSAGE_BYTES_MAX)),
      {
        head: areNotesEnough ? 'The report lacks: ' : 'The notes lack what this step asks of them: ',
        separator: '; ',
        bytesMax: BLOCKER_MESSAGE_BYTES_MAX,
      },
    ),
    suggestedFix: fitItems(
      unmet.map((rule) => clip(rule, RULE_IN_FIX_BYTES_MAX)),
      {
        head: `${areNotesEnough ? KEPT : REPLACED} Mend:\n- `,
        separator: '\n- ',
        bytesMax: BLOCKER_FIX_BYTES_MAX,
      },
    ),
    requirement,
    example: {
      ...(areNotesEnough ? {} : { notesMarkdown: example() }),
      ...(Object.keys(context).length === 0 ? {} : { context }),
    },
  });
}

const REPLACED =
  'Send output.notesMarkdown as a whole, from work that was really done; it replaces notes already sent.';
const KEPT = 'The notes already sent are kept; send the context.';

/** What conditions see once the context has what the criteria ask of it. */
function chosenFacts(place: StepPlace, criteria: Criteria): Facts {
  const facts = conditionFacts(place);
  return { ...facts, context: { ...facts.context, ...choicesAt(place, criteria) } };
}

function choicesAt(place: StepPlace, criteria: Criteria): JsonObject {
  const sampleOf = (variable: string) => sampleFor(place.index, variable);
  return missingChoices(criteria, { ...conditionFacts(place), sampleOf });
}

/** Notes that meet all that this place asks of notes, so that one text does for every requirement about them. */
export function exampleNotesAt(place: StepPlace, requirements: readonly Requirement[]): string {
  const isAnswer = requirements.some(
    (one) => one.kind === 'approval' || (one.kind === 'user_dependency' && one.contextKey === undefined),
  );
  const enforced = requirements.find((one) => one.kind === 'criteria' && one.isEnforced);
  const criteria = enforced?.kind === 'criteria' ? enforced.criteria : undefined;
  const facts = criteria === undefined ? conditionFacts(place) : chosenFacts(place, criteria);
  return exampleNotes(isAnswer ? `${WORK_DONE} ${USER_SAID}` : WORK_DONE, criteria, facts);
}

function hasNotes({ handedIn }: StepAttempt): boolean {
  return (handedIn.notesMarkdown ?? '').trim() !== '';
}
