import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { gitCommits } from '../../src/adapters/workspace.ts';
import {
  type Approval,
  gateFailures,
  MERGE_GATE_FILE,
  type MergeGate,
  parseMergeGate,
} from '../../src/core/passport/merge-gate.ts';
import { verifyPassport } from '../../src/core/passport/verify-passport.ts';
import { enforces } from '../enforces.ts';
import { KEY, passportAbout, TOOLS } from './random-passports.ts';

const folder = mkdtempSync(join(tmpdir(), 'workrail-gate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const git = (...args: string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], {
    encoding: 'utf8',
  }).trim();

const GATE: MergeGate = { v: 1, keys: [KEY.publicKey.pem], checks: { tests: 'observed' }, approvals: { count: 1 } };

/** A repository whose base has the gate, and a change that tries to loosen it. */
function repository() {
  git('init', '-q', '-b', 'main');
  mkdirSync(join(folder, '.workrail'));
  const put = (gate: object) => writeFileSync(join(folder, MERGE_GATE_FILE), JSON.stringify(gate));
  put(GATE);
  git('add', '-A');
  git('commit', '-q', '-m', 'base');
  git('checkout', '-q', '-b', 'change');
  put({ v: 1, keys: [KEY.publicKey.pem] });
  writeFileSync(join(folder, 'fixed.txt'), 'fixed');
  git('add', '-A');
  git('commit', '-q', '-m', 'change');
}

function statementAbout(...about: Parameters<typeof passportAbout>) {
  return verifyPassport(passportAbout(...about), { keys: [KEY.publicKey], tools: TOOLS })._unsafeUnwrap().statement;
}

const unsigned = () => undefined;

test('a change passes only with a passport of its own tree, with checks and approvals of exactly these files', async () => {
  enforces('merge_gate');
  repository();
  const { tree = '' } = (await gitCommits.commitAt(folder, 'HEAD')) ?? {};
  const base = (await gitCommits.commitAt(folder, 'main')) ?? expect.fail();
  // What the change itself says about the gate does not count.
  const gate = parseMergeGate((await gitCommits.fileAt(folder, 'main', MERGE_GATE_FILE)) ?? '')._unsafeUnwrap();
  expect(gate).toEqual(GATE);
  const failures = (
    statement: ReturnType<typeof statementAbout>,
    wanted: MergeGate = gate,
    signerOf: (approval: Approval) => { readonly name: string } | undefined = unsigned,
  ) => gateFailures(wanted, statement, { tree, signerOf });
  expect(failures(statementAbout(tree))).toEqual([]);
  expect(failures(statementAbout(base.tree)).join()).toContain(`It is about tree ${base.tree}`);
  expect(failures(statementAbout(tree, { ran: base.tree })).join()).toMatch(
    /did not run on exactly these files.*no approval for exactly/,
  );
  expect(failures(statementAbout(tree, { grade: 'reported' })).join()).toContain(
    'Check "tests" is reported, and observed is required.',
  );
  expect(failures(statementAbout(tree, { grade: 'asserted' })).join()).toContain('its step requires reported');
  expect(failures(statementAbout(tree, { said: 'rejected' }))).toEqual([
    'The last answer about these files is a rejection.',
  ]);
  expect(failures(statementAbout(tree), { ...gate, workflows: ['other.workflow' as never] }).join()).toContain(
    'No run of other.workflow',
  );
  expect(failures(statementAbout(tree), { ...gate, approvals: { count: 2 } }).join()).toContain('2 are required');
  const signed: MergeGate = { ...gate, approvals: { count: 1, signed: true } };
  expect(failures(statementAbout(tree), signed).join()).toContain(
    'no approval that an approver in .workrail/approvers signed',
  );
  expect(failures(statementAbout(tree), signed, () => ({ name: 'alice' }))).toEqual([]);
});

const REJECTED = 'The last answer about these files is a rejection.';
const few = (found: string, count: number) =>
  `It has ${found} for exactly these files, and ${count} ${count === 1 ? 'is' : 'are'} required.`;
const SIGNED = 'approval that an approver in .workrail/approvers signed';
const [NONE, ONE] = [few(`no ${SIGNED}`, 1), few(`1 of these: ${SIGNED}`, 2)];

