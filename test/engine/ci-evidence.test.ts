import { expect, test } from 'vitest';
import type { SourceListing } from '../../src/app/ports/workflow-sources.ts';
import { type CiServices, ciCommand, recordCiCheck } from '../../src/app/team/ci-evidence.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import type { Autonomy } from '../../src/core/log/autonomy.ts';
import { commandDigest } from '../../src/core/run/evidence/judge-check.ts';
import type { BoundWorkspace } from '../../src/core/run/gate-facts.ts';
import { GIT_SILENT } from '../../src/core/run/unseen-files.ts';
import { fileWith } from '../catalog/catalog-of.ts';
import { enforces } from '../enforces.ts';
import { ENGINE_FILES, type Engine, engine, eventsOf } from '../examples/engine.ts';
import { answerId } from '../examples/gates.ts';
import { sha256 } from '../examples/sha256.ts';

const SHA = 'a'.repeat(40);
const JOB = {
  principal: 'https://ci|repo:acme/shop',
  host: 'git.example',
  repository: 'acme/shop',
  ref: 'refs/heads/main',
  sha: SHA,
};

type Origin = Parameters<typeof fileWith>[1];

/** A run on a team server at a check whose workflow comes from somewhere. */
async function started(
  origin: Origin,
  {
    command = 'npm test',
    context = {},
    ...more
  }: {
    command?: string;
    context?: JsonObject;
    fresh?: 'head';
    tree?: () => BoundWorkspace;
    head?: () => string;
    mode?: Autonomy;
  } = {},
) {
  const { tree, head = () => SHA, mode, ...fresh } = more;
  const check = { id: 'unit', run: command, minimum: 'verified', ...fresh };
  const file = {
    id: 'team.work',
    name: 'Work',
    description: 'Does it.',
    version: '1.0.0',
    steps: [{ id: 'do', title: 'Do it', prompt: 'Do it.', checks: [check] }],
  };
  const listing: SourceListing = { files: [...ENGINE_FILES, fileWith(JSON.stringify(file), origin)] };
  const run: Engine = engine({
    listing: () => listing,
    services: {
      workspace: {
        tree: async () => tree?.(),
        observe: async () => [
          { key: 'repo_remote', value: { type: 'path', value: 'git.example/acme/shop' }, confidence: 'high' },
          { key: 'git_head_sha', value: { type: 'git_sha1', value: head() }, confidence: 'high' },
        ],
      },
    },
  });
  const reply = await run.start('team.work', { context, mode });
  const { tag } = reply.structured['run'] as { readonly tag: string };
  const services = {
    ...run.services,
    answerIds: { launch: 'l1', attestation: () => answerId('ci') },
  } as unknown as CiServices;
  const commandFor = (isUnseenTaken: boolean) => ciCommand(services, JOB, { run: tag, check: 'unit', isUnseenTaken });
  const record = (text: string) =>
    recordCiCheck(
      services,
      { ...JOB, sha: head() },
      {
        ...{ run: tag, check: 'unit', exitCode: 0, timedOut: false, durationMs: 5, log: '' },
        commandDigest: commandDigest(text, sha256),
      },
    );
  return { run, reply, commandFor, record };
}

test('a command of a repository that an admin accepted is given to CI, and its result is verified', async () => {
  const { run, commandFor, record } = await started({ kind: 'remote', ref: 'acme/work.json' });
  expect((await commandFor(false))._unsafeUnwrap()).toBe('npm test');
  expect((await record('npm test'))._unsafeUnwrap()).toMatchObject({ grade: 'verified' });
  expect(eventsOf(run, 'attestation_recorded')[0]?.data.statement).not.toHaveProperty('unseen');
});

test('a command that the agent brought is not given to CI unasked, and its result is only reported', async () => {
  const { run, commandFor, record } = await started({ kind: 'project', ref: 'workflows/work.json' });
  expect((await commandFor(false))._unsafeUnwrapErr()).toEqual({ code: 'command_unseen' });
  expect((await commandFor(true))._unsafeUnwrap()).toBe('npm test');
  expect((await record('npm test'))._unsafeUnwrap()).toMatchObject({ grade: 'reported' });
  expect(eventsOf(run, 'attestation_recorded')[0]?.data.statement).toMatchObject({ unseen: true });
});

