import { readFileSync } from 'node:fs';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { canonicalJson } from '../../src/core/json/canonical-json.ts';
import { workflowHashSchema } from '../../src/core/log/ids.ts';
import { sealWorkflow } from '../../src/core/workflow/compiled/sealed-workflow.ts';
import { enforces } from '../enforces.ts';
import { compiled } from '../examples/compiled.ts';
import { digest, sha256 } from '../examples/sha256.ts';
import type { MakeStore } from './store-under-test.ts';

const source = readFileSync(new URL('../../workflows/wr.first_steps.json', import.meta.url), 'utf8');
const workflow = compiled(source);
const other = { ...workflow, name: 'Another' };

/** A pinned workflow is found by its hash as long as there are runs. */
export function pinnedWorkflowsContract(makeStore: MakeStore): void {
  test('a pinned workflow is found by its hash, at once and by every reader', async () => {
    enforces('pinned_workflow_stored_by_hash');
    const { store, again } = makeStore();
    const hash = (await store.pinnedWorkflows.pin(workflow))._unsafeUnwrap();
    expect(hash).toBe(sealWorkflow(workflow, sha256).hash);
    expect(await store.pinnedWorkflows.get(hash)).toEqual(ok(workflow));
    expect(await again().pinnedWorkflows.get(hash)).toEqual(ok(workflow));
  });

  test('a pinned workflow is the same to the byte for its writer and all readers', async () => {
    const { store, again } = makeStore();
    const turned = Object.fromEntries(Object.entries(workflow).reverse()) as typeof workflow;
    const hash = (await store.pinnedWorkflows.pin(turned))._unsafeUnwrap();
    const texts = await Promise.all(
      [store, again()].map(async ({ pinnedWorkflows }) => JSON.stringify(await pinnedWorkflows.get(hash))),
    );
    expect(texts[0]).toBe(texts[1]);
    expect(texts[0]).toBe(JSON.stringify(ok(JSON.parse(canonicalJson(workflow)._unsafeUnwrap()))));
  });

  test('pinning a workflow again changes nothing', async () => {
    const { store, again } = makeStore();
    const pins = await Promise.all(
      [store, again(), store, again()].map((client) => client.pinnedWorkflows.pin(workflow)),
    );
    const { hash } = sealWorkflow(workflow, sha256);
    expect(pins).toEqual(pins.map(() => ok(hash)));
    expect(await again().pinnedWorkflows.get(hash)).toEqual(ok(workflow));
  });

  test('another version of a workflow does not replace the first', async () => {
    const { store, again } = makeStore();
    const first = (await store.pinnedWorkflows.pin(workflow))._unsafeUnwrap();
    const second = (await store.pinnedWorkflows.pin(other))._unsafeUnwrap();
    expect(second).not.toBe(first);
    expect(await again().pinnedWorkflows.get(first)).toEqual(ok(workflow));
    expect(await again().pinnedWorkflows.get(second)).toEqual(ok(other));
  });

  test('a workflow that was never pinned is missing', async () => {
    const { store } = makeStore();
    await store.pinnedWorkflows.pin(workflow);
    const unknown = workflowHashSchema.parse(digest('unknown'));
    const missing = err({ code: 'damaged', damage: { reason: 'content_missing', offset: 0 } });
    expect(await store.pinnedWorkflows.get(unknown)).toMatchObject(missing);
  });
}
