import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { compiled, SMALL_WORKFLOW } from '../../../../test/examples/compiled.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { simulatedDisk } from '../../../../test/simulation/disk/simulated-disk.ts';
import { SMALL_WORKFLOW_TEXT, storeFolder } from '../../../../test/store-folder.ts';
import { canonicalJson } from '../../../core/json/canonical-json.ts';
import { sealWorkflow } from '../../../core/workflow/compiled/sealed-workflow.ts';
import { layout } from '../disk/disk.ts';
import { storeOf } from '../file-store.ts';
import { digestOf, putContent } from './content-files.ts';

const { hash } = sealWorkflow(SMALL_WORKFLOW, sha256);
const place = layout.pinnedWorkflow(hash);
const other = compiled({
  id: 'wr.other',
  name: 'Other',
  description: 'Another step.',
  steps: [{ id: 'step', title: 'Step', prompt: 'Do something else.' }],
});

test('another workflow in the place of a pinned one is reported, and pinning again fixes it', async () => {
  const { folder, write, read } = await pinnedFolder();
  write(canonicalJson(other)._unsafeUnwrap());
  const found = sealWorkflow(other, sha256).hash;
  expect(await read()).toEqual(err({ code: 'other_workflow_stored', place, found }));
  // Nor does it matter how the other one is written.
  write(JSON.stringify(other, null, 2));
  expect(await read()).toEqual(err({ code: 'other_workflow_stored', place, found }));

  await storeOf(folder).pinnedWorkflows.pin(SMALL_WORKFLOW);
  expect(await read()).toEqual(ok(SMALL_WORKFLOW));
});

const damages: readonly (readonly [string, string])[] = [
  ['nothing', ''],
  ['a part of it', SMALL_WORKFLOW_TEXT.slice(0, -20)],
  ['JSON that is no workflow', '{"schemaVersion":1}'],
  ['a workflow of another version', SMALL_WORKFLOW_TEXT.replace('"schemaVersion":1', '"schemaVersion":2')],
  ['a workflow with half a character', SMALL_WORKFLOW_TEXT.replace('Do it.', '\\ud800')],
  ['the same workflow, written otherwise', `${SMALL_WORKFLOW_TEXT}\n`],
];

test.each(damages)('%s in the place of a workflow is damage', async (_, text) => {
  const { write, read } = await pinnedFolder();
  write(text);
  const damage = { reason: 'content_digest_mismatch', place, offset: 0 };
  expect(await read()).toEqual(err({ code: 'damaged', damage }));
});

test('a missing pinned workflow is damage', async () => {
  const { folder, read } = await pinnedFolder();
  rmSync(join(folder.root, place));
  expect(await read()).toEqual(err({ code: 'damaged', damage: { reason: 'content_missing', place, offset: 0 } }));
});

async function pinnedFolder() {
  const folder = storeFolder();
  await storeOf(folder).pinnedWorkflows.pin(SMALL_WORKFLOW);
  return {
    folder,
    write: (text: string) => writeFileSync(join(folder.root, place), text),
    read: () => storeOf(folder).pinnedWorkflows.get(hash),
  };
}

test('content is stored under its SHA-256 digest', () => {
  enforces('digest_strings_sha256_hex');
  // The published vectors of the standard.
  expect([digestOf(new Uint8Array()), digestOf(Buffer.from('abc'))]).toEqual([
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
  ]);
});

test('content is never stored under another digest, and existing content stays', async () => {
  const simulated = simulatedDisk();
  simulated.fs.makeDir('/data');
  const disk = { fs: simulated.fs, root: '/data' };
  const name = { path: 'content', digest: digestOf(Buffer.from('truth')) };
  await putContent(disk, name, Buffer.from('truth'));
  await expect(putContent(disk, name, Buffer.from('lies'))).rejects.toThrow('named by its content');
  expect(Buffer.from(disk.fs.read('/data/content') ?? []).toString()).toBe('truth');

  for (const damaged of ['tru', 'trust', 'truthful']) {
    simulated.damage('/data/content', Buffer.from(damaged));
    await putContent(disk, name, Buffer.from('truth'));
    expect(Buffer.from(disk.fs.read('/data/content') ?? []).toString()).toBe('truth');
  }
});
