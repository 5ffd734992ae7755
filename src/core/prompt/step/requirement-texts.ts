import { unreachable } from '../../assert.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { quote } from '../../json/quote.ts';
import type { Autonomy } from '../../log/autonomy.ts';
import type { Requirement } from '../../run/requirements/requirement.ts';

/** What a step asks for, told before the agent works: one paragraph for each, however many there are. */
export function requirementTexts(
  requirements: readonly Requirement[],
  { met, autonomy }: { readonly met: readonly string[]; readonly autonomy: Autonomy },
): readonly string[] {
  const texts = requirements.flatMap((one) => requirementText(one, { requirements, met, autonomy }) ?? []);
  if (texts.length === 0) return [];
  return requirements.length === 1 && texts[0] === NOTES ? [ONLY_NOTES] : [LEAD, ...texts];
}

const LEAD = 'Needed to go on:';
const ONLY_NOTES = `${LEAD} notes on this step alone, in output.notesMarkdown.`;
const NOTES = 'Notes on this step alone, in output.notesMarkdown.';

type Around = {
  readonly requirements: readonly Requirement[];
  /** Names of those that a call need not bring. */
  readonly met: readonly string[];
  readonly autonomy: Autonomy;
};

function requirementText(requirement: Requirement, around: Around): string | undefined {
  const isAlone = around.autonomy === 'full_auto_never_stop';
  switch (requirement.kind) {
    case 'notes':
      return NOTES;
    case 'criteria':
      return criteriaText(requirement);
    case 'output_contract':
      return artifactText(requirement, [requirement.example], requirement.isRequired ? '' : 'Optional. ');
    case 'loop_control':
    case 'gate':
      return artifactText(requirement, [requirement.example]);
    case 'assessments':
      return artifactText(requirement, requirement.examples);
    case 'capability':
      return capabilityText(requirement, around);
    case 'user_dependency':
      if (around.met.includes(`user_dependency:${requirement.contextKey}`)) return undefined;
      return `${asked(requirement)}\n${isAlone ? aloneWay(requirement) : answerWay(requirement)}`;
    case 'approval':
      return isAlone
        ? `A person should approve this step. ${WITHOUT}`
        : `A person must approve this step. ${HELD_BACK}`;
    default:
      return unreachable(requirement);
  }
}

const ASSUMED =
  'Nobody will be asked in this mode: look for the answer yourself, assume what is most likely, say in the notes what you assumed, and go on. It is recorded as a gap.';
const WITHOUT =
  'Nobody will be asked in this mode: do what can be done without it and nothing that cannot be taken back, say in the notes what you left out, and go on. It is recorded as a gap.';
const HELD_BACK =
  'The first report of the step is held back in any case. Then show it, ask, and wait; the call that you are given takes the report again, with the answer in their words, as notes.';

function criteriaText({ isEnforced, bullets }: Extract<Requirement, { kind: 'criteria' }>): string | undefined {
  if (bullets.length === 0) return undefined;
  const lead = isEnforced ? 'What the report must show:' : 'What the notes should show (advice, not checked):';
  return [lead, ...bullets.map((bullet) => `- ${bullet}`)].join('\n');
}

type Asked = { readonly contract: { readonly guidance: string }; readonly hints: readonly string[] };

function artifactText({ contract, hints }: Asked, examples: readonly JsonObject[], mark = ''): string {
  return [
    `${mark}${contract.guidance}`,
    'Put it into output.artifacts. For example, with values of your own:',
    ...examples.map((example) => quote(example)),
    ...hints.map((hint) => `Hint: ${hint}`),
  ].join('\n');
}

/** A contract for the observation already says how to report it. */
function capabilityText(
  { capability, known, isSettledHere }: Extract<Requirement, { kind: 'capability' }>,
  { requirements }: Around,
): string | undefined {
  if (known === 'available') return undefined;
  if (!isSettledHere)
    return `${capability}: this workflow cannot be done without it, and it is not known to work here.`;
  const isToldByContract = requirements.some(
    (one) => one.kind === 'output_contract' && one.contract.artifactKind === 'wr.capability_observation',
  );
  if (isToldByContract) return undefined;
  const example = { kind: 'wr.capability_observation', capability, status: 'available' };
  return `${capability}: this workflow cannot be done without it. Try it in this step and report what you saw in output.artifacts, for example ${quote(example)}`;
}

type Dependency = Extract<Requirement, { kind: 'user_dependency' }>;

const ONLY_THE_USER: { readonly [reason in Dependency['reason']]: string } = {
  needs_user_secret_or_token: 'a secret that only the user has',
  needs_user_account_access: 'access that only the user can give',
  needs_user_artifact: 'something that only the user can supply',
  needs_user_choice: 'a choice that only the user may make',
  needs_user_approval: "the user's approval",
  needs_user_environment_action: 'something done that only the user can do',
};

function asked({ reason, choiceKind, prompt }: Dependency): string {
  const kind = choiceKind === undefined ? '' : ` (${choiceKind.replaceAll('_', ' ')})`;
  return `From the user: ${ONLY_THE_USER[reason]}${kind}.\n${prompt}`;
}

/** Somebody's wish can be guessed; a secret, access or a consent cannot. */
function aloneWay({ reason, choiceKind }: Dependency): string {
  const isGuessed = choiceKind === 'preference_tradeoff' || choiceKind === 'scope_boundary';
  return reason === 'needs_user_choice' && isGuessed ? ASSUMED : WITHOUT;
}

function answerWay({ contextKey }: Dependency): string {
  if (contextKey === undefined) return HELD_BACK;
  return `Ask, wait for the answer, and send it as context: ${quote({ [contextKey]: "the user's answer" })}. Without an answer, wait here.`;
}
