import { err, ok, type Result } from 'neverthrow';
import { ATTEMPT_MAX } from '../log/budgets.ts';
import {
  type AttemptId,
  attemptIdSchema,
  type EventIndex,
  type NodeId,
  type RunId,
  type SessionId,
  type WorkflowHash,
} from '../log/ids.ts';

export const TOKEN_KINDS = ['state', 'ack', 'checkpoint'] as const;
/** What a token is for: looking at a node, completing its step, or saving work in between. */
export type TokenKind = (typeof TOKEN_KINDS)[number];

/** What a token text of either form begins with. */
export const TOKEN_PREFIXES = { state: 'st', ack: 'ack', checkpoint: 'chk' } as const satisfies Record<
  TokenKind,
  string
>;

export function kindOfPrefix(prefix: string): TokenKind | undefined {
  return TOKEN_KINDS.find((kind) => TOKEN_PREFIXES[kind] === prefix);
}

/** The arguments of tools that take a token, and which kinds each accepts. A session token is a state token. */
export const TOKEN_SLOTS = {
  stateToken: ['state'],
  sessionToken: ['state'],
  ackToken: ['ack'],
  checkpointToken: ['checkpoint'],
  attachTo: TOKEN_KINDS,
} as const satisfies Record<string, readonly TokenKind[]>;
export type TokenSlot = keyof typeof TOKEN_SLOTS;

/**
 * The short text that is minted by default, the same bound to the id of its node, and the long one that shows its payload
 * as JSON. Where a log can lose its end, as a database can that fails over, another node may later have the same index.
 */
export type TokenForm = 'compact' | 'bound' | 'json';

type JsonTokenHead = {
  readonly form: 'json';
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly nodeId: NodeId;
};

/** What a token of the JSON form says. */
export type JsonTokenClaims = JsonTokenHead &
  (
    | { readonly kind: 'state'; readonly workflowHash: WorkflowHash }
    | { readonly kind: 'ack' | 'checkpoint'; readonly attemptId: AttemptId }
  );

/** What a token of the compact form says; run, node and workflow are looked up by the event that made the node. */
export type CompactTokenClaims = {
  readonly form: 'compact';
  readonly kind: TokenKind;
  /** The run tag: a hint for readers, but it must be the tag of the node's run. */
  readonly tag: string;
  readonly sessionId: SessionId;
  readonly nodeEventIndex: EventIndex;
  /** Always the first attempt in a state token. */
  readonly attemptId: AttemptId;
  /** Whether it was made for this node; absent in a token that is not bound to one. */
  readonly isOf?: (nodeId: NodeId) => boolean;
};

export type TokenClaims = JsonTokenClaims | CompactTokenClaims;

/** The attempt in the reply that creates a node. */
export const FIRST_ATTEMPT: AttemptId = attemptIdSchema.parse(0);

/** A node had more attempts than a token can count; continue from another node. */
export type AttemptsUsedUp = { readonly code: 'attempts_used_up'; readonly attemptsMax: number };

/**
 * The attempt number that rehydrating a node offers: the number of recorded attempts. It follows from the log alone, so
 * asking twice gives the same token, and two agents that hold it make one advance.
 */
export function nextAttempt(recorded: { readonly size: number }): Result<AttemptId, AttemptsUsedUp> {
  if (recorded.size > ATTEMPT_MAX) return err({ code: 'attempts_used_up', attemptsMax: ATTEMPT_MAX + 1 });
  return ok(attemptIdSchema.parse(recorded.size));
}

/** Whether a text is meant to be of the JSON form. */
export function isJsonForm(text: string): boolean {
  return /^(?:st|ack|chk)\./.test(text);
}
