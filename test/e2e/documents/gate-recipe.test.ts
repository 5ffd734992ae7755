import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { MERGE_GATE_FILE } from '../../../src/core/passport/merge-gate.ts';
import { verifyPassport } from '../../../src/core/passport/verify-passport.ts';
import { enforces } from '../../enforces.ts';
import { KEY, passportAbout, TOOLS } from '../../passport/random-passports.ts';
import { SMALL_PROGRAM } from '../small-program.ts';

let place: string;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'workrail-recipe-'));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));
const at = (...names: string[]) => join(place, ...names);
const git = (folder: string, ...args: string[]) =>
  execFileSync('git', ['-C', at(folder), ...args], {
    encoding: 'utf8',
    stdio: 'pipe',
  }).trim();

const GUIDE = readFileSync('docs/guides/passports.md', 'utf8');
const [, RECIPE = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(GUIDE) ?? [];
const [, SENDING = ''] = /^```text\n(git notes [\s\S]*?)^```$/m.exec(GUIDE) ?? [];
const [, AGAIN = ''] = /^```text\n(git fetch [\s\S]*?)^```$/m.exec(GUIDE) ?? [];
const STEPS = [...RECIPE.matchAll(/^ {6}- run: \|\n((?: {10}.*\n)+)/gm)].map(([, lines = '']) => lines);

function put(folder: string, files: { readonly [path: string]: string }): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(join(at(folder, path), '..'), { recursive: true });
    writeFileSync(at(folder, path), text, { mode: 0o755 });
  }
}

/** A release as people keep one; its program is the one under test. */
function release(): string {
  put('package', {
    'package.json': JSON.stringify({ name: 'workrail', version: '0.1.0', bin: { workrail: 'run.mjs' } }),
    'run.mjs': `#!/usr/bin/env node\nawait import(${JSON.stringify(SMALL_PROGRAM)});\n`,
  });
  execFileSync('tar', ['-czf', at('release.tgz'), '-C', place, 'package']);
  return createHash('sha256')
    .update(readFileSync(at('release.tgz')))
    .digest('hex');
}

/** A change that tries everything that a change can contain. */
function hostileChange(): { readonly change: string; readonly tree: string } {
  for (const folder of ['origin.git', 'work']) mkdirSync(at(folder));
  git('origin.git', 'init', '-q', '--bare', '-b', 'main');
  git('work', 'init', '-q', '-b', 'main');
  for (const [key, value] of Object.entries({ name: 'a', email: 'a@b.c' })) git('work', 'config', `user.${key}`, value);
  git('work', 'remote', 'add', 'origin', at('origin.git'));
  const { statement } = verifyPassport(passportAbout('b'.repeat(40)), {
    keys: [KEY.publicKey],
    tools: TOOLS,
  })._unsafeUnwrap();
  const [{ workflowId, workflowHash } = expect.fail()] = statement.predicate.runs;
  const asked = { workflows: { [workflowId]: [workflowHash] }, checks: { tests: 'observed' }, approvals: { count: 1 } };
  const gate = { v: 1, keys: [KEY.publicKey.pem], ...asked };
  put('work', { [MERGE_GATE_FILE]: JSON.stringify(gate) });
  git('work', 'add', '-A');
  git('work', 'commit', '-q', '-m', 'base');
  git('work', 'push', '-q', 'origin', 'main');
  git('.', 'clone', '-q', at('origin.git'), at('runner'));
  const trap = `#!/bin/sh\ntouch '${at('trapped')}'\n`;
  put('work', {
    [MERGE_GATE_FILE]: JSON.stringify({ v: 1, keys: [KEY.publicKey.pem] }),
    'package.json': JSON.stringify({ name: 'x', scripts: { preinstall: `touch '${at('trapped')}'` } }),
    'node_modules/.bin/workrail': trap,
  });
  git('work', 'add', '-A', '-f');
  git('work', 'commit', '-q', '-m', 'change');
  git(
    'work',
    'push',
    '-q',
    'origin',
    'HEAD:refs/pull/1/head',
    'HEAD:refs/tags/origin/main',
    'HEAD:refs/heads/origin/main',
  );
  return { change: git('work', 'rev-parse', 'HEAD'), tree: git('work', 'rev-parse', 'HEAD^{tree}') };
}

