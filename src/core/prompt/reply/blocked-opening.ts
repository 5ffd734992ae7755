import type { Call } from '../../log/error-envelope.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { quoteReservedLines } from '../step/fill-values.ts';
import { nextCallLine, type TextPart } from './footer.ts';

/** What the footer of a blocked reply says about the next call. */
export const ON_TOP = 'The call to send is at the top of this reply.';

/** The first thing a blocked agent reads: what is missing, and the call that fixes it. */
export function blockedOpening(
  { blockers }: NonNullable<ReplyParts['blocked']>,
  { what, isUserAsked, nextCall }: { readonly what: string; readonly isUserAsked: boolean; readonly nextCall: Call },
): readonly TextPart[] {
  const list = blockers.map(({ message, suggestedFix }, i) => {
    const fix = suggestedFix === undefined ? [] : suggestedFix.split('\n');
    return [`${i + 1}. ${message}`, ...fix.map((line) => `   ${line}`)].join('\n');
  });
  return [
    `Blocked: ${what}\n${quoteReservedLines(list.join('\n'))}\n`,
    `${leadOf(nextCall, isUserAsked)}\n`,
    ...nextCallLine(nextCall),
  ];
}

function leadOf({ arguments: given }: Call, isUserAsked: boolean): string {
  if (given['ackToken'] === undefined) return BACK;
  return isUserAsked ? ASK : FIX;
}

const BACK = 'What you sent is kept. This step cannot fix it. Go back with:';
const ASK =
  'Ask the user and wait for the answer. Then fill in every `<fill: …>` and send only this call. Everything else you sent for this step is kept.';
const FIX = 'Fill in every `<fill: …>` and send only this call. Everything else you sent for this step is kept.';
