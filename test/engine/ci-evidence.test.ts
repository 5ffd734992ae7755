import { expect, test } from 'vitest';
import type { SourceListing } from '../../src/app/ports/workflow-sources.ts';
import { type CiServices, ciCommand, recordCiCheck } from '../../src/app/team/ci-evidence.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import { commandDigest } from '../../src/core/run/evidence/judge-check.ts';
import { fileWith } from '../catalog/catalog-of.ts';
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
  { command = 'npm test', context = {} }: { command?: string; context?: JsonObject } = {},
) {
  const file = {
    id: 'team.work',
    name: 'Work',
    description: 'Does it.',
    version: '1.0.0',
    steps: [
      { id: 'do', title: 'Do it', prompt: 'Do it.', checks: [{ id: 'unit', run: command, minimum: 'verified' }] },
    ],
  };
  const listing: SourceListing = { files: [...ENGINE_FILES, fileWith(JSON.stringify(file), origin)] };
  const run: Engine = engine({
    listing: () => listing,
    services: {
      workspace: {
        tree: async () => undefined,
        observe: async () => [
          { key: 'repo_remote', value: { type: 'path', value: 'git.example/acme/shop' }, confidence: 'high' },
          { key: 'git_head_sha', value: { type: 'git_sha1', value: SHA }, confidence: 'high' },
        ],
      },
    },
  });
  const reply = await run.start('team.work', { context });
  const { tag } = reply.structured['run'] as { readonly tag: string };
  const services = {
    ...run.services,
    answerIds: { launch: 'l1', attestation: () => answerId('ci') },
  } as unknown as CiServices;
  const commandFor = (isUnseenTaken: boolean) => ciCommand(services, JOB, { run: tag, check: 'unit', isUnseenTaken });
  const record = (text: string) =>
    recordCiCheck(services, JOB, {
      ...{ run: tag, check: 'unit', exitCode: 0, timedOut: false, durationMs: 5, log: '' },
      commandDigest: commandDigest(text, sha256),
    });
  return { run, commandFor, record };
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