it('the gate in the guide asks for the workflow in the guide, with its check and its signed approval', () => {
  enforces('merge_gate');
  const [gate, workflow] = [...GUIDE.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = '']) => JSON.parse(text));
  expect(Object.keys(gate.workflows)).toEqual([workflow.id]);
  const steps = workflow.steps as readonly {
    checks?: readonly { id: string; minimum: string }[];
    assurance?: string;
  }[];
  const checks = steps.flatMap((step) => step.checks ?? []).map(({ id, minimum }) => [id, minimum]);
  expect(Object.entries(gate.checks)).toEqual(checks);
  expect([gate.approvals.signed, steps.at(-1)?.assurance]).toEqual([true, 'signed']);
});

it('two people can deliver passports as the guide says, and also two of one commit', () => {
  enforces('cli_docs_commands_run_in_ci');
  mkdirSync(at('origin.git'));
  git('origin.git', 'init', '-q', '--bare', '-b', 'main');
  const clone = (name: string) => {
    git('.', 'clone', '-q', at('origin.git'), at(name));
    for (const key of ['name', 'email']) git(name, 'config', `user.${key}`, name);
  };
  clone('ann');
  git('ann', 'commit', '-q', '--allow-empty', '-m', 'one');
  git('ann', 'push', '-q', 'origin', 'HEAD:main');
  clone('bob');
  git('bob', 'commit', '-q', '--allow-empty', '-m', 'two');
  const send = (name: string, passport: string, how = SENDING) => {
    writeFileSync(at('passport.json'), passport);
    return spawnSync('bash', ['-e', '-c', how], { cwd: at(name), encoding: 'utf8' }).status;
  };
  expect(send('ann', 'by ann')).toBe(0);
  expect(send('bob', 'by bob')).not.toBe(0);
  expect(send('bob', '', AGAIN)).toBe(0);
  const [one, two] = [git('bob', 'rev-parse', 'HEAD~1'), git('bob', 'rev-parse', 'HEAD')];
  const shown = (commit: string) => git('origin.git', 'notes', '--ref=passport', 'show', commit);
  expect([one, two].map(shown)).toEqual(['by ann', 'by bob']);

  const replacing = SENDING.replace(' add ', ' add -f ');
  git('bob', 'checkout', '-q', one);
  expect(send('ann', '', AGAIN)).toBe(0);
  expect(send('ann', 'by ann again', replacing)).toBe(0);
  expect(send('bob', 'by bob of the same commit', replacing)).not.toBe(0);
  expect(send('bob', '', AGAIN)).toBe(0);
  expect([one, two].map(shown)).toEqual(['by bob of the same commit', 'by bob']);
});

it('the job in the guide runs nothing of a change, and lets it in only with a passport that meets the gate of the base', () => {
  enforces('merge_gate');
  enforces('cli_docs_commands_run_in_ci');
  const checksum = release();
  const { change, tree } = hostileChange();
  expect(RECIPE).toMatch(/^on: pull_request_target$/m);
  expect(RECIPE).not.toMatch(/^ +(?:with:|- run: [^|])/m);
  expect(STEPS).toHaveLength(3);
  const job = (name: string, { SHA256 = checksum } = {}) => {
    mkdirSync(at(name));
    const env = {
      PATH: process.env['PATH'] ?? '',
      HOME: at(name),
      ...{ RUNNER_TEMP: at(name), BRANCH: 'main', CHANGE: change, WORKRAIL: `file://${at('release.tgz')}`, SHA256 },
      npm_config_offline: 'true',
    };
    let said = '';
    for (const [i, step] of STEPS.entries()) {
      const ran = spawnSync('bash', ['-e', '-c', step], { cwd: at('runner'), env, encoding: 'utf8' });
      said = ran.stdout + ran.stderr;
      if (ran.status !== 0) return { failed: i, said };
    }
    return { failed: undefined, said };
  };
  const note = (bytes: Uint8Array) => {
    writeFileSync(at('passport.json'), bytes);
    git('work', 'notes', '--ref=passport', 'remove', '--ignore-missing', 'HEAD');
    execFileSync('bash', ['-e', '-c', SENDING], { cwd: at('work'), stdio: 'pipe' });
  };
  expect(job('without')).toMatchObject({ failed: 0 });
  note(passportAbout(tree, { said: 'rejected', grade: 'reported' }));
  const refused = job('refused');
  expect(refused.said).toContain('The last answer about these files is a rejection.');
  expect(refused).toMatchObject({ failed: 2, said: expect.stringContaining('observed is required') });
  note(passportAbout(tree));
  expect(job('other-release', { SHA256: '0'.repeat(64) })).toMatchObject({ failed: 1 });
  expect(job('passed')).toEqual({ failed: undefined, said: expect.stringContaining(`for tree ${tree}`) });
  expect(existsSync(at('trapped'))).toBe(false);
  expect(existsSync(at('runner/package.json'))).toBe(false);
});
