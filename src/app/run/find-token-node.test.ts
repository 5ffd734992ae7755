import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { memoryServices } from '../../../test/examples/memory-services.ts';
import { golden, keys, node, purpose } from '../../../test/golden/token/token-fixture.ts';
import { mintToken } from '../../core/token/node-token.ts';
import { TOKEN_KINDS } from '../../core/token/token.ts';
import type { Services } from '../services.ts';
import { findTokenNode } from './find-token-node.ts';

/** A machine on which no key was ever made, and one with a key that signed nothing yet. */
const MACHINES: readonly (readonly [string, number, (services: Services) => Promise<unknown>])[] = [
  ['no keyring', 0, async () => undefined],
  ['a keyring', 1, ({ keyring }) => keyring.open()],
];

test.each(MACHINES)('with %s, a text that is not a token is refused as such', async (_, __, prepare) => {
  enforces('token_error_invalid_format', 'token_error_unsupported_version');
  const services = memoryServices();
  await prepare(services);
  const wrong = golden.refusals.filter(({ refusal }) => /INVALID_FORMAT|UNSUPPORTED_VERSION/.test(refusal.code));
  expect(new Set(wrong.map(({ refusal }) => refusal.code)).size).toBe(2);
  for (const { token, slot, refusal } of wrong) {
    expect(await findTokenNode(services, { text: token ?? '', slot })).toEqual(err(refusal));
  }
});

test.each(MACHINES)('with %s, a token of another machine is refused as such', async (_, keysTried, prepare) => {
  enforces('token_error_bad_signature');
  const services = memoryServices();
  await prepare(services);
  for (const form of ['compact', 'json'] as const) {
    for (const kind of TOKEN_KINDS) {
      const text = mintToken(node, purpose(kind), { ...keys, form });
      for (const slot of ['stateToken', 'ackToken'] as const) {
        expect(await findTokenNode(services, { text, slot })).toEqual(
          err({ code: 'TOKEN_BAD_SIGNATURE', kind, keysTried }),
        );
      }
    }
  }
});
