import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { afterAll, expect, test } from 'vitest';
import { signatureTools } from '../../src/adapters/approvers.ts';
import { parsePublicKeys } from '../../src/adapters/system.ts';
import { gitCommits } from '../../src/adapters/workspace.ts';
import type { PassportAccess } from '../../src/cli/program.ts';
import {
  type Approval,
  gateFailures,
  MERGE_GATE_FILE,
  type MergeGate,
  parseMergeGate,
} from '../../src/core/passport/merge-gate.ts';
import { verifyPassport } from '../../src/core/passport/verify-passport.ts';
import { runFake } from '../cli/fake-program.ts';
import { enforces } from '../enforces.ts';
import { KEY, OTHER_KEY, passportAbout, TOOLS } from './random-passports.ts';

const folder = mkdtempSync(join(tmpdir(), 'workrail-gate-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const git = (...args: string[]) =>
  execFileSync('git', ['-C', folder, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args], {
    encoding: 'utf8',
  }).trim();

const [RAN = expect.fail()] = statementAbout('b'.repeat(40)).predicate.runs;
const WORKFLOWS = { [RAN.workflowId]: [RAN.workflowHash] } as MergeGate['workflows'];
const GATE: MergeGate = {
  v: 1,
  keys: [KEY.publicKey.pem],
  workflows: WORKFLOWS,
  checks: { tests: 'observed' },
  approvals: { count: 1 },
};

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
  // The caller chooses the folder of a run, and the same command may fail at the top.
  expect(failures(statementAbout(tree, { folder: 'docs' }))).toEqual([
    'Check "tests" did not run on exactly these files (it ran in the folder "docs"; start the run at the top of the repository).',
  ]);
  expect(failures(statementAbout(tree, { grade: 'reported' })).join()).toContain(
    'Check "tests" is reported, and observed is required.',
  );
  expect(failures(statementAbout(tree, { grade: 'asserted' })).join()).toContain('its step requires reported');
  // A job of CI has exactly the files of its commit.
  const verified = { ...gate, checks: { tests: 'verified' as const } };
  expect(failures(statementAbout(tree, { grade: 'verified', ci: 'f'.repeat(40) }), verified)).toEqual([]);
  expect(failures(statementAbout(tree, { grade: 'verified', ci: 'e'.repeat(40) }), verified).join()).toContain(
    'did not run on exactly these files',
  );
  expect(failures(statementAbout(tree, { said: 'rejected' }))).toEqual([
    'The last answer about these files is a rejection.',
  ]);
  expect(
    failures(statementAbout(tree), { ...gate, workflows: { 'other.workflow': [RAN.workflowHash] } as never }),
  ).toEqual([
    'No run of other.workflow is complete without critical gaps.',
    'Check "tests" is not in it.',
    few('no approval', 1),
  ]);
  expect(failures(statementAbout(tree), { ...gate, approvals: { count: 2 } }).join()).toContain('2 are required');
  const signed: MergeGate = { ...gate, approvals: { count: 1, signed: true } };
  expect(failures(statementAbout(tree), signed).join()).toContain(
    'no approval that an approver in .workrail/approvers signed',
  );
  expect(failures(statementAbout(tree), signed, () => ({ name: 'alice' }))).toEqual([]);
});

test('a gate that asks for neither checks nor approvals does not let a run about other files in', () => {
  enforces('merge_gate');
  const tree = 'b'.repeat(40);
  const failures = (about: Parameters<typeof passportAbout>[1], gate: Partial<MergeGate> = {}) =>
    gateFailures({ v: 1, keys: GATE.keys, workflows: WORKFLOWS, ...gate } as MergeGate, statementAbout(tree, about), {
      tree,
      signerOf: unsigned,
    });
  const unknown = expect.stringContaining('Nothing in it shows that the run was about these files');
  const old = { ran: 'a'.repeat(40) };
  expect(failures(old)).toEqual([unknown]);
  expect(failures(old, { checks: {} })).toEqual([unknown]);
  // The check ran below the top, and the files were rejected.
  expect(failures({ folder: 'docs', said: 'rejected' })).toEqual([unknown]);
  expect(failures({ folder: 'docs' })).toEqual([]);
  expect(failures({ said: 'rejected' })).toEqual([]);
  const statement = statementAbout(tree);
  const other = { runId: 'run_0000000000000000' as never };
  const move = <T extends object>(facts: readonly T[]) => facts.map((fact) => ({ ...fact, ...other }));
  const predicate = { ...statement.predicate, ...other };
  const elsewhere = { ...predicate, checks: move(predicate.checks), approvals: move(predicate.approvals) };
  // What another run showed does not count for this one.
  const gate = { v: 1, keys: GATE.keys, workflows: WORKFLOWS } as MergeGate;
  expect(gateFailures(gate, { ...statement, predicate: elsewhere }, { tree, signerOf: unsigned })).toEqual([unknown]);
});

