import type { StepPlace } from '../step-place.ts';
import { assessments } from './assessment.ts';
import { capability } from './capability.ts';
import { outputContract } from './contract.ts';
import { criteria } from './criteria.ts';
import { gate } from './gate.ts';
import { loopControlArtifact } from './loop-control.ts';
import { notes } from './notes.ts';
import type { AskedAttempt, AskedPlace, Requirement, RequirementKind, RequirementName } from './requirement.ts';
import type { Found } from './step-check.ts';
import { approval, userDependency } from './user.ts';

/** Every kind of requirement, in the order in which a prompt shows them. */
const KINDS: { readonly [Name in RequirementName]: RequirementKind<Name> } = {
  notes,
  criteria,
  output_contract: outputContract,
  loop_control: loopControlArtifact,
  assessments,
  gate,
  capability,
  user_dependency: userDependency,
  approval,
};

/** Everything a step asks for at this place. The prompt shows exactly what an attempt is later compared with. */
export function requirementsOf(place: StepPlace): readonly Requirement[] {
  return Object.values(KINDS).flatMap<Requirement>(({ find }) => find(place));
}

/** A place with everything its step asks for. */
export function askedAt<Place extends StepPlace>(place: Place): Place & AskedPlace {
  return { ...place, requirements: requirementsOf(place) };
}

/** What a step asks for, as the prompt shows it before the agent works: one paragraph for each. */
export function requirementTexts(place: AskedPlace): readonly string[] {
  const texts = place.requirements.flatMap((one) => ask(one, place) ?? []);
  if (texts.length === 0) return [];
  const isOnlyNotes = place.requirements.length === 1 && place.requirements[0]?.kind === 'notes';
  return isOnlyNotes ? [ONLY_NOTES] : [LEAD, ...texts];
}

const LEAD = 'Required:';
const ONLY_NOTES = 'Required: notes about this step only, in `output.notesMarkdown`.';

function ask<Name extends RequirementName>(asked: Requirement<Name>, place: AskedPlace): string | undefined {
  return KINDS[asked.kind].ask(asked, place);
}

/** Compares an attempt with one thing that its step asks for. */
export function judge<Name extends RequirementName>(asked: Requirement<Name>, attempt: AskedAttempt): Found {
  return KINDS[asked.kind].judge(asked, attempt);
}
