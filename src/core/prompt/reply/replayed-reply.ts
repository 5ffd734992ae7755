import { canonicalLength } from '../../json/canonical-json.ts';
import { isObject, type JsonObject, type JsonValue } from '../../json/json-value.ts';
import { REPEATED_CALL_BYTES_MAX } from '../../log/budgets.ts';
import type { Call } from '../../log/error-envelope.ts';
import type { GivenReply } from '../../log/operation/stored-reply.ts';
import { NEXT_CALL } from '../../text/visible-text.ts';
import { replyWarning } from '../reply-warnings.ts';
import { callText } from './footer.ts';
import { CALL_ON_TOP, KEPT } from './step-reply.ts';

/** What was sent with a used token, and a new token to send it with. */
export type IgnoredOutput = {
  readonly sent: JsonObject;
  readonly ackToken: string;
  /** Of the end of the existing branch, if the step in the recorded reply was done since. */
  readonly tipToken?: string | undefined;
};

/**
 * The recorded reply for a caller who sent other content with the same token: it was not stored, and one more call stores
 * it. After an advance the new token is of the same node, so that the call branches; after a block it is of the blocked
 * node.
 */
export function withIgnoredOutput(given: GivenReply, { sent, ackToken, tipToken }: IgnoredOutput): GivenReply {
  const isBlocked = given.structured['kind'] === 'blocked';
  const nextCall = callAgain(given, { sent, ackToken });
  const isOver = given.structured['isComplete'] === true || tipToken !== undefined;
  const how = isBlocked
    ? FIX
    : `${tipToken === undefined ? '' : `${seeTip(tipToken)}\n`}${isOver ? '' : CONTINUE}${BRANCH_OFF}`;
  const text = `${withoutOldCall(given.text, { isOnTop: isBlocked, isDone: tipToken !== undefined })}\n${how}\n${NEXT_CALL} ${callText(nextCall).join('')}`;
  const replayed = { ...given, text, structured: { ...given.structured, nextCall: { ...nextCall } } };
  return warned(replayed, isBlocked ? EARLIER_BLOCK : EARLIER);
}

/** The same for a checkpoint: what was sent can be saved from its node, unless it is too long to repeat. */
export function withIgnoredCheckpoint(
  given: GivenReply,
  { output, checkpointToken }: { readonly output: JsonObject; readonly checkpointToken: string | undefined },
): GivenReply {
  if (checkpointToken === undefined || canonicalLength(output) > REPEATED_CALL_BYTES_MAX) return warned(given);
  const nextCall = { tool: 'checkpoint_workflow', arguments: { checkpointToken, output } };
  const text = `${withoutOldCall(given.text, { isOnTop: false, isDone: false })}\n${SAVE}\n${NEXT_CALL} ${callText(nextCall).join('')}`;
  return warned({ ...given, text, structured: { ...given.structured, nextCall } });
}

/** Comes first: otherwise the reader would take the recorded reply for an answer to what was just sent. */
function warned(given: GivenReply, lead = EARLIER): GivenReply {
  const { message, code } = replyWarning({ code: 'replay_ignored_new_output' }, 'conservative');
  const warnings = given.structured['warnings'];
  return {
    ...given,
    text: `${message} ${lead}\n\n${given.text}`,
    structured: {
      ...given.structured,
      warnings: [...(Array.isArray(warnings) ? warnings : []), { code, message }],
    },
  };
}

const EARLIER = 'This was the reply to the first call with this token:';
/** An old block names a call of its own, and asks to send only that one. */
const EARLIER_BLOCK =
  'To send it now, use the call at the end of this reply, after "Next call:". The text before that call is the earlier reply to this token; do not send the call in it.';
const REPLACED = 'Call of the earlier reply, replaced by the one at the end:';
const SAVE = 'To save what you just sent as well, send the call below.';
const TO_REPORT = 'Call to report this step:';
const CONTINUE = `To stay on the existing branch, do the step above and send the call after "${TO_REPORT}". `;
const DONE = 'The existing branch has already finished the step shown above.';
const BRANCH_OFF = 'To keep what you just sent, send the call below; it creates a new branch.';
const SENT = 'The notes you just sent.';
const FIX = 'To record what you just sent, send only the call below.';

function seeTip(stateToken: string): string {
  const call = callText({ tool: 'continue_workflow', arguments: { stateToken } }).join('');
  return `To stay on the existing branch, see where it is now: ${call}`;
}

/** A reply has only one next call; the recorded one becomes the alternative, unless its step was done since. */
function withoutOldCall(
  text: string,
  { isOnTop, isDone }: { readonly isOnTop: boolean; readonly isDone: boolean },
): string {
  const line = `\n${NEXT_CALL} `;
  const at = isOnTop ? text.indexOf(line) : text.lastIndexOf(line);
  if (at === -1) return text;
  if (isDone) return `${text.slice(0, text.lastIndexOf('\n', at - 1))}\n${DONE}`;
  const [before, after] = [text.slice(0, at), text.slice(at + line.length)];
  if (!isOnTop) return `${before}\n${TO_REPORT} ${after}`;
  return `${withoutLead(before)}\n${REPLACED} ${after.replace(CALL_ON_TOP, 'The call to send is at the end of this reply.')}`;
}

/** The sentence that asked to send only the old call would contradict the one at the end. */
function withoutLead(text: string): string {
  const end = ` only this call. ${KEPT}`;
  return text.endsWith(end)
    ? text
        .slice(0, -end.length)
        .replace(/[^\n.]*$/, '')
        .trimEnd()
    : text;
}

/** The same call with the token that it needs; output that is too long to repeat has to be filled in by the caller. */
function callAgain({ structured }: GivenReply, { sent, ackToken }: IgnoredOutput): Call {
  const tool = 'continue_workflow';
  if (canonicalLength(sent) <= REPEATED_CALL_BYTES_MAX) return { tool, arguments: { ackToken, ...sent } };
  const missing = structured['kind'] === 'blocked' ? argumentsOf(structured['nextCall']) : undefined;
  return { tool, arguments: { output: { notesMarkdown: SENT }, ...missing, ackToken } };
}

function argumentsOf(call: JsonValue | undefined): JsonObject | undefined {
  const given = isObject(call) ? call['arguments'] : undefined;
  return isObject(given) ? given : undefined;
}
