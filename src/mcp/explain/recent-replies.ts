import type { JsonObject } from '../../core/json/json-value.ts';
import { editDistance } from '../../core/text/spelling.ts';
import { normaliseToken } from '../../core/token/normalise-token.ts';

/** A reply of this server, as far as it helps to find out what an agent meant. */
export type RecentReply = {
  readonly tag: string;
  readonly workflowId: string;
  readonly stateToken: string;
  readonly ackToken?: string;
  readonly checkpointToken?: string;
};

/** What this server handed out lately. It is a hint for words only: no call depends on it. */
export type RecentReplies = {
  remember(structured: JsonObject): void;
  /** The one token that a miscopied one must have been. */
  tokenLike(text: string): string | undefined;
  /** The newest reply of each run, the newest first. */
  ofEachRun(): readonly RecentReply[];
};

const REPLIES_MAX = 64;
/** Two genuine tokens differ in far more characters; a copy with more mistakes in it is not worth guessing about. */
const EDITS_MAX = 10;
/** Prefix, tag, session and node: as much of a token as tells it from the others of its run, where it was cut off. */
const BEGINNING_MIN = 32;

/** What is put in the place of the rest. */
const CUT_MARK = /(?:…|\.{2,})\s*$/;

export function recentReplies(): RecentReplies {
  const replies: RecentReply[] = [];
  return {
    remember: (structured) => {
      const reply = replyOf(structured);
      if (reply === undefined) return;
      replies.push(reply);
      if (replies.length > REPLIES_MAX) replies.shift();
    },
    tokenLike: (text) => {
      const bare = normaliseToken(text.replace(CUT_MARK, ''));
      const tokens = [...new Set(replies.flatMap(tokensOf))];
      const like = tokens.filter((token) => isLike(bare, token));
      return like.length === 1 ? like[0] : undefined;
    },
    ofEachRun: () => {
      const newestFirst = replies.toReversed();
      return newestFirst.filter(({ tag }, i) => newestFirst.findIndex((reply) => reply.tag === tag) === i);
    },
  };
}

function isLike(text: string, token: string): boolean {
  const known = normaliseToken(token);
  if (text.length >= BEGINNING_MIN && known.startsWith(text)) return true;
  return Math.abs(known.length - text.length) <= EDITS_MAX && editDistance(text, known) <= EDITS_MAX;
}

function tokensOf({ stateToken, ackToken, checkpointToken }: RecentReply): readonly string[] {
  return [stateToken, ackToken, checkpointToken].filter((token) => token !== undefined);
}

function replyOf({ run, stateToken, ackToken, checkpointToken }: JsonObject): RecentReply | undefined {
  const { tag, workflowId } = (run ?? {}) as JsonObject;
  if (typeof tag !== 'string' || typeof workflowId !== 'string' || typeof stateToken !== 'string') return undefined;
  return {
    tag,
    workflowId,
    stateToken,
    ...(typeof ackToken === 'string' ? { ackToken } : {}),
    ...(typeof checkpointToken === 'string' ? { checkpointToken } : {}),
  };
}
