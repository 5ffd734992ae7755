import { defined, type JsonObject, type JsonValue, ownValue, quote } from '../../json/json-value.ts';
import type { Assurance } from '../../log/autonomy.ts';
import { runTag } from '../../log/ids.ts';
import { clip } from '../../text/utf8.ts';
import { commentWords } from '../../views/attestations.ts';
import { USER_NEEDS } from '../../workflow/outline/workflow-outline.ts';
import { blank } from '../form/blank.ts';
import { keyBlank, USER_ANSWER_WORDS } from '../form/context-form.ts';
import {
  attemptDigest,
  draftCode,
  draftParts,
  type GateFacts,
  type Signer,
  type SigningFacts,
  signersOf,
  strongestAssurance,
  unsignableWords,
  type VoidedApproval,
  voidedBy,
  voidedWords,
} from '../gate-facts.ts';
import { dueConfirmation, gatePass, type RunFacts, type StepPlace } from '../step-place.ts';
import { unseenFix } from '../unseen-files.ts';
import { notesFormAt } from './notes.ts';
import {
  type AskedAttempt,
  type AskedPlace,
  contextPointer,
  met,
  notMet,
  type Requirement,
  requirementKind,
  stepPointer,
  type Unmet,
} from './requirement.ts';

type Dependency = Requirement<'user_dependency'>;

const QUESTION_BYTES_MAX = 420;

/** What is missing: an answer that the agent reports, or one that a person gives on a channel of their own. */
type Problem =
  | { readonly kind: 'unreported' }
  | { readonly kind: 'waiting'; readonly draft: Draft | undefined }
  | { readonly kind: 'rejected'; readonly draft: Draft; readonly comment: string | undefined };
type Draft = {
  readonly digest: string;
  readonly code: string;
  readonly parts: JsonObject;
  /** An approval of an earlier draft, which does not count for this one. */
  readonly voided?: VoidedApproval | undefined;
};

/** Something only the user can supply. With a key only its value counts; without one the notes report the answer. */
export const userRequirement = requirementKind<'user_dependency', Problem>({
  find: ({ step }) => (step.userDependency === undefined ? [] : [{ kind: 'user_dependency', ...step.userDependency }]),

  ask: (asked, place) => {
    const { reason, choiceKind, contextKey, prompt } = asked;
    const { facts } = place;
    // Every draft needs an answer of its own where only a person's answer counts.
    const isKnown = contextKey !== undefined && hasAnswer(facts.context, contextKey);
    if (isKnown && !isConfirmed(asked, place)) return undefined;
    const kind = choiceKind === undefined ? '' : CHOICE_ABOUT[choiceKind];
    const isUnasked = facts.preferences.autonomy === 'full_auto_never_stop' && !isHeld(asked, place);
    const needs = `This step needs ${USER_NEEDS[reason]}${kind}`;
    return isUnasked
      ? `${needs}, but ${NOT_ASKED} ${unattendedWay(asked)}\nThe user would be asked: ${prompt}`
      : `${needs}.\n${prompt}\n${isHeld(asked, place) ? waits(facts, asked) : answerWay(asked)}`;
  },

  form: ({ contextKey }, place, problem) => {
    if (problem.kind === 'rejected') return changedWork(place);
    if (problem.kind === 'waiting') return NOTHING_TO_SEND;
    return contextKey === undefined
      ? { notesMarkdown: notesFormAt(place) }
      : { context: { [contextKey]: answerBlank(place, contextKey) } };
  },

  check: (asked, attempt) => {
    const { contextKey, prompt } = asked;
    const requirement = `user_dependency:${contextKey ?? attempt.step.stepId}`;
    if (isConfirmed(asked, attempt)) {
      const problem = judgeAnswer(attempt, { question: prompt, contextKey });
      return problem === undefined ? met(requirement) : notMet(requirement, problem);
    }
    const isMet = contextKey === undefined ? hasReply(attempt) : hasAnswer(attempt.facts.context, contextKey);
    return isMet ? met(requirement) : notMet(requirement, { kind: 'unreported' });
  },

  explain: (problem, { reason, contextKey, prompt }, attempt) => {
    const code = `user_only_dependency:${reason}` as const;
    const question = clip(prompt, QUESTION_BYTES_MAX);
    const pointer = contextKey === undefined ? stepPointer(attempt.step) : contextPointer(contextKey, attempt.step);
    if (problem.kind !== 'unreported') return { reason: code, pointer, ...waitingWords(problem, attempt, question) };
    if (contextKey === undefined) {
      return {
        reason: code,
        pointer,
        message: `This step needs the user: ${question}`,
        suggestedFix:
          'Ask the user and wait. Never answer for the user. Then send this step again with the answer in `output.notesMarkdown`; it replaces the notes you sent.',
      };
    }
    return {
      reason: code,
      pointer,
      message: `The user has not given ${quote(contextKey)}. The step says: ${question}`,
      suggestedFix: `Ask the user and wait. Never answer for the user. Then send the answer in the \`context\` argument, under the key ${quote(contextKey)}.`,
    };
  },
});

