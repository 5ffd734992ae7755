import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { compiled, SMALL_WORKFLOW } from '../../../../test/examples/compiled.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { SMALL_WORKFLOW_TEXT, storeFolder } from '../../../../test/store-folder.ts';
import { canonicalJson } from '../../../core/json/canonical-json.ts';
import { sealWorkflow } from '../../../core/workflow/compiled/compiled-workflow.ts';
import { layout } from '../disk/layout.ts';
import { storeOf } from '../file-store.ts';

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
