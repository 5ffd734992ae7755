import { err, ok } from 'neverthrow';
import { expect, it } from 'vitest';
import { runFake } from '../../test/cli/fake-program.ts';
import { fakeSetup } from '../../test/cli/fake-setup.ts';
import { enforces } from '../../test/enforces.ts';
import { toBase64Url } from '../core/text/binary-text.ts';
import { activeKeys } from '../core/token/keyring.ts';
import { commandShape } from './command-shape.ts';
import { keysRepair, keysRotate, keysStatus, readHead } from './keys.ts';
import type { PassportAccess } from './program.ts';

const keysRotateShape = commandShape('keys rotate', keysRotate.data);
const keysStatusShape = commandShape('keys status', keysStatus.data);

it('keys status creates no key and never shows one', async () => {
  const setup = fakeSetup();
  const status = () => runFake({ argv: ['keys', 'status', '--json'], setup });
  const none = { current: null, previous: null };
  expect(keysStatusShape.parse(JSON.parse((await status()).out)).data?.keys).toEqual(none);
  expect((await setup.keyring.find())._unsafeUnwrap()).toBeUndefined();
  const { current } = (await setup.keyring.open())._unsafeUnwrap();
  expect((await status()).out).not.toContain(toBase64Url(current));
});

it('keys public suggests a passport outside of the repository', async () => {
  const passports = { ownKeys: async () => ok([{ keyid: 'k', pem: 'PEM' }]) } as unknown as PassportAccess;
  const { talk } = await runFake({ argv: ['keys', 'public'], setup: fakeSetup(), passports });
  expect(talk).toBe('Next: workrail export ID --as passport -o ../passport.json\n');
});

it('keys rotate keeps the last key valid, and invalidates an older one only with --yes', async () => {
  enforces('cli_keys_rotate_explicit', 'cli_interaction_switches', 'cli_exit_codes');
  const setup = fakeSetup();
  const { current: first } = (await setup.keyring.open())._unsafeUnwrap();
  const rotate = (...argv: string[]) => runFake({ argv: ['keys', 'rotate', ...argv], setup });
  const keys = async () => activeKeys((await setup.keyring.find())._unsafeUnwrap());

  const once = keysRotateShape.parse(JSON.parse((await rotate('--json')).out));
  expect(once.data?.after.previous).toBe(once.data?.before.current);
  const [second, previous] = await keys();
  expect(previous).toEqual(first);
  expect(second).not.toEqual(first);

  expect(await rotate()).toMatchObject({ exitCode: 5, talk: expect.stringContaining('workrail keys rotate --yes') });
  for (const [answer, exitCode] of [[false, 5] as const, [undefined, 130] as const]) {
    const refused = { setup, terminals: ['input', 'error'], ask: { confirm: async () => answer } } as const;
    expect(await runFake({ argv: ['keys', 'rotate'], ...refused })).toMatchObject({ exitCode });
  }
  expect(await keys()).toEqual([second, first]);
  expect((await rotate('--yes')).out).toContain('are no longer valid');
  expect((await keys())[1]).toEqual(second);
});

it('keys repair says what ends before it makes new keys, and asks only if the keys are damaged', async () => {
  enforces('keyring_repaired');
  const setup = fakeSetup();
  await setup.keyring.open();
  expect(await runFake({ argv: ['keys', 'repair'], setup })).toMatchObject({
    exitCode: 0,
    out: expect.stringContaining('not damaged'),
  });
  const damage = { reason: 'content_not_json', place: 'keys/keyring.json', offset: 0 } as const;
  let isRepaired = false;
  const keyring = {
    ...setup.keyring,
    find: async () => (isRepaired ? setup.keyring.find() : err({ code: 'damaged' as const, damage })),
    repair: async () => {
      isRepaired = true;
      return ok('keys/keyring.json.damaged-1');
    },
  };
  const damaged = { ...setup, keyring };
  expect(await runFake({ argv: ['keys', 'repair'], setup: damaged })).toMatchObject({
    exitCode: 5,
    talk: expect.stringMatching(
      /become invalid; resume_session brings every run back[\s\S]*copy of the old public key[\s\S]*merge gate[\s\S]*keys repair --yes/,
    ),
  });
  expect(isRepaired).toBe(false);
  const { out } = await runFake({ argv: ['keys', 'repair', '--yes', '--json'], setup: damaged });
  const { data } = commandShape('keys repair', keysRepair.data).parse(JSON.parse(out));
  expect(data).toMatchObject({ moved: 'keys/keyring.json.damaged-1', keys: { previous: null } });
});

it('a head is read bare, as commands print it, and with the name of its hash, as other verifiers print it', () => {
  const head = 'a'.repeat(64);
  expect([head, `sha256:${head}`].map((text) => readHead(text))).toEqual([ok(head), ok(head)]);
  for (const text of ['', head.slice(1), head.toUpperCase(), `sha1:${head}`, `${head} `]) {
    expect(readHead(text)._unsafeUnwrapErr().error.message).toContain('64 lower-case hex digits');
  }
});

it.each(['session verify sess_1', 'verify passport.json --key key.pem'])(
  '%s takes a head with the name of its hash',
  async (line) => {
    const { talk } = await runFake({ argv: [...line.split(' '), '--head', `sha256:${'a'.repeat(64)}`] });
    expect(talk).not.toContain('64 lower-case');
  },
);
