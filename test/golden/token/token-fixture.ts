import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { eventIndexSchema, NodeId, RunId, SessionId, workflowHashSchema } from '../../../src/core/log/ids.ts';
import { type HmacSha256, signingKey, type TokenKeys } from '../../../src/core/token/keyring.ts';
import type { MintableNode, TokenPurpose } from '../../../src/core/token/node-token.ts';
import { FIRST_ATTEMPT, type TokenKind, type TokenSlot } from '../../../src/core/token/token.ts';
import type { TokenRefusal } from '../../../src/core/token/token-refusal.ts';

export const hmac: HmacSha256 = (key, message) => new Uint8Array(createHmac('sha256', key).update(message).digest());

/** A key whose bytes count up from `first`. */
export function countingKey(first: number) {
  return signingKey(Uint8Array.from({ length: 32 }, (_, i) => (first + i) & 0xff));
}

/** The keyring all golden tokens are signed with. */
export const keys: TokenKeys = { keyring: { current: countingKey(0) }, hmac };

const bits = (byte: number) => new Uint8Array(10).fill(byte);

/** The node all golden tokens name. */
export const node: MintableNode = {
  sessionId: SessionId.of(Uint8Array.from([1, 147, 12, 200, 7, 94, 0, 255, 66, 129])),
  runId: RunId.of(bits(0x5a)),
  nodeId: NodeId.of(bits(0xc3)),
  eventIndex: eventIndexSchema.parse(4_021),
  workflowHash: workflowHashSchema.parse(`sha256:${'0123456789abcdef'.repeat(4)}`),
};

/** Another run of the same session. */
export const otherNode: MintableNode = {
  ...node,
  runId: RunId.of(bits(0x77)),
  nodeId: NodeId.of(bits(0x11)),
  eventIndex: eventIndexSchema.parse(4_022),
};

export function purpose(kind: TokenKind, attemptId = FIRST_ATTEMPT): TokenPurpose {
  return kind === 'state' ? { kind } : { kind, attemptId };
}

type GoldenToken = { readonly kind: TokenKind; readonly attemptId: number; readonly token: string };
type GoldenRefusal = {
  readonly name: string;
  readonly slot: TokenSlot;
  /** Null where no text can bring the refusal about. */
  readonly token: string | null;
  readonly refusal: TokenRefusal;
};

/** Released texts. They are added to, never changed. */
export const golden = {
  compactTokens: read('compact-tokens.json') as readonly GoldenToken[],
  jsonTokens: read('json-tokens.json') as readonly GoldenToken[],
  refusals: read('refusals.json') as readonly GoldenRefusal[],
  keyring: read('keyring.json'),
};

function read(name: string): unknown {
  return JSON.parse(readFileSync(new URL(name, import.meta.url), 'utf8'));
}
