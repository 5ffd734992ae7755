import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { SMALL_WORKFLOW } from '../../../test/examples/compiled.ts';
import { memoryServices } from '../../../test/examples/memory-services.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { SMALL_WORKFLOW_TEXT, storeFolder } from '../../../test/store-folder.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import { runTag } from '../../core/log/ids.ts';
import { sealWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { Services } from '../services.ts';
import { advance } from './advance.ts';
import { rehydrate } from './rehydrate.ts';
import { startWorkflow } from './start-workflow.ts';

test('a run whose stored workflow was replaced is refused, and both hashes are named', async () => {
  enforces('token_error_workflow_hash_mismatch');
  const folder = storeFolder();
  const begun: Services = { ...memoryServices(), ...storeOf(folder) };
  const { structured } = (await startWorkflow(begun, { workflowId: 'wr.first_steps' }))._unsafeUnwrap();
  const pinned = join(folder.root, 'workflows', 'pinned');
  const [file = ''] = readdirSync(pinned);
  writeFileSync(join(pinned, file), SMALL_WORKFLOW_TEXT);

  const services: Services = { ...begun, ...storeOf(folder) };
  const [sessionId = expect.fail('a session')] = (await services.sessions.list())._unsafeUnwrap();
  const { view } = (await services.sessions.load(sessionId))._unsafeUnwrap();
  const [{ nodeId, runId, workflowHash } = expect.fail('a root')] = view.graph.nodes.values();
  const refusal = {
    code: 'TOKEN_WORKFLOW_HASH_MISMATCH',
    place: { sessionId, runId, nodeId, tag: runTag(runId), workflowId: 'wr.first_steps' },
    source: 'stored_workflow',
    pinned: workflowHash,
    found: sealWorkflow(SMALL_WORKFLOW, sha256).hash,
  };
  const { stateToken, ackToken } = structured as { stateToken: string; ackToken: string };
  expect(await rehydrate(services, { stateToken })).toEqual(err(refusal));
  expect(await advance(services, { ackToken, output: { artifacts: [] } })).toEqual(err(refusal));
});
