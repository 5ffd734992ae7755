import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { ownJsonBytes } from '../json/canonical-json.ts';
import { parseJson } from '../json/json-value.ts';
import { parseDocument } from '../log/document-schema.ts';
import { attemptIdSchema, NodeId, RunId, SessionId, workflowHashSchema } from '../log/ids.ts';
import { fromBase64Url, toBase64Url } from '../text/binary-text.ts';
import { utf8Prefix } from '../text/utf8.ts';
import { activeKeys, constantTimeEqual, type TokenKeys, type VerifyingKeys } from './keyring.ts';
import { type JsonTokenClaims, kindOfPrefix, TOKEN_PREFIXES, type TokenKind } from './token.ts';
import { invalidFormat, type TokenRefusal, unsupportedVersion } from './token-refusal.ts';

const VERSION = 1;
const PARTS = 4;
/** 32 bytes in base64url. */
const SIGNATURE_LENGTH = 43;

const payloadHead = {
  tokenVersion: z.literal(VERSION),
  sessionId: SessionId.schema,
  runId: RunId.schema,
  nodeId: NodeId.schema,
};
const payloadSchema = z.discriminatedUnion('tokenKind', [
  z.strictObject({ ...payloadHead, tokenKind: z.literal('state'), workflowHash: workflowHashSchema }),
  z.strictObject({ ...payloadHead, tokenKind: z.literal('ack'), attemptId: attemptIdSchema }),
  z.strictObject({ ...payloadHead, tokenKind: z.literal('checkpoint'), attemptId: attemptIdSchema }),
]);

/** Writes a token of the JSON form signed with the current key. */
export function encodeJsonToken(claims: JsonTokenClaims, { keyring, hmac }: TokenKeys): string {
  const payload = payloadBytes(claims);
  return textOf(claims.kind, payload, hmac(keyring.current, payload));
}

/** Reads a token of the JSON form. It must be exactly as it was written. */
export function parseJsonToken(text: string, { keyring, hmac }: VerifyingKeys): Result<JsonTokenClaims, TokenRefusal> {
  const shape = shapeOf(text);
  if (shape.isErr()) return err(shape.error);
  const { prefix, signature } = shape.value;
  const claims = claimsOf(shape.value.payload);
  if (claims.isErr()) return err(claims.error);
  const { kind } = claims.value;
  if (kind !== prefix) return err(invalidFormat({ kind: 'prefix_disagrees', prefix, inside: kind }));

  const payload = payloadBytes(claims.value);
  if (textOf(kind, payload, signature) !== text) return err(invalidFormat({ kind: 'not_canonical' }));
  const active = activeKeys(keyring);
  if (active.some((key) => constantTimeEqual(hmac(key, payload), signature))) return ok(claims.value);
  return err({ code: 'TOKEN_BAD_SIGNATURE', kind, keysTried: active.length });
}

function payloadBytes(claims: JsonTokenClaims): Uint8Array {
  const { form: _, kind: tokenKind, ...names } = claims;
  return ownJsonBytes({ tokenVersion: VERSION, tokenKind, ...names });
}

function textOf(kind: TokenKind, payload: Uint8Array, signature: Uint8Array): string {
  return `${TOKEN_PREFIXES[kind]}.v${VERSION}.${toBase64Url(payload)}.${toBase64Url(signature)}`;
}

type Shape = { readonly prefix: TokenKind; readonly payload: Uint8Array; readonly signature: Uint8Array };

function shapeOf(text: string): Result<Shape, TokenRefusal> {
  const parts = text.split('.');
  const [head = '', version = '', payloadText = '', signatureText = ''] = parts;
  const prefix = kindOfPrefix(head);
  if (prefix === undefined || !/^v(?:0|[1-9][0-9]{0,8})$/.test(version)) {
    return err(invalidFormat({ kind: 'unknown_prefix', found: utf8Prefix(text, 8) }));
  }
  const found = Number(version.slice(1));
  if (found !== VERSION) return err(unsupportedVersion(found));
  if (parts.length !== PARTS) return err(invalidFormat({ kind: 'wrong_parts', expected: PARTS, found: parts.length }));

  const foreign = /[^A-Za-z0-9_.-]/u.exec(text);
  if (foreign !== null) {
    return err(invalidFormat({ kind: 'foreign_character', character: foreign[0], position: foreign.index }));
  }
  if (signatureText.length !== SIGNATURE_LENGTH) {
    const expected = text.length - signatureText.length + SIGNATURE_LENGTH;
    return err(invalidFormat({ kind: 'wrong_length', expected, found: text.length }));
  }
  const payload = fromBase64Url(payloadText);
  const signature = fromBase64Url(signatureText);
  if (payload === undefined || signature === undefined) return err(invalidFormat({ kind: 'not_canonical' }));
  return ok({ prefix, payload, signature });
}

function claimsOf(payload: Uint8Array): Result<JsonTokenClaims, TokenRefusal> {
  // Every legal payload is ASCII; any other one fails to re-encode, so no UTF-8 needs to be decoded.
  const json = parseJson(String.fromCharCode(...payload));
  if (json.isErr()) return err(invalidFormat({ kind: 'wrong_payload', path: '' }));
  const parsed = parseDocument(payloadSchema, json.value);
  if (parsed.isErr()) return err(invalidFormat({ kind: 'wrong_payload', path: parsed.error.path }));
  const { tokenVersion: _, tokenKind, ...names } = parsed.value;
  return ok({ form: 'json', kind: tokenKind, ...names } as JsonTokenClaims);
}
