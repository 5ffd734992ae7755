import { type JsonObject, ownValue, quote } from '../../json/json-value.ts';
import { clip } from '../../text/utf8.ts';
import { askedFor } from '../../workflow/compiled/compiled-step.ts';
import { blank } from '../form/blank.ts';
import { keyBlank } from '../form/context-form.ts';
import { holdsAt, type StepPlace } from '../step-place.ts';
import { notesFormAt } from './notes.ts';
import {
  type AskedAttempt,
  contextPointer,
  met,
  notMet,
  type Requirement,
  requirementKind,
  stepPointer,
} from './requirement.ts';

type Dependency = Requirement<'user_dependency'>;

const QUESTION_BYTES_MAX = 420;

/** Something only the user can supply. With a key only its value counts; without one the notes report the answer. */
export const userRequirement = requirementKind<'user_dependency', 'unanswered'>({
  find: ({ step }) => (step.userDependency === undefined ? [] : [{ kind: 'user_dependency', ...step.userDependency }]),

  ask: (asked, { facts }) => {
    const { reason, choiceKind, contextKey, prompt } = asked;
    if (contextKey !== undefined && hasAnswer(facts.context, contextKey)) return undefined;
    const kind = choiceKind === undefined ? '' : ` (${choiceKind.replaceAll('_', ' ')})`;
    const way = facts.preferences.autonomy === 'full_auto_never_stop' ? unattendedWay(asked) : answerWay(asked);
    return `This step needs ${ONLY_THE_USER[reason]}${kind}.\n${prompt}\n${way}`;
  },

  form: ({ contextKey }, place) =>
    contextKey === undefined
      ? { notesMarkdown: notesFormAt(place) }
      : { context: { [contextKey]: answerBlank(place, contextKey) } },

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
        message: `This step needs the user: ${question}`,
        suggestedFix: `Ask the user and wait. Never answer for the user. Then send this step again with the answer in \`output.notesMarkdown\`; these notes replace the ones you sent.`,
      };
    }
    return {
      reason: code,
      pointer: contextPointer(contextKey, step),
      message: `This step needs an answer from the user, and ${quote(contextKey)} is missing in context. Question: ${question}`,
      suggestedFix: `Ask the user and wait. Never answer for the user. Then send the answer in the \`context\` argument, under the key ${quote(contextKey)}.`,
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
      ? `The user should approve this step. ${WITHOUT}`
      : `The user must approve this step. ${HELD_BACK}`,

  form: (_, place) => ({ notesMarkdown: notesFormAt(place) }),

  check: (_, attempt) => {
    const requirement = `approval:${attempt.step.stepId}`;
    return hasReply(attempt) ? met(requirement) : notMet(requirement, 'not_given');
  },

  explain: (_, __, { step }) => ({
    reason: 'user_only_dependency:needs_user_approval',
    pointer: stepPointer(step),
    message: 'The user must approve this step before the run continues.',
    suggestedFix:
      'Show the user your work and ask for approval. Never approve for the user. When the user approves, send this step again and write in `output.notesMarkdown` what was approved, in their words; these notes replace the ones you sent.',
  }),
});

const ONLY_THE_USER: { readonly [reason in Dependency['reason']]: string } = {
  needs_user_secret_or_token: 'a secret or token from the user',
  needs_user_account_access: 'access to an account from the user',
  needs_user_artifact: 'an answer or a file from the user',
  needs_user_choice: 'a choice from the user',
  needs_user_approval: 'approval from the user',
  needs_user_environment_action: 'an action by the user',
};

const ASSUMED =
  'In this mode nobody is asked. Look for the answer yourself, assume what is most likely, write in the notes what you assumed, and continue. The run records a gap.';
const WITHOUT =
  'In this mode nobody is asked. Do what is possible without it, but nothing that cannot be undone. Write in the notes what you left out, and continue. The run records a gap.';
const HELD_BACK =
  "Your first report is always blocked: show it to the user and wait for the answer. Then send the call from the blocked reply, with the report and the user's answer, in their words, as notes.";

/** A preference can be guessed; a secret, access or a consent cannot. */
function unattendedWay({ reason, choiceKind }: Dependency): string {
  const isGuessed = choiceKind === 'preference_tradeoff' || choiceKind === 'scope_boundary';
  return reason === 'needs_user_choice' && isGuessed ? ASSUMED : WITHOUT;
}

function answerWay({ contextKey }: Dependency): string {
  if (contextKey === undefined) return HELD_BACK;
  return `Ask the user, wait for the answer, and send it in the \`context\` argument (not inside \`output\`), under the key ${quote(contextKey)}. Do not continue without an answer.`;
}

/** A blank for the answer: with the values that the workflow compares it with, or else for the user's words. */
function answerBlank({ index }: StepPlace, key: string): string {
  const offered = keyBlank(index, key);
  return offered.includes('|') ? offered : blank("the user's answer, in their words");
}

/** Notes of the first attempt cannot hold the answer: only the block makes the agent ask. */
function hasReply({ isRetry, hasNewNotes, unfilled }: AskedAttempt): boolean {
  return isRetry && hasNewNotes && unfilled.notes.length === 0;
}

/** Whether context holds an answer. An empty text is not one; `false` and zero are. */
export function hasAnswer(context: JsonObject, key: string): boolean {
  const value = ownValue(context, key);
  return value !== undefined && value !== null && (typeof value !== 'string' || value.trim() !== '');
}
