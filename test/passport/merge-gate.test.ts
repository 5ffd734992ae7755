import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { gitCommits } from '../../src/adapters/workspace.ts';
import { takeAsParsed } from '../../src/core/log/event.ts';
import {
  type Approval,
  gateFailures,
  MERGE_GATE_FILE,
  type MergeGate,
  parseMergeGate,
} from '../../src/core/passport/merge-gate.ts';
import { cleanTreeDigest } from '../../src/core/passport/passport.ts';
import { verifyPassport } from '../../src/core/passport/verify-passport.ts';
import { foldEvents } from '../../src/core/views/session-view.ts';
import { enforces } from '../enforces.ts';
import { sha256 } from '../examples/sha256.ts';
import { sessionWriter } from '../simulation/session-writer.ts';
import { appendsOf, KEY, type Log, passportOf, recordsOf, TOOLS } from './random-passports.ts';

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

/** A finished run with a check and an approval, about a tree. */
function statementAbout(tree: string, { ran = tree, grade = 'observed', said = 'approved' } = {}) {
  const writer = sessionWriter({});
  const root = writer.startRun({ context: { goal: 'go' } });
  const blocked = writer.block(root, { others: ['attestation_recorded'] });
  const checked = writer.block(blocked, { others: ['attestation_recorded'] });
  writer.advance(checked, { note: { name: 'n', text: 'done' } }, 'complete');
  let seen = 0;
  const about = { headSha: 'f'.repeat(40), treeDigest: cleanTreeDigest(ran, { sha256 }) };
  const appends = writer.plans.map(({ events }) =>
    events.map((event) => {
      if (event.kind === 'advance_recorded' && event.data.outcome.kind === 'advanced') {
        const checks = [{ stepId: 'one', checkId: 'tests', minimum: 'reported', grade }];
        return takeAsParsed({ ...event, data: { ...event.data, checks } });
      }
      if (event.kind !== 'attestation_recorded') return event;
      seen += 1;
      const approval = {
        subject: { kind: 'attempt', digest: `sha256:${'a'.repeat(64)}`, workspace: about },
        statement: { kind: said, shown: 'whole' },
      };
      const check = {
        subject: { kind: 'step', stepId: 'one', loopPath: [], snapshotRef: `sha256:${'e'.repeat(64)}` },
        statement: {
          kind: 'check',
          checkId: 'tests',
          exitCode: 0,
          timedOut: false,
          durationMs: 1,
          commandDigest: `sha256:${'d'.repeat(64)}`,
          ...about,
        },
      };
      return takeAsParsed({ ...event, data: { ...event.data, ...(seen === 1 ? approval : check) } });
    }),
  );
  const events = appends.flat();
  const log: Log = { sessionId: events[0]?.sessionId as never, snapshots: writer.snapshots, appends };
  const source = { ...log, events, appends: appendsOf(recordsOf(log)), view: foldEvents(events) };
  const { bytes } = passportOf(source, { subject: { commit: 'f'.repeat(40), tree } });
  return verifyPassport(bytes, { keys: [KEY.publicKey], tools: TOOLS })._unsafeUnwrap().statement;
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
    signerOf: (approval: Approval) => string | undefined = unsigned,
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
  expect(failures(statementAbout(tree), signed, () => 'SHA256:x')).toEqual([]);
});

test('a name that looks like an option of git is not a commit', async () => {
  enforces('merge_gate');
  expect(await gitCommits.commitAt(folder, '--output=x')).toBeUndefined();
  expect(await gitCommits.fileAt(folder, '--output=x', 'y')).toBeUndefined();
  expect(await gitCommits.commitAt(folder, 'nowhere')).toBeUndefined();
});

test('a gate file that is not valid says what is wrong', () => {
  enforces('merge_gate');
  expect(parseMergeGate('{')._unsafeUnwrapErr()).toBe('it is not JSON');
  expect(parseMergeGate('{"v":1}')._unsafeUnwrapErr()).toContain('/keys');
  expect(parseMergeGate(JSON.stringify({ ...GATE, cheks: {} })).isErr()).toBe(true);
});
