import type * as z from 'zod';
import type { JsonObject, JsonValue } from '../../../core/json/json-value.ts';
import type { GivenReply } from '../../../core/log/operation/stored-reply.ts';
import { blockedReplySchema, completeReplySchema, pendingReplySchema } from '../../../core/prompt/reply-schema.ts';

type RunReply =
  | z.infer<typeof pendingReplySchema>
  | z.infer<typeof completeReplySchema>
  | z.infer<typeof blockedReplySchema>;

/** What an agent hands in with a call. */
export type Sent = {
  readonly notes?: string | undefined;
  readonly artifacts: readonly JsonObject[];
  readonly context?: JsonObject | undefined;
};

/** A reply as the agent has it before its next call. */
export type Turn = {
  readonly reply: RunReply;
  readonly text: string;
  /** What the reply says to send; nothing where no call from here leads on. */
  readonly example: Sent | undefined;
};

export function turnOf({ text, furtherTexts = [], structured }: GivenReply): Turn {
  const reply = replyIn(structured);
  return { reply, text: [text, ...furtherTexts].join('\n\n'), example: exampleIn(reply) };
}

/** A use case gives errors as refusals, so these are all there are. */
function replyIn(structured: JsonObject): RunReply {
  if (structured['kind'] === 'blocked') return blockedReplySchema.parse(structured);
  return structured['isComplete'] === true
    ? completeReplySchema.parse(structured)
    : pendingReplySchema.parse(structured);
}

export function turnAckToken({ reply }: Turn): string | undefined {
  return 'ackToken' in reply ? reply.ackToken : undefined;
}

function exampleIn({ nextCall }: RunReply): Sent | undefined {
  if (nextCall === null || nextCall.arguments['ackToken'] === undefined) return undefined;
  const { output = {}, context } = nextCall.arguments;
  const { notesMarkdown, artifacts = [] } = output as JsonObject;
  return {
    ...(typeof notesMarkdown === 'string' ? { notes: notesMarkdown } : {}),
    artifacts: (artifacts as readonly JsonValue[]).filter(isObject),
    ...(isObject(context) ? { context } : {}),
  };
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
