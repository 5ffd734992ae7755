import { err, ok, type Result } from 'neverthrow';
import { assert } from '../assert.ts';
import {
  type AttemptId,
  attemptIdSchema,
  type EventIndex,
  eventIndexSchema,
  type NodeId,
  type RunId,
  runTag,
  SessionId,
  sessionIdBits,
  type WorkflowHash,
  type WorkflowId,
} from '../log/ids.ts';
import { fromBase32, normaliseToken, toBase32, unwrapped } from '../text/binary-text.ts';
import { encodeUtf8, joinBytes, utf8Prefix } from '../text/utf8.ts';
import { encodeJsonToken, parseJsonToken } from './json-token.ts';
import {
  activeKeys,
  constantTimeEqual,
  type HmacSha256,
  type SigningKey,
  type TokenKeys,
  type VerifyingKeys,
} from './keyring.ts';
import {
  type CompactTokenClaims,
  FIRST_ATTEMPT,
  isJsonForm,
  type JsonTokenClaims,
  kindOfPrefix,
  TOKEN_KINDS,
  TOKEN_PREFIXES,
  TOKEN_SLOTS,
  type TokenClaims,
  type TokenForm,
  type TokenKind,
  type TokenSlot,
} from './token.ts';
import {
  invalidFormat,
  type MissingPlace,
  type TokenPlace,
  type TokenRefusal,
  type TokenRun,
  unsupportedVersion,
} from './token-refusal.ts';

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
  return encodeCompactToken(claims, mint, mint.form === 'bound' ? node.nodeId : undefined);
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

const VERSION = 2;
/** The MAC of these also covers the id of the node. A golden file has 3 as a version that nobody knows. */
const BOUND_VERSION = 4;
const TAG_LENGTH = 4;
const BODY_LENGTH = 44;
const FOREIGN = /[^0-9a-hjkmnp-tv-z]/u;

/** Version and kind in one byte, session id, index of the node's event, attempt: 136 bits, whole bytes. */
const PAYLOAD_BYTES = 17;
const SESSION_AT = 1;
const EVENT_INDEX_AT = 11;
const ATTEMPT_AT = 15;
/** 84 bits: ten bytes and the upper half of an eleventh. With the payload they fill 44 characters to the last bit. */
const MAC_BYTES = 11;
/** Of a bound token, these bytes can be checked before the node is known, and the others are about the node. */
const UNBOUND_MAC_BYTES = 7;

/** Writes a compact token signed with the current key. */
export function encodeCompactToken(claims: CompactTokenClaims, { keyring, hmac }: TokenKeys, boundTo?: NodeId): string {
  assert(claims.tag.length === TAG_LENGTH && !FOREIGN.test(claims.tag), `${claims.tag} is no run tag`);
  assert(claims.kind !== 'state' || claims.attemptId === FIRST_ATTEMPT, 'a state token has no attempt of its own');
  const unsigned = unsignedOf(claims, boundTo === undefined ? VERSION : BOUND_VERSION);
  const mac = macOf(unsigned, keyring.current, hmac);
  if (boundTo !== undefined)
    mac.set(boundPart(unsigned, keyring.current, { hmac, nodeId: boundTo }), UNBOUND_MAC_BYTES);
  return textOf(unsigned, mac);
}

/** Reads a compact token; spellings that copying or typing produces are accepted. */
export function parseCompactToken(text: string, keys: VerifyingKeys): Result<CompactTokenClaims, TokenRefusal> {
  const normalised = normaliseToken(text);
  const shape = shapeOf(normalised);
  if (shape.isErr()) return err(shape.error);
  const claims = claimsOf(shape.value);
  if (claims.isErr()) return err(claims.error);

  const { mac, version } = shape.value;
  const unsigned = unsignedOf(claims.value, version);
  if (textOf(unsigned, mac) !== normalised) return err(invalidFormat({ kind: 'not_canonical' }));
  const active = activeKeys(keys.keyring);
  const covered = version === BOUND_VERSION ? UNBOUND_MAC_BYTES : MAC_BYTES;
  const signer = active.find((key) =>
    constantTimeEqual(macOf(unsigned, key, keys.hmac).slice(0, covered), mac.slice(0, covered)),
  );
  if (signer === undefined) {
    return err({ code: 'TOKEN_BAD_SIGNATURE', kind: claims.value.kind, keysTried: active.length });
  }
  if (version === VERSION) return ok(claims.value);
  const bound = mac.slice(UNBOUND_MAC_BYTES);
  const isOf = (nodeId: NodeId) => constantTimeEqual(boundPart(unsigned, signer, { hmac: keys.hmac, nodeId }), bound);
  return ok({ ...claims.value, isOf });
}

