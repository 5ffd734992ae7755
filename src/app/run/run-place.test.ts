import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { SMALL_WORKFLOW } from '../../../test/examples/compiled.ts';
import { memoryServices } from '../../../test/examples/memory-services.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { golden, keys, node, purpose } from '../../../test/golden/token/token-fixture.ts';
import { SMALL_WORKFLOW_TEXT, storeFolder } from '../../../test/store-folder.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import { runTag } from '../../core/log/ids.ts';
import { mintToken } from '../../core/token/node-token.ts';
import { TOKEN_KINDS } from '../../core/token/token.ts';
import { sealWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import type { Services } from '../services.ts';
import { advance } from './advance.ts';
import { rehydrate } from './rehydrate.ts';
import { findTokenNode } from './run-place.ts';
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

/** A machine on which no key was ever made, and one with a key that signed nothing yet. */
const MACHINES: readonly (readonly [string, number, (services: Services) => Promise<unknown>])[] = [
  ['no keyring', 0, async () => undefined],
  ['a keyring', 1, ({ keyring }) => keyring.open()],
];

test.each(MACHINES)('with %s, a text that is not a token is refused as such', async (_, __, prepare) => {
  enforces('token_error_invalid_format', 'token_error_unsupported_version');
  const services = memoryServices();
  await prepare(services);
  const wrong = golden.refusals.filter(({ refusal }) => /INVALID_FORMAT|UNSUPPORTED_VERSION/.test(refusal.code));
  expect(new Set(wrong.map(({ refusal }) => refusal.code)).size).toBe(2);
  for (const { token, slot, refusal } of wrong) {
    expect(await findTokenNode(services, { text: token ?? '', slot })).toEqual(err(refusal));
  }
});

test.each(MACHINES)('with %s, a token of another machine is refused as such', async (_, keysTried, prepare) => {
  enforces('token_error_bad_signature');
  const services = memoryServices();
  await prepare(services);
  for (const form of ['compact', 'json'] as const) {
    for (const kind of TOKEN_KINDS) {
      const text = mintToken(node, purpose(kind), { ...keys, form });
      for (const slot of ['stateToken', 'ackToken'] as const) {
        expect(await findTokenNode(services, { text, slot })).toEqual(
          err({ code: 'TOKEN_BAD_SIGNATURE', kind, keysTried }),
        );
      }
    }
  }
});
