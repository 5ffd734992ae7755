import { ANSWER_WORDS, notesForm, WORK_WORDS } from '../form/blank.ts';
import type { StepAttempt } from '../step-place.ts';
import { chosenFacts, formLines } from './describe-criteria.ts';
import { type AskedPlace, met, notMet, type Requirement, requirementKind, stepPointer } from './requirement.ts';

/** Notes about the step, which a person or another agent can read later. */
export const notes = requirementKind<'notes', 'missing'>({
  find: ({ step }) => (step.isNoteRequired ? [{ kind: 'notes' }] : []),
  ask: () => 'Notes about this step only, in `output.notesMarkdown`.',
  form: (_, place) => ({ notesMarkdown: notesFormAt(place) }),
  check: (_, attempt) => {
    const requirement = `notes:${attempt.step.stepId}`;
    return hasNotes(attempt) ? met(requirement) : notMet(requirement, 'missing');
  },
  explain: (_, __, { step }) => ({
    reason: 'contract_violation:missing_required_output',
    pointer: stepPointer(step),
    message: 'This step requires notes.',
    suggestedFix:
      'Send `output.notesMarkdown`: what you did in this step, the result, and what is still open. Write about this step only.',
  }),
});

export function hasNotes({ handedIn }: Pick<StepAttempt, 'handedIn'>): boolean {
  return (handedIn.notesMarkdown ?? '').trim() !== '';
}

/** Notes to fill in that cover everything this place asks of notes. */
export function notesFormAt(place: AskedPlace): string {
  const isAnswer = place.requirements.some(
    (one) => one.kind === 'approval' || (one.kind === 'user_dependency' && one.contextKey === undefined),
  );
  const enforced = place.requirements.find(
    (one): one is Requirement<'criteria'> => one.kind === 'criteria' && one.isEnforced,
  );
  const rules = enforced?.criteria;
  // The offered context makes rules void that count only while a key has no value.
  const lines = rules === undefined ? [] : formLines(rules, chosenFacts(place, rules));
  return notesForm([WORK_WORDS, ...(isAnswer ? [ANSWER_WORDS] : [])], lines);
}