/** Answers such as `alice+ bob-`: who signed and what; `?` signed nothing, and what follows changes the answer. */
const ANSWERS: readonly (readonly [answers: string, count: number, isSigned: boolean, failure?: string])[] = [
  ['alice+', 1, true],
  ['alice+ alice-', 1, true, REJECTED],
  ['alice+ alice- ?+', 1, true, REJECTED],
  ['alice+ alice- bob+', 1, true],
  ['alice+ alice- bob+', 2, true, ONE],
  ['alice+ alice- bob+ alice+', 2, true],
  ['alice+ bob-', 1, true, REJECTED],
  ['alice+ bob- alice+', 1, true],
  ['alice+ ?-', 1, true, REJECTED],
  ['alice+ ?- bob+', 2, true],
  ['alice+ alice-:off', 1, true, REJECTED],
  ['alice+ alice-:run', 1, true, REJECTED],
  ['alice+ alice-:unknown', 1, true, REJECTED],
  ['alice+ alice-:other', 1, true],
  ['alice+:draft alice-:draft:other', 1, true, REJECTED],
  ['alice- alice+', 1, true],
  ['alice+ alice+', 2, true, ONE],
  ['alice+ alice~', 1, true],
  ['alice+ bob+', 2, true],
  ['?+', 1, true, NONE],
  ['alice~', 1, true, NONE],
  ['alice+:off', 1, true, NONE],
  ['alice+:run', 1, true, NONE],
  ['alice+:other', 1, true, NONE],
  ['alice+:unknown', 1, true, NONE],
  ['?+ ?+', 2, false],
  ['?+ ?-', 1, false, REJECTED],
  ['?+ ?- ?+', 2, false, few('1 of these: approval', 2)],
  ['alice+ ?+', 2, false],
  ['alice+ alice+', 2, false, few('1 of these: approval', 2)],
];

test('each person counts once, by their last answer, and a rejection blocks until somebody who counts approves', () => {
  enforces('merge_gate');
  const tree = 'b'.repeat(40);
  const statement = statementAbout(tree);
  const [real = expect.fail()] = statement.predicate.approvals;
  const kinds = { '+': 'approved', '-': 'rejected', '~': 'answered' } as const;
  const outcomes = ANSWERS.map(([answers, count, isSigned]) => {
    const names: (string | undefined)[] = [];
    const approvals = answers.split(' ').map((written, i): Approval => {
      const [, name, sign, marks = ''] = /^(\w+|\?)([-+~])(.*)$/.exec(written) ?? expect.fail(written);
      names.push(name === '?' ? undefined : name);
      const about = /other|unknown/.exec(marks)?.[0] ?? 'subject';
      return {
        ...real,
        // Only the recorded event says which draft an answer is about.
        event: marks.includes('draft') ? real.event : 1_000 + i,
        runId: marks.includes('run') ? (`${real.runId}x` as never) : real.runId,
        statement: kinds[sign as keyof typeof kinds],
        tree: about as 'subject',
        isOnLine: !marks.includes('off'),
      };
    });
    const signerOf = (approval: Approval) => {
      const name = names[approvals.indexOf(approval)];
      return name === undefined ? undefined : { name };
    };
    const gate: MergeGate = { ...GATE, approvals: { count, signed: isSigned } };
    const about = { ...statement, predicate: { ...statement.predicate, approvals } };
    return [answers, count, isSigned, ...gateFailures(gate, about, { tree, signerOf })];
  });
  expect(outcomes).toEqual(ANSWERS.map((row) => [...row]));
});