test('a command with a value of the agent is not given to CI unasked, and its result is only reported', async () => {
  const more = { command: 'npm test -- {{only}}', context: { only: '--passWithNoTests' } };
  const { run, commandFor, record } = await started({ kind: 'remote', ref: 'acme/work.json' }, more);
  expect((await commandFor(false))._unsafeUnwrapErr()).toEqual({ code: 'command_unseen' });
  const command = (await commandFor(true))._unsafeUnwrap();
  expect((await record(command))._unsafeUnwrap()).toMatchObject({ grade: 'reported' });
  expect(eventsOf(run, 'attestation_recorded')[0]?.data.statement).toMatchObject({ chosenByAgent: true });
});

const FILES = { headSha: SHA, treeDigest: `sha256:${'b'.repeat(64)}` };

test.each<readonly [string, BoundWorkspace, string]>([
  ['at its commit', { ...FILES, changed: [] }, '"Work" is complete.'],
  ['at another commit', { ...FILES, headSha: 'c'.repeat(40), changed: [] }, 'the workspace is at another commit now'],
  ['changed since', { ...FILES, changed: [{ state: ' M', path: 'a.ts' }] }, 'files of the workspace changed'],
  ['not listed by git', GIT_SILENT, 'git did not answer in time, so WorkRail does not know'],
])('a fresh check that CI ran counts only while the files are those of its commit: %s', async (_, files, words) => {
  enforces('check_fresh_tree');
  const origin = { kind: 'remote', ref: 'acme/work.json' } as const;
  const { run, reply, record } = await started(origin, { fresh: 'head', tree: () => files });
  expect((await record('npm test'))._unsafeUnwrap()).toEqual({ grade: 'verified' });
  expect((await run.send(reply, { notes: 'All tests pass: npm test ended with 12 passed.' })).text).toContain(words);
});

test('an agent that commits, saves the commit and pushes it, as the step says, gets its check verified', async () => {
  let commit = 'a';
  const origin = { kind: 'remote', ref: 'acme/work.json' } as const;
  const { run, reply, record } = await started(origin, { head: () => commit.repeat(40) });
  const way = 'Commit your work, save the commit with checkpoint_workflow, push it, and wait until CI has reported';
  expect(reply.text).toContain(way);
  commit = 'b';
  expect((await record('npm test'))._unsafeUnwrapErr()).toMatchObject({ code: 'other_commit' });
  const blocked = await run.send(reply, { notes: 'All tests pass: npm test ended with 12 passed.' });
  expect(JSON.stringify(blocked.structured['blockers'])).toContain(way);
  await run.save(blocked, 'Committed.');
  expect((await record('npm test'))._unsafeUnwrap()).toEqual({ grade: 'verified' });
  expect((await run.send(blocked)).structured['kind']).toBe('ok');
});

test.each([
  ['guided', 'If "unit" cannot pass, do not report this step: tell the user why, and wait.'],
  ['full_auto_never_stop', 'If "unit" cannot pass or nobody records it, report this step anyway'],
] as const)('a step with a check that only CI can verify says what to do without CI: %s', async (mode, words) => {
  expect((await started({ kind: 'remote', ref: 'acme/work.json' }, { mode })).reply.text).toContain(words);
});

test('what CI verified counts only while the workspace is at the commit of its job', async () => {
  enforces('ci_evidence_is_of_its_job');
  let commit = 'a';
  const origin = { kind: 'remote', ref: 'acme/work.json' } as const;
  const { run, reply, record } = await started(origin, { head: () => commit.repeat(40) });
  expect((await record('npm test'))._unsafeUnwrap()).toEqual({ grade: 'verified' });
  commit = 'b';
  const blocked = await run.send(reply, { notes: 'All tests pass: npm test ended with 12 passed.' });
  expect(blocked.structured['kind']).toBe('blocked');
  expect(blocked.text).toContain('CI ran it on commit aaaaaaaaaa, and the workspace is at another commit now');
  commit = 'a';
  expect((await run.send(blocked)).structured['kind']).toBe('ok');
});
