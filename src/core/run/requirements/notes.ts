import type { StepAttempt } from '../step-place.ts';
import { exampleNotesAt } from './example-notes.ts';
import { met, notMet, requirementKind, stepPointer } from './requirement.ts';

/** Notes about the step, which a person or another agent can read later. */
export const notes = requirementKind<'notes', 'missing'>({
  find: ({ step }) => (step.isNoteRequired ? [{ kind: 'notes' }] : []),
  ask: () => 'Notes about this step only, in `output.notesMarkdown`.',
  form: (_, place) => ({ notesMarkdown: exampleNotesAt(place) }),
  check: (_, attempt) => {
    const requirement = `notes:${attempt.step.stepId}`;
    return hasNotes(attempt) ? met(requirement) : notMet(requirement, 'missing');
  },
  explain: (_, __, { step }) => ({
    reason: 'contract_violation:missing_required_output',
    pointer: stepPointer(step),
    message: 'This step requires notes, and none were sent.',
    suggestedFix:
      'Send `output.notesMarkdown`: what you did in this step, the result, and what is still open. Write about this step only.',
  }),
});

export function hasNotes({ handedIn }: StepAttempt): boolean {
  return (handedIn.notesMarkdown ?? '').trim() !== '';
}
