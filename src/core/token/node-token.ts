import { err, ok, type Result } from 'neverthrow';
import {
  type AttemptId,
  type EventIndex,
  type NodeId,
  type RunId,
  runTag,
  type SessionId,
  type WorkflowHash,
} from '../log/ids.ts';
import { unwrapped } from '../text/binary-text.ts';
import { encodeCompactToken, parseCompactToken } from './compact-token.ts';
import { encodeJsonToken, parseJsonToken } from './json-token.ts';
import type { TokenKeys, VerifyingKeys } from './keyring.ts';
import {
  FIRST_ATTEMPT,
  isJsonForm,
  type JsonTokenClaims,
  TOKEN_SLOTS,
  type TokenClaims,
  type TokenForm,
  type TokenKind,
  type TokenSlot,
} from './token.ts';
import { invalidFormat, type TokenRefusal } from './token-refusal.ts';

/** The node that a token names, as the log knows it. */
export type MintableNode = {
  readonly sessionId: SessionId;
  readonly runId: RunId;
  readonly nodeId: NodeId;
  /** Of the node's `node_created`. */
  readonly eventIndex: EventIndex;
  readonly workflowHash: WorkflowHash;
};

export type TokenPurpose =
  | { readonly kind: 'state' }
  | { readonly kind: 'ack' | 'checkpoint'; readonly attemptId: AttemptId };

/** Keys, and the form to write; compact by default. */
export type TokenMint = TokenKeys & { readonly form?: TokenForm };

/** A token for a node. Equal input gives equal text: nothing is random or remembered. */
export function mintToken(node: MintableNode, purpose: TokenPurpose, mint: TokenMint): string {
  if (mint.form === 'json') return encodeJsonToken(jsonClaims(node, purpose), mint);
  const claims = {
    form: 'compact',
    kind: purpose.kind,
    tag: runTag(node.runId),
    sessionId: node.sessionId,
    nodeEventIndex: node.eventIndex,
    attemptId: purpose.kind === 'state' ? FIRST_ATTEMPT : purpose.attemptId,
  } as const;
  return encodeCompactToken(claims, mint);
}

function jsonClaims(node: MintableNode, purpose: TokenPurpose): JsonTokenClaims {
  const { sessionId, runId, nodeId, workflowHash } = node;
  const head = { form: 'json', sessionId, runId, nodeId } as const;
  return purpose.kind === 'state' ? { ...head, kind: 'state', workflowHash } : { ...head, ...purpose };
}

/** Twice the longest token and more: room for line breaks and quotes, and a bound on the work for anything else. */
const TOKEN_TEXT_LENGTH_MAX = 1_024;

/**
 * Reads a token of either form and checks that its kind fits this argument. Spelling mistakes in a compact token are
 * fixed; the JSON form must be exact, and a quoted one gets a refusal that says so.
 */
export function parseToken(text: string, slot: TokenSlot, keys: VerifyingKeys): Result<TokenClaims, TokenRefusal> {
  if (text.length > TOKEN_TEXT_LENGTH_MAX) {
    return err(invalidFormat({ kind: 'too_long', lengthMax: TOKEN_TEXT_LENGTH_MAX, found: text.length }));
  }
  if (!isExact(text)) return err(invalidFormat({ kind: 'wrapped' }));
  const parsed: Result<TokenClaims, TokenRefusal> = isJsonForm(text)
    ? parseJsonToken(text, keys)
    : parseCompactToken(text, keys);
  if (parsed.isErr()) return err(parsed.error);

  const claims = parsed.value;
  const expected: readonly TokenKind[] = TOKEN_SLOTS[slot];
  if (expected.includes(claims.kind)) return ok(claims);
  const tag = claims.form === 'compact' ? claims.tag : runTag(claims.runId);
  return err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch: { kind: 'slot', slot, expected, found: claims.kind, tag } });
}

function isExact(text: string): boolean {
  const bare = unwrapped(text);
  return bare === text || !isJsonForm(bare);
}
