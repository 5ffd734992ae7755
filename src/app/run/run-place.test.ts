import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { type Engine, engine, tokenOf, withFile } from '../../../test/examples/engine.ts';
import { storeFolder } from '../../../test/store-folder.ts';
import { layout } from '../../adapters/file-store/disk/disk.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import { resumeSession } from '../resume/resume-session.ts';
import { advance } from './advance.ts';
import { rehydrate } from './rehydrate.ts';

const workflow = (prompt: string) => ({
  id: 'test.lost',
  name: 'Lost',
  description: 'Its stored copy gets lost.',
  version: '1.0.0',
  steps: [
    { id: 'one', title: 'One', prompt },
    { id: 'two', title: 'Two', prompt: 'Do more.' },
  ],
});

/** A run in a store whose only pinned workflow is then lost. `open` opens the store as a new process does. */
async function lostRun(lose: (path: string) => void) {
  const folder = storeFolder();
  let prompt = 'Do it.';
  const open = (): Engine => engine({ store: storeOf(folder), listing: () => withFile(workflow(prompt)) });
  const first = await open().start('test.lost');
  const pinned = () => readdirSync(join(folder.root, layout.pinnedWorkflows));
  const [name = expect.fail('a pinned workflow')] = pinned();
  lose(join(folder.root, layout.pinnedWorkflows, name));
  return { first, open, pinned, name, edit: () => (prompt = 'Do something else.') };
}

test.each<[string, (path: string) => void]>([['deleted', (path) => rmSync(path)]])(
  'a run whose stored workflow was %s continues while a source has it, and the next step stores it again',
  async (_, lose) => {
    enforces('lost_workflow_restored');
    const { first, open, pinned, name, edit } = await lostRun(lose);
    const agent = open();
    const before = pinned();
    const shown = await agent.show(first);
    expect(shown.structured).toMatchObject({ kind: 'ok', pending: { stepId: 'one' } });
    const resumed = (await resumeSession(agent.services, {}))._unsafeUnwrap();
    expect(resumed.structured).toMatchObject({ kind: 'ok', candidates: [{}] });
    expect(resumed.structured).not.toHaveProperty('warnings');
    // Showing a step writes nothing.
    expect(pinned()).toEqual(before);
    expect((await agent.send(first, { notes: 'Done.' })).structured).toMatchObject({ pending: { stepId: 'two' } });
    expect(pinned()).toEqual([name]);
    edit();
    expect((await open().show(first)).structured).toMatchObject({ kind: 'ok', pending: { stepId: 'one' } });
  },
);

test('a run whose stored workflow was deleted and whose source changed is refused as damaged', async () => {
  const { first, open, pinned, edit } = await lostRun((path) => rmSync(path));
  edit();
  const { services } = open();
  const damaged = err({ code: 'damaged', damage: { reason: 'content_missing' } });
  expect(await rehydrate(services, { stateToken: tokenOf(first, 'stateToken') })).toMatchObject(damaged);
  const ackToken = tokenOf(first, 'ackToken');
  expect(await advance(services, { ackToken, output: { notesMarkdown: 'Done.', artifacts: [] } })).toMatchObject(
    damaged,
  );
  expect(pinned()).toEqual([]);
});
