import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { oidcProvider } from './identity-provider.ts';

const AUDIENCE = 'https://rail.example';
const { privateKey, publicKey } = await generateKeyPair('ES256');
const server = createServer((request, response) => {
  void exportJWK(publicKey).then((key) =>
    response.end(
      JSON.stringify(
        request.url === '/keys' ? { keys: [{ ...key, kid: 'one', alg: 'ES256' }] } : { issuer, jwks_uri: keysAt() },
      ),
    ),
  );
});
let issuer = '';
const keysAt = () => `${issuer}/keys`;

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => server.close());

async function identified(claims: Record<string, unknown>, groupsClaim?: string) {
  const token = await new SignJWT({ iss: issuer, aud: AUDIENCE, ...claims })
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setExpirationTime('1m')
    .sign(privateKey);
  return (await oidcProvider(issuer, groupsClaim).identify(token, [AUDIENCE]))._unsafeUnwrap();
}

it('scopes are read from the claims scope and scp, as a text or a list', async () => {
  for (const claims of [
    { scope: 'workrail:read workrail:agent' },
    { scp: 'workrail:read workrail:agent' },
    { scp: ['workrail:read', 'workrail:agent'] },
    { scope: 'workrail:read', scp: ['workrail:agent', 7] },
  ]) {
    expect((await identified({ sub: 'ann', ...claims }))?.scopes).toEqual(['workrail:read', 'workrail:agent']);
  }
  expect((await identified({ sub: 'ann' }))?.scopes).toEqual([]);
});

it('groups are read from the claim that the operator names, as a list or a text, without names that nobody sees', async () => {
  const named = (name: string) => `group:${issuer}|${name}`;
  for (const [groups, found] of [
    [
      ['dev', 'On call'],
      [named('dev'), named('On call')],
    ],
    ['dev', [named('dev')]],
    [['dev', 7, '', 'a\u0000b', 'a\u200bb', { dev: true }], [named('dev')]],
    [{ dev: true }, []],
    [undefined, []],
  ] as const) {
    expect((await identified({ sub: 'ann', groups }))?.groups).toEqual(found);
  }
  expect(
    (await identified({ sub: 'ann', groups: ['no'], 'https://acme/roles': ['yes'] }, 'https://acme/roles'))?.groups,
  ).toEqual([named('yes')]);
});

it('a subject that is not a text, or has characters that nobody sees, is nobody', async () => {
  for (const sub of ['a\u0000b', 'ann\u200b', '\u202enna', '', ['ann'], { ann: 1 }, 7]) {
    expect([sub, await identified({ sub })]).toEqual([sub, undefined]);
  }
  expect((await identified({ sub: 'repo:acme/shop:environment:My zone' }))?.principal).toBe(
    `${issuer}|repo:acme/shop:environment:My zone`,
  );
});

it('keys over plain http are refused, unless the issuer is on this machine', async () => {
  const remote = 'https://idp.example';
  const found = { issuer: remote, jwks_uri: 'http://idp.example/keys' };
  const fetchBefore = globalThis.fetch;
  globalThis.fetch = async () => Response.json(found);
  const refused = await oidcProvider(remote).identify('a.b.c', [AUDIENCE]);
  globalThis.fetch = fetchBefore;
  expect(refused._unsafeUnwrapErr()).toMatchObject({ cause: expect.stringContaining('without https') });
});