type Unsigned = { readonly head: string; readonly payload: Uint8Array };

function unsignedOf(claims: CompactTokenClaims, version: number): Unsigned {
  const payload = new Uint8Array(PAYLOAD_BYTES);
  const view = new DataView(payload.buffer);
  view.setUint8(0, (version << 4) | TOKEN_KINDS.indexOf(claims.kind));
  payload.set(sessionIdBits(claims.sessionId), SESSION_AT);
  view.setUint32(EVENT_INDEX_AT, claims.nodeEventIndex);
  view.setUint16(ATTEMPT_AT, claims.attemptId);
  return { head: `${TOKEN_PREFIXES[claims.kind]}_${claims.tag}`, payload };
}

function macOf({ head, payload }: Unsigned, key: SigningKey, hmac: HmacSha256): Uint8Array {
  const mac = hmac(key, joinBytes(encodeUtf8(head), payload)).slice(0, MAC_BYTES);
  mac[MAC_BYTES - 1] = (mac[MAC_BYTES - 1] ?? 0) & 0xf0;
  return mac;
}

/** The part of a MAC that only the node of the token gives. */
function boundPart(
  { head, payload }: Unsigned,
  key: SigningKey,
  { hmac, nodeId }: { readonly hmac: HmacSha256; readonly nodeId: NodeId },
): Uint8Array {
  const mac = hmac(key, joinBytes(encodeUtf8(head), payload, encodeUtf8(nodeId))).slice(UNBOUND_MAC_BYTES, MAC_BYTES);
  mac[mac.length - 1] = (mac.at(-1) ?? 0) & 0xf0;
  return mac;
}

/** The empty half byte at the end of the MAC would add one character; it is left out. */
function textOf({ head, payload }: Unsigned, mac: Uint8Array): string {
  return head + toBase32(joinBytes(payload, mac)).slice(0, BODY_LENGTH);
}

type Shape = {
  readonly prefix: TokenKind;
  readonly tag: string;
  readonly version: number;
  readonly payload: Uint8Array;
  readonly mac: Uint8Array;
};

function shapeOf(text: string): Result<Shape, TokenRefusal> {
  if (text === '') return err(invalidFormat({ kind: 'empty' }));
  const restAt = text.indexOf('_') + 1;
  const prefix = kindOfPrefix(text.slice(0, Math.max(0, restAt - 1)));
  if (prefix === undefined) return err(invalidFormat({ kind: 'unknown_prefix', found: utf8Prefix(text, 8) }));

  const rest = text.slice(restAt);
  const foreign = FOREIGN.exec(rest);
  if (foreign !== null) {
    return err(invalidFormat({ kind: 'foreign_character', character: foreign[0], position: restAt + foreign.index }));
  }
  const expected = restAt + TAG_LENGTH + BODY_LENGTH;
  if (text.length !== expected) {
    return err(invalidFormat({ kind: 'wrong_length', expected, found: text.length }));
  }
  // One more zero digit fills up the last half byte.
  const bytes = fromBase32(`${rest.slice(TAG_LENGTH)}0`);
  assert(bytes !== undefined, 'foreign characters are refused above');
  return ok({
    prefix,
    tag: rest.slice(0, TAG_LENGTH),
    version: (bytes[0] ?? 0) >> 4,
    payload: bytes.slice(0, PAYLOAD_BYTES),
    mac: bytes.slice(PAYLOAD_BYTES),
  });
}

function claimsOf({ prefix, tag, version, payload }: Shape): Result<CompactTokenClaims, TokenRefusal> {
  const view = new DataView(payload.buffer);
  if (version !== VERSION && version !== BOUND_VERSION) return err(unsupportedVersion(version));
  const kind = TOKEN_KINDS[view.getUint8(0) & 0x0f];
  if (kind === undefined) return err(invalidFormat({ kind: 'not_canonical' }));
  if (kind !== prefix) return err(invalidFormat({ kind: 'prefix_disagrees', prefix, inside: kind }));
  return ok({
    form: 'compact',
    kind,
    tag,
    sessionId: SessionId.of(payload.slice(SESSION_AT, EVENT_INDEX_AT)),
    nodeEventIndex: eventIndexSchema.parse(view.getUint32(EVENT_INDEX_AT)),
    // Any other value in a state token is dropped, so that such a token does not re-encode to itself and is refused.
    attemptId: kind === 'state' ? FIRST_ATTEMPT : attemptIdSchema.parse(view.getUint16(ATTEMPT_AT)),
  });
}

export type ScopeNode = { readonly nodeId: NodeId; readonly runId: RunId; readonly workflowHash: WorkflowHash };
export type ScopeRun = { readonly workflowId: WorkflowId; readonly workflowHash: WorkflowHash };

