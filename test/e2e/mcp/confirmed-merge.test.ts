import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { EXIT } from '../../../src/cli/problem.ts';
import { enforces } from '../../enforces.ts';
import { CLIENT_KINDS, type FormAnswer } from '../clients.ts';
import { data, gatedPlace, handIn, startedRun } from '../gated-run.ts';
import { runSmall } from '../small-program.ts';

const place = gatedPlace();
const { folder, here, env } = place;
afterAll(place.remove);

const run = (...args: readonly string[]) => runSmall(args, { cwd: here, env });
const git = (...args: string[]) =>
  execFileSync('git', ['-C', here, '-c', 'user.name=a', '-c', 'user.email=a@b.c', ...args]);
const commit = (text: string) => {
  writeFileSync(join(here, 'fixed.txt'), text);
  git('add', '-A');
  git('commit', '-q', '-m', text);
};

it('an approval without a signature passes a merge gate that asks for none, on exactly the files that were approved', async () => {
  enforces('merge_gate', 'answers_name_files');
  git('init', '-q', '-b', 'main');
  const shown = JSON.parse((await run('workflow', 'show', 'project.release', '--compiled', '--json')).out);
  const { hash } = (shown as { data: { compiled: { hash: string } } }).data.compiled;
  // The first run makes the key of the store, which the gate has to name.
  const [, connect] = Object.entries(CLIENT_KINDS)[0] ?? [];
  const onForm = (): FormAnswer => ({ action: 'accept', content: { decision: 'approve' } });
  const client = await (connect as NonNullable<typeof connect>)({ env, cwd: here }, { onForm });
  await startedRun(client, place);
  const { out: key } = await run('keys', 'public');
  const gate = { v: 1, keys: [key], workflows: { 'project.release': [hash] }, approvals: { count: 1 } };
  writeFileSync(join(here, '.workrail', 'merge-gate.json'), JSON.stringify(gate));
  commit('base');
  git('checkout', '-q', '-b', 'change');
  commit('fixed');

  const approved = await client.call('continue_workflow', handIn(await startedRun(client, place)));
  expect(data(approved).pending?.stepId).toBe('tell');
  const output = { notesMarkdown: 'Told them.' };
  const last = await client.call('continue_workflow', { ackToken: data(approved).ackToken, output });
  await client.close();

  const { sessionId } = (last.structuredContent as { session: { sessionId: string } }).session;
  const passport = join(folder, 'passport.json');
  expect((await run('export', sessionId, '--as', 'passport', '-o', passport)).exitCode).toBe(0);
  const passed = await run('passport', 'check', passport, '--base', 'main');
  expect([passed.exitCode, passed.out]).toEqual([0, expect.any(String)]);
  commit('one more');
  expect(await run('passport', 'check', passport, '--base', 'main')).toMatchObject({ exitCode: EXIT.checkFailed });
});