/** The user's approval of the step. */
export const approval = requirementKind<'approval', Problem>({
  find: (place) => {
    return dueConfirmation(place) === 'human_approval'
      ? [{ kind: 'approval', ...defined({ assurance: place.step.assurance }) }]
      : [];
  },

  ask: (asked, place) => {
    if (isHeld(asked, place)) return `The user must approve this step. ${waits(place.facts, asked)}`;
    return place.facts.preferences.autonomy === 'full_auto_never_stop'
      ? `The user should approve this step, but ${NOT_ASKED} ${WITHOUT}`
      : `The user must approve this step. ${HELD_BACK}`;
  },

  form: (_, place, problem) => {
    if (problem.kind === 'rejected') return changedWork(place);
    return problem.kind === 'unreported' ? { notesMarkdown: notesFormAt(place) } : NOTHING_TO_SEND;
  },

  check: (asked, attempt) => {
    const requirement = `approval:${attempt.step.stepId}`;
    if (isConfirmed(asked, attempt)) {
      const problem = judgeAnswer(attempt, { question: approvalQuestion(attempt) });
      return problem === undefined ? met(requirement) : notMet(requirement, problem);
    }
    return hasReply(attempt) ? met(requirement) : notMet(requirement, { kind: 'unreported' });
  },

  explain: (problem, _, attempt) => {
    const head = {
      reason: 'user_only_dependency:needs_user_approval',
      pointer: stepPointer(attempt.step),
    } as const;
    if (problem.kind !== 'unreported') return { ...head, ...waitingWords(problem, attempt, approvalQuestion(attempt)) };
    return {
      ...head,
      message: 'The user must approve this step before the run continues.',
      suggestedFix:
        'Show the user your work and ask for approval. Never approve for the user. When the user approves, send this step again and write in `output.notesMarkdown` what was approved, in their words; these notes replace the ones you sent.',
    };
  },
});

/** The retry from a blocked attempt needs no output: everything it sent is kept. */
const NOTHING_TO_SEND = {};

/** The same draft would be rejected again, so a new report is asked for; the person's answer is not part of it. */
function changedWork(place: AskedPlace): { readonly notesMarkdown: string } {
  const requirements = place.requirements.filter(({ kind }) => kind !== 'approval' && kind !== 'user_dependency');
  return { notesMarkdown: notesFormAt({ ...place, requirements }) };
}

/** Whether only an answer on a channel of its own counts. */
function isConfirmed(
  { assurance = 'stated' }: { readonly assurance?: Assurance | undefined },
  { facts }: StepPlace,
): boolean {
  return strongestAssurance(assurance, facts.gates?.minimum ?? 'stated') !== 'stated';
}

/** Whether the run waits there for such an answer. */
function isHeld(asked: { readonly assurance?: Assurance | undefined }, place: StepPlace): boolean {
  return isConfirmed(asked, place) && gatePass(place.facts) === undefined;
}

/** Whether a step is held for a person in any mode that the agent can choose. */
export function needsPerson(place: StepPlace): boolean {
  const { assurance, userDependency } = place.step;
  const isApproval = dueConfirmation(place) === 'human_approval' && isHeld({ assurance }, place);
  return isApproval || (userDependency !== undefined && isHeld(userDependency, place));
}

/** What a person is asked about a step that needs approval. It is part of what the approval's digest names. */
export function approvalQuestion({ step }: Pick<StepPlace, 'step'>): string {
  return `Approve step ${quote(clip(step.title, TITLE_BYTES_MAX))}?`;
}

const TITLE_BYTES_MAX = 200;

