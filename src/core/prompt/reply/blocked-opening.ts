import { quote } from '../../json/json-value.ts';
import type { Call } from '../../log/error-envelope.ts';
import type { Unmet } from '../../run/requirements/requirement.ts';
import type { ReplyParts } from '../reply-parts.ts';
import { quoteReservedLines } from '../step/fill-values.ts';
import { nextCallLine, type TextPart } from './footer.ts';

/** What the footer of a blocked reply says about the next call. */
export const ON_TOP = 'The call to send is at the top of this reply.';

/** The first thing a blocked agent reads: what is missing, and the call that fixes it. */
export function blockedOpening(
  { blockers, unmet }: NonNullable<ReplyParts['blocked']>,
  { what, isUserAsked, nextCall }: { readonly what: string; readonly isUserAsked: boolean; readonly nextCall: Call },
): readonly TextPart[] {
  const list = blockers.map(({ message, suggestedFix }, i) => {
    const fix = suggestedFix === undefined ? [] : withoutExamples(suggestedFix, unmet).split('\n');
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

/** The call below holds the examples, so the list does not repeat them. */
function withoutExamples(fix: string, unmet: readonly Unmet[]): string {
  const examples = unmet.flatMap(({ example }) => example?.artifacts ?? []);
  return examples.reduce<string>((text, one) => text.replace(`\n${quote(one)}`, ' see the call below.'), fix);
}

const BACK = 'What you sent is kept. This step cannot fix it. Go back with:';
const ASK =
  'Ask the user and wait for the answer. Then send only this call, with the answer and your own values. Everything else you sent for this step is kept.';
const FIX =
  'Send only this call, with your own values in place of the examples. Everything else you sent for this step is kept.';
