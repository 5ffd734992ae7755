import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { nodeHasher } from '../../src/adapters/system.ts';
import { gitObserver } from '../../src/adapters/workspace.ts';
import { cleanTreeDigest } from '../../src/core/passport/passport.ts';
import { isSeen } from '../../src/core/run/gate-facts.ts';
import { enforces } from '../enforces.ts';
import { drawnSeed, isLong } from '../volume.ts';
import { type Machine, machine } from './gate-attacks.ts';

const folder = mkdtempSync(join(tmpdir(), 'workrail-tree-'));
afterAll(() => rmSync(folder, { recursive: true }));

const git = (...args: readonly string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { stdio: 'pipe' });

const COMMITTED = ['a.txt', 'src/b.txt', 'marked.txt', 'filtered.txt', 'left out.txt'];
const FILES = [...COMMITTED, 'staged.txt', 'new.txt', 'src/new\nline.txt'];

/** Whole seconds, which every file system keeps. */
const LONG_AGO = 1_600_000_000;

/** A repository with files of every state, set up by an agent that wants its edits to go unnoticed. */
function hostileRepository(): void {
  mkdirSync(join(folder, 'src'));
  git('init', '-q', '-b', 'main');
  for (const name of COMMITTED) {
    writeFileSync(join(folder, name), `${name}: ${'text '.repeat(20)}\n`);
    utimesSync(join(folder, name), LONG_AGO, LONG_AGO);
  }
  git('add', '-A');
  git('commit', '-qm', 'All');
  for (const name of FILES.slice(COMMITTED.length)) writeFileSync(join(folder, name), `${name}: not committed\n`);
  git('add', 'staged.txt');
  git('update-index', '--assume-unchanged', 'marked.txt');
  git('update-index', '--skip-worktree', 'left out.txt');
  git('config', 'core.trustctime', 'false');
  git('config', 'core.fsmonitor', 'true');
  git('config', 'filter.same.clean', 'git show HEAD:%f');
  mkdirSync(join(folder, '.git', 'info'), { recursive: true });
  writeFileSync(join(folder, '.git', 'info', 'attributes'), 'filtered.txt filter=same\n');
}

/** Numbers from a seed, always the same ones. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Changes one byte of a file and keeps its size and its time, as far as anybody can. */
function flip(name: string, pick: (below: number) => number): () => void {
  const path = join(folder, name);
  const before = readFileSync(path);
  const after = Buffer.from(before);
  const at = pick(after.length);
  after.writeUInt8(after.readUInt8(at) ^ (1 + pick(255)), at);
  const put = (bytes: Buffer) => {
    writeFileSync(path, bytes);
    utimesSync(path, LONG_AGO, LONG_AGO);
  };
  put(after);
  return () => put(before);
}

/** Somebody who signed the files as they are now. */
async function approved(): Promise<{ readonly it: Machine; readonly from: Awaited<ReturnType<Machine['blocked']>> }> {
  const it = machine('signed', gitObserver(nodeHasher, { start: 20_000, short: 20_000, long: 20_000 }), folder);
  const from = await it.blocked();
  expect((await it.answer(from, { who: it.alice })).isOk()).toBe(true);
  return { it, from };
}

const TRIES = isLong ? 1_000 : 12;
const PER_APPROVAL = 50;

test('one byte that changes in the work tree after a signed approval ends it, in every file that git does not ignore', async () => {
  enforces('signed_tree_asked_again');
  hostileRepository();
  const pick = numbersFrom(drawnSeed());
  const missed: string[] = [];
  let asked = 0;
  while (asked + missed.length < TRIES) {
    const { it, from } = await approved();
    let reply = from;
    for (let i = 0; i < PER_APPROVAL && asked + missed.length < TRIES; i++) {
      const name = FILES[(asked + missed.length) % FILES.length] ?? '';
      const restore = flip(name, pick);
      const sent = await it.run.send(reply);
      restore();
      if (sent.structured['kind'] === 'blocked') {
        asked += 1;
        reply = sent;
      } else {
        missed.push(name);
        break;
      }
    }
    // With every byte as it was signed, the signature counts again.
    if (reply.structured['kind'] === 'blocked' && missed.length === 0) {
      expect((await it.run.send(reply)).structured['kind']).toBe('ok');
    }
  }
  expect({ asked, missed }).toEqual({ asked: TRIES, missed: [] });
}, 3_600_000);

const AUTHOR = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'protocol.file.allow=always'];
const gitIn = (at: string, ...args: readonly string[]) =>
  execFileSync('git', ['-C', at, ...AUTHOR, ...args], { encoding: 'utf8', stdio: 'pipe' }).trim();
const patient = gitObserver(nodeHasher, { start: 20_000, short: 20_000, long: 20_000 });

function commitAll(at: string): void {
  gitIn(at, 'add', '-A');
  gitIn(at, 'commit', '-qm', 'All');
}

/** Repositories with two files and a link, one of them with a submodule. Every attack gets a copy. */
function sampleRepositories(): { readonly plain: string; readonly withSub: string } {
  const [plain, withSub] = ['plain', 'sub'].map((name) => join(realpathSync(folder), name)) as [string, string];
  mkdirSync(plain);
  gitIn(plain, 'init', '-q', '-b', 'main');
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(plain, name), `${name}\n`);
  symlinkSync('a.txt', join(plain, 'link'));
  commitAll(plain);
  cpSync(plain, withSub, { recursive: true, verbatimSymlinks: true });
  gitIn(withSub, 'submodule', '--quiet', 'add', plain, 'sub');
  commitAll(withSub);
  return { plain, withSub };
}