/** What a token is checked against: the nodes and runs of one session. */
export type TokenScope = {
  readonly sessionId: SessionId;
  readonly nodeAt: (eventIndex: EventIndex) => ScopeNode | undefined;
  readonly node: (nodeId: NodeId) => ScopeNode | undefined;
  readonly run: (runId: RunId) => ScopeRun | undefined;
};

/** What a valid token leads to. */
export type TokenTarget = TokenPlace &
  ({ readonly kind: 'state' } | { readonly kind: 'ack' | 'checkpoint'; readonly attemptId: AttemptId });

/** Finds what verified claims name; `scope` is `undefined` when the session is not in the store. */
export function resolveToken(claims: TokenClaims, scope: TokenScope | undefined): Result<TokenTarget, TokenRefusal> {
  if (scope === undefined) return err(unknown(claims, { kind: 'session' }));
  if (claims.sessionId !== scope.sessionId) {
    const mismatch = { kind: 'session', expected: scope.sessionId, found: claims.sessionId } as const;
    return err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch });
  }
  const node = claims.form === 'compact' ? scope.nodeAt(claims.nodeEventIndex) : scope.node(claims.nodeId);
  const isOther = node !== undefined && claims.form === 'compact' && claims.isOf?.(node.nodeId) === false;
  if (node === undefined || isOther) return err(unknown(claims, missingNode(claims)));
  const run = scope.run(node.runId);
  if (run === undefined) return err(unknown(claims, { kind: 'run', runId: node.runId }));

  const { nodeId, runId } = node;
  const place = { sessionId: scope.sessionId, runId, nodeId, tag: runTag(runId), workflowId: run.workflowId };
  const named = namedRun(claims, scope);
  if (named.tag !== place.tag || (named.runId ?? place.runId) !== place.runId) {
    return err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch: { kind: 'run', place, named } });
  }
  const contradiction = hashContradiction(claims, node, run.workflowHash);
  if (contradiction !== undefined) {
    return err({ code: 'TOKEN_WORKFLOW_HASH_MISMATCH', place, pinned: run.workflowHash, ...contradiction });
  }
  return ok(
    claims.kind === 'state'
      ? { ...place, kind: 'state' }
      : { ...place, kind: claims.kind, attemptId: claims.attemptId },
  );
}

/** Whether a state token and the ack or checkpoint token sent with it name the same node of the same run. */
export function checkTokenPair(state: TokenTarget, operation: TokenTarget): Result<TokenTarget, TokenRefusal> {
  const isSame =
    state.sessionId === operation.sessionId && state.runId === operation.runId && state.nodeId === operation.nodeId;
  if (isSame) return ok(operation);
  const mismatch = { kind: 'pair', state: placeOnly(state), operation: placeOnly(operation) } as const;
  return err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch });
}

/** The refusal of a token that leads to its node, where the stored workflow is not the one that the run pinned. */
export function storedWorkflowMismatch(
  target: TokenTarget,
  hashes: { readonly pinned: WorkflowHash; readonly found: WorkflowHash },
): TokenRefusal {
  return { code: 'TOKEN_WORKFLOW_HASH_MISMATCH', place: placeOnly(target), source: 'stored_workflow', ...hashes };
}

function missingNode(claims: TokenClaims): MissingPlace {
  return claims.form === 'compact'
    ? { kind: 'node_at', eventIndex: claims.nodeEventIndex }
    : { kind: 'node', nodeId: claims.nodeId };
}

function unknown({ sessionId }: TokenClaims, missing: MissingPlace): TokenRefusal {
  return { code: 'TOKEN_UNKNOWN_NODE', sessionId, missing };
}

function placeOnly({ sessionId, runId, nodeId, tag, workflowId }: TokenTarget): TokenPlace {
  return { sessionId, runId, nodeId, tag, workflowId };
}

function namedRun(claims: TokenClaims, scope: TokenScope): TokenRun {
  if (claims.form === 'compact') return { tag: claims.tag, runId: null, workflowId: null };
  const { runId } = claims;
  return { tag: runTag(runId), runId, workflowId: scope.run(runId)?.workflowId ?? null };
}

type HashContradiction = { readonly source: 'token' | 'node'; readonly found: WorkflowHash };

function hashContradiction(claims: TokenClaims, node: ScopeNode, pinned: WorkflowHash): HashContradiction | undefined {
  if (claims.form === 'json' && claims.kind === 'state' && claims.workflowHash !== pinned) {
    return { source: 'token', found: claims.workflowHash };
  }
  return node.workflowHash === pinned ? undefined : { source: 'node', found: node.workflowHash };
}
