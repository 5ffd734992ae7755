import { unreachable } from '../../assert.ts';
import { holdsAt, type StepPlace } from '../../run/step-place.ts';
import { askedFor } from '../../workflow/compiled/confirmation.ts';

/** Who has a say before the run goes on; `none` also where the condition for it does not hold. */
export type DueConfirmation = StepPlace['step']['confirmation']['kind'];

export function dueConfirmation(place: StepPlace): DueConfirmation {
  return askedFor(place.step.confirmation, (condition) => holdsAt(place, condition));
}

/** Approval and verdict are requirements and say themselves what they need; a plain confirmation is only this text. */
export function confirmationText(place: StepPlace): string | undefined {
  const due = dueConfirmation(place);
  switch (due) {
    case 'none':
    case 'human_approval':
      return undefined;
    case 'coordinator_eval':
      return 'Whoever coordinates this work has to give the verdict. It is not yours to give unless that is you.';
    case 'confirm':
      return place.facts.preferences.autonomy === 'guided'
        ? 'Confirmation: when the step is done, show the user in a few lines what you settled, and wait for a yes before you send the next call. After a no, do what the step says about one, or else mend it as they say and ask again.'
        : 'Confirmation: nobody is asked in this mode. Decide in the place of the user, as they most likely would, and write the choice and its reason into the notes.';
    default:
      return unreachable(due);
  }
}
