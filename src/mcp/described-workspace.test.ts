import { expect, test } from 'vitest';
import { sha256 } from '../../test/examples/sha256.ts';
import { timedUuid } from '../adapters/system.ts';
import { SessionId, sessionIdBits } from '../core/log/ids.ts';
import {
  CALL_ID_META_KEY,
  describedWorkspace,
  idsOfCall,
  type NamedCall,
  WORKSPACE_META_KEY,
} from './described-workspace.ts';

const CALL: NamedCall = { principal: 'ann', tool: 'start_workflow', arguments: { workflowId: 'wr.first_steps' } };
const [HEAD, DIGEST] = ['a'.repeat(40), `sha256:${'b'.repeat(64)}`];
const NOW = 1_700_000_000_000;

const idsIn = (callId: unknown, call = CALL) => {
  const ids = idsOfCall({ [CALL_ID_META_KEY]: callId }, call, { sha256 });
  return ids && { session: ids.session(), run: ids.run() };
};

test('a call of the same name creates the same ids, and everything else creates others', () => {
  const callId = timedUuid({ nowMs: () => NOW });
  const first = idsIn(callId);
  expect(idsIn(callId)).toEqual(first);
  const others = [
    idsIn(timedUuid({ nowMs: () => NOW })),
    idsIn(callId, { ...CALL, principal: 'ben' }),
    idsIn(callId, { ...CALL, tool: 'start_session' }),
    idsIn(callId, { ...CALL, arguments: { workflowId: 'wr.other' } }),
    idsIn('a name of its own'),
  ];
  const all = [first, ...others];
  expect(new Set(all.map((ids) => ids?.session)).size).toBe(all.length);
  expect(new Set(all.map((ids) => ids?.run)).size).toBe(all.length);
});

test.each([
  ['in a folder without git', {}, undefined],
  [
    'with their digest',
    { head_sha: HEAD, tree_digest: DIGEST },
    { headSha: HEAD, treeDigest: DIGEST, changed: [], isDescribed: true },
  ],
  ['with the cause', { files_unseen: { unseen: 'name_not_text', path: 'a' } }, { unseen: 'name_not_text', path: 'a' }],
  ['without a digest, by a bridge of an earlier release', { head_sha: HEAD }, { unseen: 'timed_out' }],
  ['with a cause that nobody knows', { head_sha: HEAD, files_unseen: { unseen: 'magic' } }, { unseen: 'timed_out' }],
])('files that another machine describes %s', async (_, facts, expected) => {
  expect(await describedWorkspace({ [WORKSPACE_META_KEY]: facts }).tree(undefined)).toEqual(expected);
});

test('sessions of calls that are named by time sort by time', () => {
  const { session } = idsIn(timedUuid({ nowMs: () => NOW })) ?? expect.fail('ids');
  expect(SessionId.is(session)).toBe(true);
  expect(Buffer.from(sessionIdBits(session)).readUIntBE(0, 6)).toBe(NOW);
});

test('a call without a usable name gets ids by chance', () => {
  for (const callId of [undefined, '', 7, {}, 'x'.repeat(129)]) expect(idsIn(callId)).toBeUndefined();
  expect(idsOfCall(undefined, CALL, { sha256 })).toBeUndefined();
});
