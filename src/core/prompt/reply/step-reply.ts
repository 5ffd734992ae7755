import type { JsonObject } from '../../json/json-value.ts';
import type { Call, NextIntent } from '../../log/error-envelope.ts';
import { runTag } from '../../log/ids.ts';
import { type OpenReply, storedReply } from '../../log/operation/stored-reply.ts';
import type { BlockerCode } from '../../log/reasons.ts';
import { sendWords } from '../../run/form/blank.ts';
import { isAboutBlanks } from '../../run/requirements/requirement.ts';
import { needsPerson } from '../../run/requirements/user.ts';
import { dueConfirmation } from '../../run/step-place.ts';
import { quoteReservedLines, visibleLine } from '../../text/visible-text.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { valueFiller } from '../step/fill-values.ts';
import { isAnswerToReport, isOfUser, type RenderedStep, renderStep, standingTexts } from '../step/render-step.ts';
import { assembleReply, type Outline } from './assemble-reply.ts';
import { correctedCall, hasOptionalBlanks, nextCallLine, reportCall, shortTitle, type TextPart } from './footer.ts';
import { answersText, gradesText, openGapsText } from './gap-lines.ts';
import { fittedBranch, type ReplyTexts, replySections, toStay } from './reply-sections.ts';
import { lineText, runResult } from './run-result.ts';

/** The reply about a node: the step first, then the position, what to do and the tokens. */
export function stepReply(given: ReplyParts): OpenReply {
  const parts = toldParts({ ...given, facts: { ...given.facts, tag: runTag(given.runId) } });
  return storedReply(assembleReply(parts, outlineOf(parts)));
}

/** Only a rehydrated run shows what happened so far; the goal is also shown with the first step. */
function toldParts(given: ReplyParts): ReplyParts {
  const { goal, recap: _recap, draft: _draft, branch, ...rest } = given;
  if (given.lifecycle !== 'rehydrate') {
    return given.lifecycle === 'start' && goal !== undefined ? { ...rest, goal } : rest;
  }
  return branch === undefined ? given : { ...given, branch: fittedBranch(branch) };
}

function outlineOf(parts: ReplyParts): Outline {
  switch (parts.state.kind) {
    case 'complete':
      return parts.index.workflow.steps.length === 0 ? notesOutline(parts) : completeOutline(parts);
    case 'init':
      return waitingOutline(parts);
    case 'running':
      return pendingOutline(parts, renderStep(parts));
  }
}

function pendingOutline(parts: ReplyParts, step: RenderedStep): Outline {
  const { blocked, lifecycle } = parts;
  const { index, of } = step.position;
  const nextIntent = blocked === undefined ? pendingIntent(step) : blockedIntent(blocked);
  const nextCall =
    blocked === undefined || blocked.unmet.length === 0 ? reportCall(step) : correctedCall(blocked, step);
  const opening =
    blocked === undefined
      ? []
      : [
          blockedPart({ ...blocked, lifecycle }, `"${shortTitle(step.title)}" is not done yet.`, {
            nextIntent,
            nextCall,
          }),
          [AGAIN],
        ];
  return {
    kind: blocked === undefined ? 'ok' : 'blocked',
    sections: [...opening, [step.prompt], ...replySections(parts, step)],
    standing: `step ${index}${of === undefined ? '' : ` of ${of}`}: ${shortTitle(step.title)}`,
    pending: pendingData(step),
    nextIntent,
    nextCall,
    isCallOnTop: blocked !== undefined,
    advice: blocked === undefined ? pendingAdvice(parts, step, { nextIntent, nextCall }) : CALL_ON_TOP,
    warnings: step.warnings,
    gaps: parts.gaps,
    values: step.values,
    guidance: step.standing,
  };
}

const AGAIN = 'The step:';
/** What the footer of a blocked reply says about the next call. */
const ON_TOP = 'The call to send is at the top of this reply.';
export const CALL_ON_TOP = `This step is still pending. ${ON_TOP}`;

function pendingData({ title, prompt, place, position }: RenderedStep): JsonObject {
  return {
    stepId: place.step.stepId,
    title,
    prompt,
    requireConfirmation: dueConfirmation(place) !== 'none',
    position,
  };
}

/** A confirmation makes the agent ask in guided mode only; a user dependency does so in both blocking modes. */
function pendingIntent({ place, lacking }: RenderedStep): NextIntent {
  const { autonomy } = place.facts.preferences;
  const isAsked =
    (autonomy === 'guided' && dueConfirmation(place) !== 'none') ||
    (autonomy !== 'full_auto_never_stop' && lacking.some(isOfUser));
  return isAsked ? 'await_user_confirmation' : 'perform_pending_then_continue';
}

