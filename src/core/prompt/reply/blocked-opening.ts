import type { Call } from '../../log/error-envelope.ts';
import { blankWords, textsIn } from '../../run/form/blank.ts';
import { UNFILLED } from '../../run/requirements/requirement.ts';
import { quoteReservedLines } from '../recorded-text.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { nextCallLine, type TextPart } from './footer.ts';

/** What the footer of a blocked reply says about the next call. */
export const ON_TOP = 'The call to send is at the top of this reply.';

/** The first thing a blocked agent reads: what is missing, and the call that fixes it. */
export function blockedOpening(
  { blockers, attempts = 1 }: NonNullable<ReplyParts['blocked']>,
  { what, isUserAsked, nextCall }: { readonly what: string; readonly isUserAsked: boolean; readonly nextCall: Call },
): readonly TextPart[] {
  const list = blockers.map(({ message, suggestedFix }, i) => {
    const text = suggestedFix === undefined ? message : `${message}\n${suggestedFix}`;
    return `${i + 1}. ${quoteReservedLines(text).replaceAll('\n', '\n   ')}`;
  });
  const isUnfilled = blockers.some(({ message }) => message.startsWith(UNFILLED));
  const stuck = attempts < ATTEMPTS_IN_A_ROW_MAX ? '' : `${attempts} attempts in a row were blocked. ${STOP}\n`;
  return [
    `${isUnfilled ? `${UNFILLED}. ` : ''}Blocked: ${what}\n${stuck}${list.join('\n')}\n`,
    `${leadOf(nextCall, isUserAsked)}\n`,
    ...nextCallLine(nextCall),
  ];
}

/** An agent that was blocked this often in a row does not get further alone. */
export const ATTEMPTS_IN_A_ROW_MAX = 5;
const STOP = 'Stop: show the user this list, ask how to continue, and send nothing for this step before the answer.';

function leadOf(call: Call, isUserAsked: boolean): string {
  if (call.arguments['ackToken'] === undefined) return BACK;
  const send = `${sendWords(call)} only this call.`;
  return `${isUserAsked ? `${ASK} Then ${send}` : `${send.charAt(0).toUpperCase()}${send.slice(1)}`} ${KEPT}`;
}

const BACK = 'What you sent is kept. This step cannot fix it. Go back with:';
const ASK = 'Ask the user and wait for the answer.';
const KEPT = 'Everything else you sent for this step is kept.';

/** How to send an offered call: its blanks have to be filled in first. */
export function sendWords({ arguments: given }: Call): string {
  const hasBlank = textsIn(given).some(({ text }) => blankWords(text).length > 0);
  return hasBlank ? 'fill in every `<fill: …>` and send' : 'send';
}
