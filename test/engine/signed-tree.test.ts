import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { nodeHasher } from '../../src/adapters/system.ts';
import { gitObserver } from '../../src/adapters/workspace.ts';
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

const TRIES = isLong ? 1_000 : 24;
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