/** Only the user can make a capability available that an attempt found missing. */
const NEEDS_USER: readonly BlockerCode[] = ['USER_ONLY_DEPENDENCY', 'REQUIRED_CAPABILITY_UNAVAILABLE'];

function blockedIntent({ blockers, attempts = 1 }: NonNullable<ReplyParts['blocked']>): NextIntent {
  const isUserNeeded =
    attempts >= ATTEMPTS_IN_A_ROW_MAX ||
    blockers.some(({ code, details }) => NEEDS_USER.includes(code) && !isSettled(details));
  return isUserNeeded ? 'await_user_confirmation' : 'perform_pending_then_continue';
}

/** A person has answered already: the agent changes the work, or tries again when git answers. */
function isSettled(details: JsonObject | undefined): boolean {
  return details?.['rejected'] === true || details?.['gitSilent'] === true;
}

function pendingAdvice({ lifecycle, branch }: ReplyParts, step: RenderedStep, { nextIntent, nextCall }: Next): string {
  const isHeld = isHeldBack(step);
  const isAsked = nextIntent === 'await_user_confirmation' && !isHeld;
  const ask = isAsked ? ', ask the user, and wait for the answer' : '';
  const follows = isHeld ? 'Until the user has answered, the reply says "Blocked".' : replyWords(step);
  const send = sendWords(nextCall.arguments, hasOptionalBlanks(nextCall, step.lacking));
  const then = `${ask}. Then ${send} this call. ${follows}`;
  if (branch !== undefined) return `${choice(branch)} do this step again, and no other step${then}`;
  return `${lifecycle === 'checkpoint' ? 'Saved. The step is still pending. ' : ''}Do only this step${then}`;
}

function choice({ preferred }: NonNullable<ReplyParts['branch']>): string {
  return `To stay on the existing branch, send the call after "${toStay(preferred)}:". To create a new branch,`;
}

function replyWords({ position: { index, of } }: RenderedStep): string {
  return index === of ? 'This is the last step.' : 'The reply has the next step.';
}

/** Whether the user is asked only about the report; any other question comes before the report. */
function isHeldBack({ place, lacking }: RenderedStep): boolean {
  if (dueConfirmation(place) === 'confirm') return false;
  if (place.facts.preferences.autonomy === 'full_auto_never_stop' && !needsPerson(place)) return false;
  const ofUser = lacking.filter(isOfUser);
  return ofUser.length > 0 && ofUser.every(isAnswerToReport);
}

type Next = { readonly nextIntent: NextIntent; readonly nextCall: Call };

type Blocked = NonNullable<ReplyParts['blocked']> & Pick<ReplyParts, 'lifecycle'>;

function blockedPart(blocked: Blocked, what: string, { nextIntent, nextCall }: Next) {
  return blockedOpening(blocked, { what, isUserAsked: nextIntent === 'await_user_confirmation', nextCall });
}

/** The run could not start its first step yet, so the only thing to do is to supply what is missing. */
function waitingOutline(parts: ReplyParts): Outline {
  const { blocked, lifecycle } = parts;
  const name = visibleLine(parts.index.workflow.name);
  const what = `"${name}" ${blocked === undefined ? 'can start its first step now.' : 'cannot start its first step yet.'}`;
  const nextIntent = blocked === undefined ? 'perform_pending_then_continue' : blockedIntent(blocked);
  const nextCall = correctedCall(blocked ?? { unmet: [] });
  const around = aroundNoStep(parts);
  const opening =
    blocked === undefined ? [what] : blockedPart({ ...blocked, lifecycle }, what, { nextIntent, nextCall });
  return {
    kind: blocked === undefined ? 'ok' : 'blocked',
    sections: [opening, ...replySections(parts, around)],
    standing: 'before the first step',
    pending: null,
    nextIntent,
    nextCall,
    isCallOnTop: blocked !== undefined,
    advice:
      blocked === undefined ? 'Send this; the reply contains the first step.' : `No step has started yet. ${ON_TOP}`,
    warnings: [],
    gaps: parts.gaps,
    values: around.values,
    guidance: around.standing,
  };
}

/** Before the first step and after the last, only the texts about the whole workflow have values. */
function aroundNoStep(parts: ReplyParts): ReplyTexts {
  const filler = valueFiller({ context: parts.facts.context, loopVariables: {} }, parts.index.workflow);
  return { standing: standingTexts(parts, filler), values: filler.apart };
}

