import type { JsonObject } from '../../json/json-value.ts';
import { quote } from '../../json/quote.ts';
import { askedFor } from '../../workflow/compiled/confirmation.ts';
import { holdsAt, type StepAttempt } from '../step-place.ts';
import { exampleNotesAt } from './example-notes.ts';
import { clip } from './judge-artifact.ts';
import { met, notMet, type Requirement, requirementKind } from './requirement.ts';
import { contextPointer, stepPointer } from './step-check.ts';

type Dependency = Requirement<'user_dependency'>;

const QUESTION_BYTES_MAX = 420;
const ANSWER = 'The answer of the user, in their words';

/** Something only the user can supply. With a key only its value counts; without one the notes report the answer. */
export const userDependency = requirementKind<'user_dependency', 'unanswered'>({
  find: ({ step }) => (step.userDependency === undefined ? [] : [{ kind: 'user_dependency', ...step.userDependency }]),

  ask: (asked, { facts }) => {
    const { reason, choiceKind, contextKey, prompt } = asked;
    if (contextKey !== undefined && hasAnswer(facts.context, contextKey)) return undefined;
    const kind = choiceKind === undefined ? '' : ` (${choiceKind.replaceAll('_', ' ')})`;
    const way = facts.preferences.autonomy === 'full_auto_never_stop' ? unattendedWay(asked) : answerWay(asked);
    return `From the user: ${ONLY_THE_USER[reason]}${kind}.\n${prompt}\n${way}`;
  },

  form: ({ contextKey }, place) =>
    contextKey === undefined ? { notesMarkdown: exampleNotesAt(place) } : { context: { [contextKey]: ANSWER } },

  check: ({ contextKey }, attempt) => {
    const requirement = `user_dependency:${contextKey ?? attempt.step.stepId}`;
    const isMet = contextKey === undefined ? hasReply(attempt) : hasAnswer(attempt.facts.context, contextKey);
    return isMet ? met(requirement) : notMet(requirement, 'unanswered');
  },

  explain: (_, { reason, contextKey, prompt }, { step }) => {
    const code = `user_only_dependency:${reason}` as const;
    const question = clip(prompt, QUESTION_BYTES_MAX);
    if (contextKey === undefined) {
      return {
        reason: code,
        pointer: stepPointer(step),
        message: `This needs the user: ${question}`,
        suggestedFix: `Ask the user and wait. Then send this step again with the answer in output.notesMarkdown, which replaces notes already sent. Never answer in their place. To ask: ${question}`,
      };
    }
    return {
      reason: code,
      pointer: contextPointer(contextKey, step),
      message: `This needs the user, and the context has no value for ${quote(contextKey)}: ${question}`,
      suggestedFix: `Ask the user and wait; never answer in their place. Then send this step again with context ${quote({ [contextKey]: ANSWER })}, the answer as its value. To ask: ${question}`,
    };
  },
});

/** The user's approval of the step. */
export const approval = requirementKind<'approval', 'not_given'>({
  find: (place) => {
    const asked = askedFor(place.step.confirmation, (condition) => holdsAt(place, condition));
    return asked === 'human_approval' ? [{ kind: 'approval' }] : [];
  },

  ask: (_, { facts }) =>
    facts.preferences.autonomy === 'full_auto_never_stop'
      ? `A person should approve this step. ${WITHOUT}`
      : `A person must approve this step. ${HELD_BACK}`,

  form: (_, place) => ({ notesMarkdown: exampleNotesAt(place) }),

  check: (_, attempt) => {
    const requirement = `approval:${attempt.step.stepId}`;
    return hasReply(attempt) ? met(requirement) : notMet(requirement, 'not_given');
  },

  explain: (_, __, { step }) => ({
    reason: 'user_only_dependency:needs_user_approval',
    pointer: stepPointer(step),
    message: `The user has to approve this step before the run goes on.`,
    suggestedFix: `Show the user what you have and ask for approval. When it is given, send this step again and say in output.notesMarkdown what was approved, in their words; these notes replace notes already sent. Never approve in their place.`,
  }),
});

const ONLY_THE_USER: { readonly [reason in Dependency['reason']]: string } = {
  needs_user_secret_or_token: 'a secret that only the user has',
  needs_user_account_access: 'access that only the user can give',
  needs_user_artifact: 'something that only the user can supply',
  needs_user_choice: 'a choice that only the user may make',
  needs_user_approval: "the user's approval",
  needs_user_environment_action: 'something done that only the user can do',
};

const ASSUMED =
  'Nobody will be asked in this mode: look for the answer yourself, assume what is most likely, say in the notes what you assumed, and go on. It is recorded as a gap.';
const WITHOUT =
  'Nobody will be asked in this mode: do what can be done without it and nothing that cannot be taken back, say in the notes what you left out, and go on. It is recorded as a gap.';
const HELD_BACK =
  'The first report of the step is held back in any case. Then show it, ask, and wait; the call that you are given takes the report again, with the answer in their words, as notes.';

/** A preference can be guessed; a secret, access or a consent cannot. */
function unattendedWay({ reason, choiceKind }: Dependency): string {
  const isGuessed = choiceKind === 'preference_tradeoff' || choiceKind === 'scope_boundary';
  return reason === 'needs_user_choice' && isGuessed ? ASSUMED : WITHOUT;
}

function answerWay({ contextKey }: Dependency): string {
  if (contextKey === undefined) return HELD_BACK;
  return `Ask, wait for the answer, and send it as context: ${quote({ [contextKey]: "the user's answer" })}. Without an answer, wait here.`;
}

/** Notes of the first attempt cannot hold the answer: only the block makes the agent ask. */
function hasReply({ isRetry, hasNewNotes }: StepAttempt): boolean {
  return isRetry && hasNewNotes;
}

/** Whether context holds an answer. An empty text is not one; `false` and zero are. */
export function hasAnswer(context: JsonObject, key: string): boolean {
  const value = Object.hasOwn(context, key) ? context[key] : undefined;
  return value !== undefined && value !== null && (typeof value !== 'string' || value.trim() !== '');
}
