import { expect, test } from 'vitest';
import { canonicalJson } from '../../../src/core/json/canonical-json.ts';
import { attemptIdSchema, workflowIdSchema } from '../../../src/core/log/ids.ts';
import { keyringDocument, parseKeyring } from '../../../src/core/token/keyring.ts';
import { mintToken, parseToken, resolveToken, type TokenScope } from '../../../src/core/token/node-token.ts';
import { enforces } from '../../enforces.ts';
import { golden, hmac, keys, node, purpose } from './token-fixture.ts';

const keyring = parseKeyring(golden.keyring)._unsafeUnwrap();

const scope: TokenScope = {
  sessionId: node.sessionId,
  nodeAt: (eventIndex) => (eventIndex === node.eventIndex ? node : undefined),
  node: (nodeId) => (nodeId === node.nodeId ? node : undefined),
  run: () => ({ workflowId: workflowIdSchema.parse('wr.bug-fix'), workflowHash: node.workflowHash }),
};

test('a stored keyring of the released format is read, and written the same', () => {
  expect(keyring).toEqual(keys.keyring);
  expect(keyringDocument(keyring)).toEqual(golden.keyring);
});

test.each([
  ['compact', golden.compactTokens],
  ['json', golden.jsonTokens],
] as const)('released %s tokens are written to the letter and still lead to their node', (form, released) => {
  enforces(form === 'json' ? 'token_v1_encoding' : 'token_v2_layout', 'token_is_signed_reference');
  for (const { kind, attemptId, token } of released) {
    const wanted = purpose(kind, attemptIdSchema.parse(attemptId));
    expect(mintToken(node, wanted, { keyring, hmac, form })).toBe(token);
    const claims = parseToken(token, 'attachTo', { keyring, hmac })._unsafeUnwrap();
    expect(resolveToken(claims, scope)._unsafeUnwrap()).toMatchObject({ ...wanted, nodeId: node.nodeId });
  }
});

test.each(golden.refusals.filter(({ token }) => token !== null))('$name is refused as it was released', (released) => {
  const { token, slot, refusal } = released;
  const claims = parseToken(token ?? '', slot, { keyring, hmac });
  const answer = claims.andThen((found) => resolveToken(found, scope));
  expect(canonicalJson(answer._unsafeUnwrapErr())).toEqual(canonicalJson(refusal));
});