/** What is missing of a person's answer to exactly this draft; `undefined` where nothing is. */
function judgeAnswer(
  { gate, handedIn, facts }: AskedAttempt,
  { question, contextKey }: { readonly question: string; readonly contextKey?: string | undefined },
): Problem | undefined {
  if (gate === undefined) return { kind: 'waiting', draft: undefined };
  const sent = { handedIn, context: facts.context, question, gateKey: contextKey };
  const digest = attemptDigest(gate, sent);
  const parts = draftParts(gate, sent);
  const { approved } = gate;
  const voided = approved !== undefined && approved.digest !== digest ? voidedBy(approved, parts) : undefined;
  const draft = { digest, code: draftCode(digest), parts, ...defined({ voided }) };
  const said = gate.attestations.findLast(
    ({ subject, by }) => subject.kind === 'attempt' && subject.digest === digest && gate.accept.includes(by.via),
  );
  if (said?.statement.kind === 'rejected') {
    return { kind: 'rejected', draft, comment: said.statement.comment };
  }
  // A value that a person gave to another draft, or in an earlier round of a loop, is no answer to this one.
  const isGiven =
    contextKey === undefined
      ? said?.statement.kind === 'approved' || said?.statement.kind === 'answered'
      : said?.statement.kind === 'answered' &&
        gate.personKeys.includes(contextKey) &&
        hasAnswer(facts.context, contextKey) &&
        // What was signed is what counts, whatever the context holds.
        quote(said.statement.value ?? null) === quote(ownValue(facts.context, contextKey) ?? null);
  const isSigned = gate.signing === undefined || said?.by.via === 'rehearsal' || isSignedByAll(gate, digest);
  return isGiven && isSigned ? undefined : { kind: 'waiting', draft };
}

/** Whether as many approvers signed as the settings ask for. */
function isSignedByAll(gate: GateFacts, digest: string): boolean {
  return signersOf(gate, digest).length >= (gate.signing?.needed ?? 1);
}

/** The words for an agent that waits for a person. It can do nothing but ask the user to answer. */
function waitingWords(
  problem: Exclude<Problem, { kind: 'unreported' }>,
  { gate, facts }: AskedAttempt,
  question: string,
): Pick<Unmet, 'message' | 'suggestedFix'> & Partial<Pick<Unmet, 'details'>> {
  const { draft } = problem;
  if (draft === undefined || gate === undefined)
    return { message: `This step waits for a person: ${question}`, suggestedFix: waits(facts) };
  const { code } = draft;
  const tag = runTag(gate.subject.runId);
  const { voided } = draft;
  const details = {
    approval: { digest: draft.digest, code },
    draft: draft.parts,
    ...(voided === undefined ? {} : { voided }),
  };
  const pass = gatePass(facts);
  if (pass !== undefined) {
    const decided = problem.kind === 'rejected' ? `A person rejected draft ${code}.` : `No person decided: ${question}`;
    return {
      message: `${decided} ${PASSED_BY[pass]}`,
      suggestedFix: `I${NOT_ASKED.slice(1)} ${WITHOUT}`,
      details: { ...details, passedBy: pass },
    };
  }
  if (problem.kind === 'rejected') {
    return { ...rejectedWords(code, problem.comment), details: { ...details, rejected: true } };
  }
  // Nobody has to be asked again: the approval counts as soon as git lists the same files.
  if (voided?.unseen !== undefined) {
    const suggestedFix = `Do not ask the user again. ${unseenFix(voided.unseen)} Then send the next call; it needs no output.`;
    return { message: voidedWords(voided), suggestedFix, details: { ...details, gitSilent: true } };
  }
  return {
    message:
      voided === undefined
        ? `This step waits for a person: ${question}${unsignableWords(gate)}`
        : `${voidedWords(voided)} This step waits for a person again: ${clip(question, QUESTION_AGAIN_BYTES_MAX)}`,
    suggestedFix: `Tell the user: "The run ${tag} waits for your decision on draft ${code}. ${placeToAnswer(gate, { command: facts.command ?? 'workrail', tag, digest: draft.digest })}" Then stop and wait. An answer in notes or context does not count.`,
    details: gate.signing === undefined ? details : { ...details, assurance: 'signed' },
  };
}

const QUESTION_AGAIN_BYTES_MAX = 160;

/** The words for an agent whose draft a person rejected: only other work leads on. */
export function rejectedWords(
  code: string,
  comment: string | undefined,
): { readonly message: string; readonly suggestedFix: string } {
  return {
    message: `A person rejected draft ${code} of this step.${commentWords(comment)}`,
    suggestedFix:
      'Change the work as the person asks and report it in new notes. The new draft is then shown for approval. Do not send the same draft again.',
  };
}

