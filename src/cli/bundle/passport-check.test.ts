import { err, ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { sshApprover } from '../../../test/examples/approvers.ts';
import { KEY, OTHER_KEY, passportAbout, TOOLS } from '../../../test/passport/random-passports.ts';
import { signatureTools } from '../../adapters/approvers.ts';
import { parsePublicKeys } from '../../adapters/system.ts';
import type { InputFailure } from '../../app/ports/bundle-output.ts';
import { approverLine } from '../../core/approvals/approver-list.ts';
import { APPROVERS_FILE, MERGE_GATE_FILE } from '../../core/passport/merge-gate.ts';
import type { PassportAccess } from '../program.ts';

const TREE = 'b'.repeat(40);
const BASE = 'refs/heads/main';
const PEM = KEY.publicKey.pem;
const FILES: { readonly [file: string]: Uint8Array | InputFailure } = {
  'good.json': passportAbout(TREE),
  'old.json': passportAbout(TREE, { ran: 'a'.repeat(40) }),
  'bad.json': passportAbout(TREE).subarray(0, -9),
  nope: { code: 'input_failed', place: 'nope', cause: 'ENOENT' },
  folder: { code: 'input_failed', place: 'folder', cause: 'it is a folder' },
  huge: { code: 'input_too_large', place: 'huge', size: 5_000_000_000, max: 1 },
};

const commit = { commit: 'a'.repeat(40), tree: TREE };
type Base = { readonly gate?: object; readonly approvers?: string };

function access({ gate = {}, approvers }: Base = {}): PassportAccess {
  const stored: { readonly [file: string]: string | undefined } = {
    [MERGE_GATE_FILE]: JSON.stringify({ v: 1, keys: [PEM], ...gate }),
    [APPROVERS_FILE]: approvers,
  };
  return {
    services: {
      tools: TOOLS,
      commits: {
        commitNamed: async () => ok(commit),
        commitAt: async () => commit,
        fileAt: async (_: string, __: string, file: string) => stored[file],
      },
    },
    signatureTools,
    parseKeys: parsePublicKeys,
    readKeys: async () => ok([KEY.publicKey]),
    readPassport: async (file: string) => {
      const found = FILES[file] ?? expect.fail(file);
      return found instanceof Uint8Array ? ok(found) : err(found);
    },
  } as unknown as PassportAccess;
}

const check = (base: Base = {}, file = 'good.json', ...more: readonly string[]) =>
  runFake({ argv: ['passport', 'check', file, '--base', BASE, ...more], passports: access(base) });

const alice = approverLine(sshApprover('alice').approver);

describe('what counts for a merge gate', () => {
  const SIGNED = { approvals: { count: 1, signed: true } };
  const ours = 'namespaces="workrail-approval"';
  const noName = 'it must be a name, a key type and a key.';
  it.each([
    {
      has: 'another namespace',
      from: ours,
      to: 'namespaces="git"',
      why: 'the option namespaces="git" is not supported',
    },
    { has: 'an end', from: ours, to: 'valid-before="20200101"', why: 'the option valid-before=' },
    { has: 'an authority', from: ours, to: 'cert-authority', why: noName },
    { has: 'a pattern', from: 'alice ', to: '* ', why: noName },
    { has: 'two names', from: 'alice ', to: 'alice,bob ', why: noName },
  ])('passport check says why a line with $has does not count', async ({ from, to, why }) => {
    const line = alice.replace(from, to);
    const { exitCode, out, talk } = await check({ gate: SIGNED, approvers: line });
    expect(exitCode).toBe(4);
    expect(out).toContain(`! ${APPROVERS_FILE} of ${BASE}: Line 1 does not count: ${why}`);
    expect(out).toContain('It lists 0 people whose signatures count, and 1 is required.');
    expect(talk).toContain(`Fix: Correct ${APPROVERS_FILE} on ${BASE}: the lines that do not count are listed above.`);
    const { data } = JSON.parse((await check({ gate: SIGNED, approvers: line }, 'good.json', '--json')).out);
    expect(data.notes[0]).toContain(why);
  });

  it('passport check says that lines after the limit are not read, also if the gate passes', async () => {
    const { exitCode, out } = await check({ approvers: `${'\n'.repeat(600)}${alice}` });
    expect([exitCode, out]).toEqual([0, expect.stringContaining('Only the first 500 lines are read.')]);
  });

  it('passport check says nothing of a list in which everything counts', async () => {
    const { exitCode, out } = await check({ approvers: alice });
    expect(exitCode).toBe(0);
    expect(out).not.toContain('!');
    expect(JSON.parse((await check({ approvers: alice }, 'good.json', '--json')).out).data).not.toHaveProperty('notes');
  });

  it.each([
    ['a damaged key', 1, [PEM.replace('MCow', 'MCxw')]],
    ['text beside a good key', 2, [PEM, 'garbage']],
    ['a damaged key in the entry of a good one', 1, [`${PEM}${PEM.replace('MCow', 'MCxw')}`]],
    ['a private key', 2, [OTHER_KEY.publicKey.pem, '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----']],
  ])('passport check refuses a gate that names %s', async (_, entry, keys) => {
    const { exitCode, out, talk } = await check({ gate: { keys } });
    expect([exitCode, out]).toEqual([2, '']);
    expect(talk).toMatch(`Entry ${entry} of "keys" in ${MERGE_GATE_FILE} of ${BASE} is not an Ed25519 public key`);
  });

  it('passport check says what to add to a gate that asks for nothing about the files', async () => {
    const { exitCode, out, talk } = await check({}, 'old.json');
    expect(exitCode).toBe(4);
    expect(out).toContain('✗ Nothing in it shows that the run was about these files: no check ran on exactly these');
    expect(talk).toContain(
      `Add "checks" or "approvals" to ${MERGE_GATE_FILE} on ${BASE}: it requires neither. Run the`,
    );
    const gate = { approvals: { count: 1 } };
    expect((await check({ gate }, 'old.json')).talk).not.toContain('it requires neither');
  });

  it('passport check says that the gate does not name the key of a passport', async () => {
    const { exitCode, out } = await check({ gate: { keys: [OTHER_KEY.publicKey.pem] } });
    expect([exitCode, out]).toEqual([
      4,
      expect.stringContaining(`not among the keys of ${MERGE_GATE_FILE} on ${BASE}`),
    ]);
  });

  it('passport check rejects a gate file with a repeated key, in whole sentences', async () => {
    const passports = access();
    const twice = `{"v":1,"v":1,"keys":${JSON.stringify([PEM])}}`;
    const commits = { ...passports.services.commits, fileAt: async () => twice };
    const changed = { ...passports, services: { ...passports.services, commits } };
    const { talk } = await runFake({ argv: ['passport', 'check', 'good.json', '--base', BASE], passports: changed });
    expect(talk).toContain('"v" is written twice in one object; remove one of them.\nFix: Fix the file');
  });
});

describe('a passport file that cannot be read', () => {
  const verify = (...files: readonly string[]) =>
    runFake({ argv: ['verify', ...files, '--key', 'key'], passports: access() });

  it.each([
    ['nope', 3, 'nope does not exist.'],
    ['folder', 2, 'folder could not be read (it is a folder).'],
    ['huge', 2, 'huge is too large to be a passport (5.0 GB).'],
  ])('verify and passport check say what is wrong with %s, and nothing about a passport', async (file, code, why) => {
    for (const { exitCode, out, talk } of [await verify(file), await check({}, file)]) {
      expect([exitCode, out]).toEqual([code, expect.stringContaining(why.slice(file.length, -1))]);
      expect(talk).toContain(`${why}\nFix: Give the path of a passport that "workrail export ID --as passport`);
      expect(talk).not.toMatch(/rely|unchanged/);
    }
  });

  it('verify checks the other files, and fails the check only for a passport that it read', async () => {
    const some = await verify('nope', 'good.json', 'folder');
    expect([some.exitCode, some.out]).toEqual([2, expect.stringContaining('✓ good.json')]);
    expect(some.talk).toContain('nope does not exist. folder could not be read (it is a folder).');
    const wrong = await verify('nope', 'good.json', 'bad.json');
    expect([wrong.exitCode, wrong.out]).toEqual([4, expect.stringContaining('✓ good.json')]);
    expect(wrong.talk).toContain('1 of 3 passports does not hold. nope does not exist.\nFix: Do not rely on it.');
  });
});

it.each([
  ['verify', ['good.json', '--key', 'key', '--tree', 'main', '--tree', 'other']],
  ['verify', ['good.json', '--key', 'other', '--key', 'key']],
  ['verify', ['good.json', '--key', 'key', '--head', 'a', '--head', 'b']],
  ['verify', ['good.json', '--key', 'key', '--approvers', 'a', '--approvers=b']],
  ['passport check', ['good.json', '--base', 'main', '--base', 'other']],
  ['passport check', ['good.json', '--base', 'main', '--change', 'a', '--change', 'a']],
  ['session verify', ['7f3a', '--key', 'key', '--key', 'other']],
])('%s refuses an option that is given twice', async (name, words) => {
  const { exitCode, talk, calls } = await runFake({ argv: [...name.split(' '), ...words], passports: access() });
  expect([exitCode, calls]).toEqual([2, []]);
  expect(talk).toMatch(new RegExp(`is given more than once; give it once\\.\nFix: Run "workrail ${name} --help"`));
});