/** What an agent prepares before somebody signs, and what it does after that. */
type Attack = readonly [before: (at: string) => unknown, after: (at: string) => void];

const put =
  (path: string, text = 'evil\n') =>
  (at: string) =>
    writeFileSync(join(at, path), text);
const set = (key: string, value: string) => (at: string) => gitIn(at, 'config', key, value);
const mark = (how: string, path: string) => (at: string) => gitIn(at, 'update-index', how, path);
const gone = (path: string) => (at: string) => rmSync(join(at, path));
const program = (path: string) => (at: string) => chmodSync(join(at, path), 0o755);
const latin = (letter: number) => Buffer.concat([Buffer.from('caf'), Buffer.from([letter])]);
const lead = (target: string | Buffer, path: string) => (at: string) => {
  rmSync(join(at, path), { force: true });
  symlinkSync(target, join(at, path));
};
const inSub = (work: (at: string) => unknown) => (at: string) => work(join(at, 'sub'));

const commitEmpty = (at: string) => gitIn(at, 'commit', '-q', '--allow-empty', '-m', 'More');

function nest(at: string): void {
  mkdirSync(join(at, 'nested'));
  gitIn(join(at, 'nested'), 'init', '-q');
  put('x.js', 'good\n')(join(at, 'nested'));
  commitAll(join(at, 'nested'));
}

const ATTACKS: { readonly [name: string]: Attack } = {
  'deletes a file that is left out of the work tree': [mark('--skip-worktree', 'a.txt'), gone('a.txt')],
  'deletes a file that is marked as unchanged': [mark('--assume-unchanged', 'a.txt'), gone('a.txt')],
  'makes a marked file a program': [mark('--assume-unchanged', 'a.txt'), program('a.txt')],
  'retargets a marked link': [mark('--assume-unchanged', 'link'), lead('b.txt', 'link')],
  'edits in a repository that nobody added': [nest, put('nested/x.js')],
  'edits in a changed submodule': [put('sub/a.txt', 'changed\n'), put('sub/a.txt')],
  'edits a marked file of a clean submodule': [inSub(mark('--assume-unchanged', 'a.txt')), put('sub/a.txt')],
  'commits again in a changed submodule': [inSub(commitEmpty), inSub(commitEmpty)],
  'adds a second spelling of a name': [set('core.ignoreCase', 'true'), put('A.txt')],
  'retargets a new link to a folder': [lead('/usr', 'new'), lead('/etc', 'new')],
  'retargets a link to a name that is not text': [lead(latin(0xe9), 'new'), lead(latin(0xe8), 'new')],
  'retargets a changed link': [lead('/usr', 'link'), lead('/etc', 'link')],
  'makes a new file a program': [put('new.sh'), program('new.sh')],
  'makes a file a program where modes do not count': [set('core.fileMode', 'false'), program('a.txt')],
};

test('what git overlooks by its settings and marks after a signed approval changes the digest of the files', async () => {
  enforces('signed_tree_asked_again');
  const { plain, withSub } = sampleRepositories();
  const digest = async (at: string) => {
    const tree = await patient.tree(at, 'long', true);
    return isSeen(tree) ? tree.treeDigest : tree?.unseen;
  };
  // Links and clean submodules are part of the commit: the digest is the one that a passport expects.
  expect(await digest(withSub)).toBe(cleanTreeDigest(gitIn(withSub, 'rev-parse', 'HEAD^{tree}'), nodeHasher));
  const looks = Object.entries(ATTACKS).map(async ([name, [before, after]], i) => {
    const at = join(folder, `copy ${i}`);
    cpSync(name.includes('submodule') ? withSub : plain, at, { recursive: true, verbatimSymlinks: true });
    before(at);
    const signed = await digest(at);
    after(at);
    const left = await digest(at);
    return [signed, left].every((one) => one?.startsWith('sha256:')) && signed !== left ? [] : [name];
  });
  expect((await Promise.all(looks)).flat()).toEqual([]);
  await expectOwnFilesSigned(withSub);
}, 60_000);

/** A signature is about the files that are worked in, also where git was told to look at a copy. */
async function expectOwnFilesSigned(sample: string): Promise<void> {
  const [at, copy] = ['moved', 'untouched'].map((name) => join(folder, name)) as [string, string];
  for (const to of [at, copy]) cpSync(sample, to, { recursive: true, verbatimSymlinks: true });
  gitIn(at, 'config', 'core.worktree', copy);
  const it = machine('signed', patient, at);
  const from = await it.blocked();
  expect((await it.answer(from, { who: it.alice })).isOk()).toBe(true);
  put('a.txt')(at);
  expect((await it.run.send(from)).structured['kind']).toBe('blocked');
  // The files of a submodule that is not a repository are unknown, so nobody can sign.
  rmSync(join(copy, 'sub', '.git'));
  expect(await patient.tree(copy, 'long', true)).toMatchObject({ unseen: 'git_failed', path: 'sub' });
}
