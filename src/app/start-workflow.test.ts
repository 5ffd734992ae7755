import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { memoryServices } from '../../test/examples/memory-services.ts';
import { type CompiledWorkflow, sealWorkflow } from '../core/workflow/compiled/compiled-workflow.ts';
import { startWorkflow } from './start-workflow.ts';

test('what a run is pinned to can be found by the hash that the run names', async () => {
  enforces('pinned_workflow_stored_by_hash');
  const services = memoryServices();
  expect((await startWorkflow(services, { workflowId: 'wr.first_steps' })).isOk()).toBe(true);
  const [sessionId = expect.fail('a session was started')] = (await services.sessions.list())._unsafeUnwrap();
  const { view } = (await services.sessions.load(sessionId))._unsafeUnwrap();
  const hashes = [...view.graph.runs.values()].map(({ pinned }) => pinned.workflowHash);
  expect(hashes).toHaveLength(1);
  for (const hash of hashes) {
    const workflow = (await services.pinnedWorkflows.get(hash))._unsafeUnwrap();
    expect(sealWorkflow(workflow, services.hasher.sha256).hash).toBe(hash);
  }
});

test('no run begins whose workflow could not be pinned', async () => {
  enforces('pinned_workflow_stored_by_hash');
  const services = memoryServices();
  const full = { code: 'io_failed', operation: 'pin workflow', place: 'workflows', cause: 'ENOSPC' } as const;
  const pinnedWorkflows = { ...services.pinnedWorkflows, pin: async () => err(full) };
  expect(await startWorkflow({ ...services, pinnedWorkflows }, { workflowId: 'wr.first_steps' })).toEqual(err(full));
  expect(await services.sessions.list()).toEqual(ok([]));
});

test('a workflow that is collected between its pin and the start of its run is pinned again', async () => {
  enforces('pinned_workflow_stored_by_hash');
  const services = memoryServices();
  let pins = 0;
  const pinnedWorkflows = {
    ...services.pinnedWorkflows,
    // What collection has taken away is as if it had never been pinned.
    pin: async (workflow: CompiledWorkflow) => {
      pins += 1;
      if (pins === 1) return ok(sealWorkflow(workflow, services.hasher.sha256).hash);
      return services.pinnedWorkflows.pin(workflow);
    },
  };
  expect((await startWorkflow({ ...services, pinnedWorkflows }, { workflowId: 'wr.first_steps' })).isOk()).toBe(true);
  expect(pins).toBe(2);
});