type ShownEvent = NonNullable<ReturnType<typeof statementAbout>['predicate']['events'][number]>;

/** A recorded answer about another draft. */
function asAnswer(shown: ShownEvent | null | undefined, digest: string): ShownEvent {
  const copy = structuredClone(shown ?? expect.fail());
  const { subject } = copy.event['data'] as unknown as { subject: { digest: string } };
  subject.digest = digest;
  return copy;
}

test('a workflow of the same name that the gate does not know counts for nothing', () => {
  enforces('merge_gate');
  const tree = 'b'.repeat(40);
  const statement = statementAbout(tree);
  const known = `sha256:${'0'.repeat(64)}`;
  const failures = (hashes: readonly string[]) =>
    gateFailures({ ...GATE, workflows: { [RAN.workflowId]: hashes } as never }, statement, {
      tree,
      signerOf: unsigned,
    });
  expect(failures([known, RAN.workflowHash])).toEqual([]);
  const unknown = `Its run of ${RAN.workflowId} does not count: the gate does not name the workflow ${RAN.workflowHash}.`;
  // What follows from the unknown version is not a failure of its own.
  expect(failures([known])).toEqual([unknown]);
  // A second run in the same session does not lend its name to the first.
  const [run = expect.fail()] = statement.predicate.runs;
  const other = { ...run, runId: 'run_0000000000000000' as never, workflowHash: known as never };
  const both = { ...statement, predicate: { ...statement.predicate, runs: [run, other] } };
  const odd = {
    ...statement,
    predicate: { ...statement.predicate, runs: [{ ...run, workflowId: 'constructor' as never }] },
  };
  expect(gateFailures(GATE, odd, { tree, signerOf: unsigned })).toHaveLength(3);
  const gate = { ...GATE, workflows: { [RAN.workflowId]: [known] } as never };
  const open = { ...other, status: 'in_progress' as const };
  const unfinished = { ...statement, predicate: { ...statement.predicate, runs: [run, open] } };
  expect(gateFailures(gate, unfinished, { tree, signerOf: unsigned }).slice(0, 2)).toEqual([NOT_COMPLETE, unknown]);
  expect(gateFailures(gate, both, { tree, signerOf: unsigned })).toEqual([
    'Check "tests" is not in it.',
    few('no approval', 1),
  ]);
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
  ['alice+ alice-:other', 1, true, few(`no ${SIGNED}`, 1)],
  ['alice+ bob-:other', 1, true],
  ['alice+:draft alice-:draft:other', 1, true, REJECTED],
  ['alice+:draft ?-:draft bob+', 2, true, ONE],
  ['alice+:draft bob-:draft bob+', 2, true, ONE],
  ['alice+ alice-:withheld', 1, true, REJECTED],
  ['alice+ alice-:withheld bob+', 2, true, ONE],
  ['alice+ alice-:withheld:other bob+', 2, true, ONE],
  ['alice+ alice-:withheld:run bob+', 2, true, ONE],
  ['alice+ alice-:withheld alice+ bob+', 2, true],
  ['?+ ?+ alice-:withheld ?+', 2, false, few('1 of these: approval', 2)],
  ['?+:withheld ?- ?+', 2, false, few('1 of these: approval', 2)],
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
    const events = [...statement.predicate.events];
    const approvals = answers.split(' ').map((written, i): Approval => {
      const [, name, sign, marks = ''] = /^(\w+|\?)([-+~])(.*)$/.exec(written) ?? expect.fail(written);
      const isWithheld = marks.includes('withheld');
      names.push(name === '?' || isWithheld ? undefined : name);
      const event = 1_000 + i;
      // Only the recorded event says which draft an answer is about.
      const digest = `sha256:${(marks.includes('draft') ? 'd' : String(i)).repeat(64)}`;
      events[event] = isWithheld ? null : asAnswer(events[real.event], digest);
      const about = /other|unknown/.exec(marks)?.[0] ?? 'subject';
      return {
        ...real,
        event,
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
    const about = { ...statement, predicate: { ...statement.predicate, events, approvals } };
    return [answers, count, isSigned, ...gateFailures(gate, about, { tree, signerOf })];
  });
  expect(outcomes).toEqual(ANSWERS.map((row) => [...row]));
});

const NOT_COMPLETE = `No run of ${RAN.workflowId} is complete without critical gaps.`;

test('checks off the line, runs that are not complete and gaps do not let a change in', () => {
  enforces('merge_gate');
  const tree = 'b'.repeat(40);
  const statement = statementAbout(tree);
  const { runs, checks } = statement.predicate;
  type Predicate = typeof statement.predicate;
  const failures = (changed: Partial<Predicate>, gate: Partial<MergeGate> = {}) =>
    gateFailures(
      { v: 1, keys: GATE.keys, workflows: WORKFLOWS, checks: { tests: 'observed' }, ...gate } as MergeGate,
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
  expect(failures(ended('in_progress'))).toEqual([NOT_COMPLETE, missing]);
  expect(failures(ended('in_progress'), { gaps: true })).toEqual([`No run of ${RAN.workflowId} is complete.`, missing]);
  expect(failures(ended('complete_with_gaps'))).toEqual([NOT_COMPLETE, missing]);
  expect(failures(ended('complete_with_gaps'), { gaps: false })).toHaveLength(2);
  expect(failures(ended('complete_with_gaps'), { gaps: true })).toEqual([]);
});

/** What HEAD is, and what was typed besides. */
type Asked = { readonly head?: string; readonly more?: readonly string[]; readonly into?: string };

test('passport check says what to do about the cause: the gate, the file or the run', async () => {
  enforces('merge_gate');
  const [tree, base] = ['b'.repeat(40), 'refs/heads/main'];
  const known = `sha256:${'0'.repeat(64)}`;
  const checked = async (bytes: Uint8Array, gate: object = GATE, asked: Asked = {}) => {
    const { head = tree, more = [], into = base } = asked;
    const passports = {
      services: {
        tools: TOOLS,
        commits: {
          commitNamed: async (_: string, name: string) =>
            name.startsWith('HEAD') ? err({ code: 'commit_unknown' }) : ok({ commit: 'a'.repeat(40), tree }),
          commitAt: async () => ({ commit: 'a'.repeat(40), tree: head }),
          fileAt: async (_: string, __: string, file: string) =>
            file === MERGE_GATE_FILE ? JSON.stringify(gate) : undefined,
        },
      },
      signatureTools,
      parseKeys: parsePublicKeys,
      readPassport: async () => ok(bytes),
    } as unknown as PassportAccess;
    const argv = ['passport', 'check', 'passport.json', '--base', into, ...more];
    const { exitCode, talk } = await runFake({ argv, passports });
    expect(exitCode).toBe(talk.includes('is not a branch') ? 2 : 4);
    return talk.slice(talk.indexOf('Fix: ') + 'Fix: '.length).trim();
  };
  const passport = passportAbout(tree);
  const add = `If this version of the workflow may be used, add its hash to "workflows" in ${MERGE_GATE_FILE} on ${base}.`;
  const again =
    'Run the missing checks and approvals on the committed files, and export a new passport.\nNext: workrail export ID --as passport -o passport.json --force';
  const pinned = { ...GATE, workflows: { [RAN.workflowId]: [known] } };
  expect(await checked(passport, pinned)).toBe(add);
  // The default can be written out, and a name that git does not know gets a change as its fix.
  expect(await checked(passport, pinned, { more: ['--change', 'HEAD'] })).toBe(add);
  expect(await checked(passport, pinned, { more: ['--change', 'HEAD~1'] })).toContain(
    '--change "$(git rev-parse HEAD)"',
  );
  expect(await checked(passport, pinned, { into: 'HEAD' })).toContain('--base refs/remotes/origin/main');
  expect(await checked(passport, pinned, { head: 'd'.repeat(40) })).toBe(`${add} ${again}`);
  expect(await checked(passportAbout(tree, { grade: 'reported' }))).toBe(again);
  expect(await checked(passport.subarray(0, -9))).toBe(
    'Fetch the file again from where it was exported, unchanged to the byte.',
  );
  expect(await checked(passport, { ...GATE, keys: [OTHER_KEY.publicKey.pem] })).toBe(
    `If passports of that store may count, add its public key to "keys" in ${MERGE_GATE_FILE} on ${base}.`,
  );
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
  // A huge text is refused before anything looks into it.
  const huge = `{"v":1,"keys":["${'\\n'.repeat(4_000_000)}"]}`;
  expect(parseMergeGate(huge)._unsafeUnwrapErr()).toBe('it has more than 1000000 characters');
  const twice = JSON.stringify(GATE).replace('{', '{"approvals":{"count":1},');
  expect(parseMergeGate(twice)._unsafeUnwrapErr()).toBe(
    '"approvals" is written twice in one object; remove one of them',
  );
  expect(parseMergeGate('{"v":1}')._unsafeUnwrapErr()).toContain('/keys');
  expect(parseMergeGate(JSON.stringify({ ...GATE, cheks: {} })).isErr()).toBe(true);
  const { workflows: _, ...open } = GATE;
  expect(parseMergeGate(JSON.stringify(open))._unsafeUnwrapErr()).toContain('"checks" needs "workflows"');
  expect(parseMergeGate(JSON.stringify({ ...GATE, workflows: [RAN.workflowId] })).isErr()).toBe(true);
  expect(parseMergeGate(JSON.stringify({ ...GATE, workflows: { [RAN.workflowId]: [] } })).isErr()).toBe(true);
});