test('checks off the line, runs that are not complete and gaps do not let a change in', () => {
  enforces('merge_gate');
  const tree = 'b'.repeat(40);
  const statement = statementAbout(tree);
  const { runs, checks } = statement.predicate;
  type Predicate = typeof statement.predicate;
  const failures = (changed: Partial<Predicate>, gate: Partial<MergeGate> = {}) =>
    gateFailures(
      { v: 1, keys: GATE.keys, checks: { tests: 'observed' }, ...gate } as MergeGate,
      {
        ...statement,
        predicate: { ...statement.predicate, ...changed },
      },
      { tree, signerOf: unsigned },
    );
  const ended = (status: string) => ({ runs: runs.map((run) => ({ ...run, status: status as never })) });
  const off = checks.map((check) => ({ ...check, isOnLine: false }));
  const missing = 'Check "tests" is not in it.';
  expect(failures({})).toEqual([]);
  expect(failures({ checks: off })).toEqual([missing]);
  // What was abandoned neither helps nor harms.
  expect(failures({ checks: [...checks, ...off.map((check) => ({ ...check, grade: 'asserted' as const }))] })).toEqual(
    [],
  );
  expect(failures({ checks: [...off, ...checks.map((check) => ({ ...check, grade: 'asserted' as const }))] })).toEqual([
    'Check "tests" is asserted, and its step requires reported.',
    'Check "tests" is asserted, and observed is required.',
  ]);
  expect(failures(ended('in_progress'))).toEqual(['No run of a workflow is complete without critical gaps.', missing]);
  expect(failures(ended('in_progress'), { gaps: true })).toEqual(['No run of a workflow is complete.', missing]);
  expect(failures(ended('complete_with_gaps'))).toEqual([
    'No run of a workflow is complete without critical gaps.',
    missing,
  ]);
  expect(failures(ended('complete_with_gaps'), { gaps: false })).toHaveLength(2);
  expect(failures(ended('complete_with_gaps'), { gaps: true })).toEqual([]);
});

test('a name that looks like an option of git is not a commit', async () => {
  enforces('merge_gate');
  expect(await gitCommits.commitAt(folder, '--output=x')).toBeUndefined();
  expect(await gitCommits.fileAt(folder, '--output=x', 'y')).toBeUndefined();
  expect(await gitCommits.commitAt(folder, 'nowhere')).toBeUndefined();
});

test('a short name is a commit only if no tag or branch says otherwise', async () => {
  enforces('merge_gate');
  const [base, change] = [git('rev-parse', 'main'), git('rev-parse', 'change')];
  const named = async (name: string) => {
    const found = await gitCommits.commitNamed(folder, name);
    return found.isOk() ? found.value.commit : found.error;
  };
  const unknown = { code: 'commit_unknown' };
  git('update-ref', 'refs/remotes/origin/main', base);
  expect(await named('origin/main')).toBe(base);
  for (const kind of ['tags', 'heads']) {
    const ref = `refs/${kind}/origin/main`;
    git('update-ref', ref, base);
    expect(await named('origin/main')).toBe(base);
    git('update-ref', ref, change);
    expect(await named('origin/main')).toEqual({ code: 'commit_ambiguous', refs: ['refs/remotes/origin/main', ref] });
    // A full name and a commit id are what they say.
    expect(await named('refs/remotes/origin/main')).toBe(base);
    expect(await named(ref)).toBe(change);
    git('update-ref', '-d', ref);
  }
  git('tag', '-a', '-m', 'first', 'first', base);
  expect(await named('first')).toBe(base);
  expect(await named('main')).toBe(base);
  // A name of what may be anything: a ref that looks like an id, a ref under a ref, an expression, a file in .git.
  const looksLikeId = 'c'.repeat(64);
  git('update-ref', `refs/tags/${looksLikeId}`, change);
  git('update-ref', 'refs/heads/refs/remotes/up/main', change);
  mkdirSync(join(folder, '.git/odd'));
  writeFileSync(join(folder, '.git/odd/main'), change);
  const odd = [looksLikeId, 'refs/remotes/up/main', 'odd/main', 'main~0', base.slice(0, 12), 'HEAD', '', '--all'];
  expect(await Promise.all(odd.map(named))).toEqual(odd.map(() => unknown));
  expect(await named(base)).toBe(base);
});

test('a gate file that is not valid says what is wrong', () => {
  enforces('merge_gate');
  expect(parseMergeGate('{')._unsafeUnwrapErr()).toBe('it is not JSON');
  expect(parseMergeGate('{"v":1}')._unsafeUnwrapErr()).toContain('/keys');
  expect(parseMergeGate(JSON.stringify({ ...GATE, cheks: {} })).isErr()).toBe(true);
});