/** The ways that work here, as far as the settings let them count. */
function placeToAnswer(
  gate: GateFacts,
  { command, tag, digest }: { readonly command: string; readonly tag: string; readonly digest: string },
): string {
  const { accept, signing, page } = gate;
  const isConsole = accept.includes('console');
  if (signing !== undefined) return placeToSign(signing, signersOf(gate, digest), { command, tag, isConsole });
  if (page !== undefined) return `To answer, open ${page} in a browser and sign in.`;
  const orConsole = isConsole ? ` Or run \`${command} console\` and answer in the page that it opens.` : '';
  if (accept.includes('terminal'))
    return `To answer, run \`${command} answer ${tag}\` in a terminal of your own.${orConsole}`;
  if (isConsole) return `To answer, run \`${command} console\` in a terminal of your own and open the run there.`;
  if (accept.includes('elicitation')) return 'Answer in the form that your client shows.';
  return 'The setting gates.accept says where you can answer.';
}

/** Where an approver can sign. */
function placeToSign(
  { approvers, needed, hasUnsigned, problems }: SigningFacts,
  signers: readonly Signer[],
  { command, tag, isConsole }: { readonly command: string; readonly tag: string; readonly isConsole: boolean },
): string {
  const [problem = ''] = problems;
  if (approvers.length < needed) {
    const people = approvers.length === 0 ? 'no approver is' : 'only one approver is';
    return `It needs ${needed === 1 ? 'a signature' : 'two signatures'}, and ${people} known to this run. ${problem} Add the key of an approver with \`${command} approvers add\` in a terminal of your own, then let the agent start the workflow again.`.replace(
      '  ',
      ' ',
    );
  }
  const unsigned = hasUnsigned ? 'An answer without the signature of an approver does not count. ' : '';
  const [first] = signers;
  const more = first === undefined ? '' : `${first.name} has signed; another approver must sign too. `;
  const orConsole = isConsole
    ? ` Or run \`${command} console\` and sign with a passkey in the page that it opens.`
    : '';
  return `${unsigned}${more}To sign your answer, run \`${command} answer ${tag} --sign\` in a terminal of your own.${orConsole}`;
}

/** Why a run went on without an answer. */
const PASSED_BY: { readonly [pass in NonNullable<ReturnType<typeof gatePass>>]: string } = {
  person: 'The run went on because a person set never-stop for it.',
  settings: "The run went on because the user's settings say that nobody can answer here (gates.unattended is gap).",
};

/** What a choice is about. */
const CHOICE_ABOUT: { readonly [kind in NonNullable<Dependency['choiceKind']>]: string } = {
  preference_tradeoff: ' between things that cannot all be had',
  scope_boundary: ' about what is in scope',
  irreversible_action: ' about something that cannot be undone',
  external_side_effect: ', because other people or systems may be affected',
  policy_or_compliance: ' about rules that must be followed',
};

const NOT_ASKED = 'in this mode you do not ask the user.';
const ASSUMED =
  'Look for the answer yourself. If you do not find it, assume the most likely one, write in the notes what you assumed, and continue. The run records a gap.';
const WITHOUT =
  'Do the parts of this step that do not need the user. Do not do anything that cannot be undone. Write in the notes what you left out, and continue. The run records a gap.';

/** Answers that the agent reports do not count. */
function waits(
  { gates, preferences }: RunFacts,
  { assurance = 'stated' }: { readonly assurance?: Assurance | undefined } = {},
): string {
  const isSigned = strongestAssurance(assurance, gates?.minimum ?? 'stated') === 'signed';
  const here = isSigned
    ? 'the user signs an answer in a terminal or in the console'
    : 'the user answers: in a form that the client shows, in a terminal, or in the console';
  const answered = gates?.page === undefined ? here : `somebody who may approve answers at ${gates.page}`;
  return `Your report of this step is shown to the user, and the run waits until ${answered}.${preferences.autonomy === 'full_auto_never_stop' ? ' It waits in this mode too, because only a person may decide this.' : ''} Do not answer for the user: an answer in notes or context does not count.`;
}

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
function answerBlank({ index }: StepPlace, key: string): JsonValue {
  const offered = keyBlank(index, key);
  const isFree = typeof offered === 'string' && !offered.includes('|');
  return isFree ? blank(USER_ANSWER_WORDS) : offered;
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
