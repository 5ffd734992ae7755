import type { JsonObject } from '../../core/json/json-value.ts';
import { normaliseToken } from '../../core/text/binary-text.ts';
import { editDistance } from '../../core/text/spelling.ts';

/** The parts of a reply that help to find out what an agent meant. */
export type RecentReply = {
  readonly tag: string;
  readonly workflowId: string;
  readonly stateToken: string;
  readonly ackToken?: string;
  readonly checkpointToken?: string;
};

/** The recent replies of this server. They only improve error messages: no call depends on them. */
export type RecentReplies = {
  remember(structured: JsonObject): void;
  /** The token that was miscopied, if only one is similar. */
  tokenLike(text: string): string | undefined;
  /** The newest reply of each run, newest first. */
  ofEachRun(): readonly RecentReply[];
  /** Whether calls come from several clients. Then no error contains a token that was not sent. */
  readonly isShared?: true;
};

/** Remembers nothing. */
export const SHARED_REPLIES: RecentReplies = {
  remember: () => undefined,
  tokenLike: () => undefined,
  ofEachRun: () => [],
  isShared: true,
};

const REPLIES_MAX = 64;
/** Two valid tokens differ in far more characters than this. */
const EDITS_MAX = 10;
/** Prefix, tag, session and node: enough of a cut-off token to tell it from the others of its run. */
const BEGINNING_MIN = 32;

/** How agents mark that they cut a token off. */
const CUT_MARK = /(?:\u2026|\.{2,})\s*$/;

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