const NOTHING_PENDING = {
  kind: 'ok',
  pending: null,
  nextIntent: 'complete',
  nextCall: undefined,
  isCallOnTop: false,
  warnings: [],
} as const;

function completeOutline(parts: ReplyParts): Outline {
  const { index, gaps, lifecycle } = parts;
  const result = runResult(parts);
  const around = aroundNoStep(parts);
  const name = visibleLine(index.workflow.name);
  return {
    ...NOTHING_PENDING,
    sections: [
      [`${lifecycle === 'checkpoint' ? 'Saved. ' : ''}"${name}" is complete. No steps are left.`],
      ...lineText(result).map((text) => [text]),
      [openGapsText(gaps, index, result)],
      ...gradeSections(parts),
      ...replySections(parts, around),
    ],
    values: around.values,
    guidance: around.standing,
    result,
    standing: 'complete',
    advice: 'Tell the user the result.',
    gaps: [],
  };
}

function gradeSections({ checks = [], evidence = [], index }: ReplyParts): Outline['sections'] {
  const answers = evidence.filter(({ kind }) => kind === 'answer');
  return [
    ...(answers.length === 0 ? [] : [[answersText(answers, index)]]),
    ...(checks.length === 0 ? [] : [[gradesText({ checks, evidence }, index)]]),
  ];
}

/** The reply of a session that only keeps notes: it has no steps, and takes any number of notes. */
function notesOutline(parts: ReplyParts): Outline {
  const around = aroundNoStep(parts);
  const opening = parts.lifecycle === 'checkpoint' ? 'Saved.' : 'This session keeps notes; it has no steps.';
  return {
    ...NOTHING_PENDING,
    sections: [[opening], ...replySections(parts, around)],
    values: around.values,
    guidance: around.standing,
    standing: 'notes only',
    advice: 'Save a note whenever you find or decide something that must outlast this chat.',
    gaps: parts.gaps,
  };
}

/** The first thing a blocked agent reads: what is missing, and the call that fixes it. */
function blockedOpening(
  { blockers, unmet, attempts = 1, lifecycle }: Blocked,
  { what, isUserAsked, nextCall }: { readonly what: string; readonly isUserAsked: boolean; readonly nextCall: Call },
): readonly TextPart[] {
  const list = blockers.map(({ message, suggestedFix }, i) => {
    const text = suggestedFix === undefined ? message : `${message}\n${suggestedFix}`;
    return `${i + 1}. ${quoteReservedLines(text).replaceAll('\n', '\n   ')}`;
  });
  const lead =
    lifecycle === 'checkpoint'
      ? 'Saved. The step is still blocked, as before:'
      : `${blockers.some(isAboutBlanks) ? BLANKS_LEFT : ''}Blocked:`;
  const stuck = attempts < ATTEMPTS_IN_A_ROW_MAX ? '' : `${attempts} attempts in a row were blocked. ${STOP}\n`;
  return [
    `${lead} ${what}\n${stuck}${list.join('\n')}\n`,
    `${leadOf(nextCall, hasOptionalBlanks(nextCall, unmet), isUserAsked ? askWords(blockers) : undefined)}\n`,
    ...nextCallLine(nextCall),
  ];
}

const BLANKS_LEFT = 'You left blanks in the call. ';

/** An agent that was blocked this often in a row does not get further alone. */
const ATTEMPTS_IN_A_ROW_MAX = 5;
const STOP =
  'Stop: show the user this list, ask how to continue, and send nothing for this step until the user answers.';

/** A person who answers on a channel of their own is already told about it above. */
function askWords(blockers: NonNullable<ReplyParts['blocked']>['blockers']): string {
  return blockers.some(({ details }) => details?.['approval'] !== undefined) ? ANSWERED : ASK;
}

function leadOf(call: Call, mayLeaveOut: boolean, ask: string | undefined): string {
  if (call.arguments['ackToken'] === undefined) return BACK;
  const send = `${sendWords(call.arguments, mayLeaveOut)} only this call.`;
  return `${ask === undefined ? `${send.charAt(0).toUpperCase()}${send.slice(1)}` : `${ask} ${send}`} ${KEPT}`;
}

const BACK = 'What you sent is kept. This step cannot fix it. Go back with:';
const ASK = 'Ask the user and wait for the answer. Then';
const ANSWERED = 'When the user says that they have answered,';
export const KEPT = 'Everything else you sent for this step is kept.';
