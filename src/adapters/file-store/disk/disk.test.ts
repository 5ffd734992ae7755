import fc from 'fast-check';
import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { SESSION } from '../../../../test/examples/ids.ts';
import { digest } from '../../../../test/examples/sha256.ts';
import { type ArtifactDigest, SessionId, type SnapshotRef, type WorkflowHash } from '../../../core/log/ids.ts';
import { accessing, accessingNow, layout } from './disk.ts';

const refused = Object.assign(new Error("EACCES: permission denied, open '/home/ada/store/sessions/x'"), {
  code: 'EACCES',
  path: '/home/ada/store/sessions/x',
});
const told = err({ code: 'io_failed', operation: 'read', place: 'sessions/x', cause: 'EACCES' });

test("a store failure contains the system's error code but no path of this machine", async () => {
  enforces('error_details_deterministic');
  const fail = () => {
    throw refused;
  };
  expect(accessingNow('read', 'sessions/x', fail)).toEqual(told);
  expect(await accessing('read', 'sessions/x', async () => fail())).toEqual(told);
});

test.each([
  new Error('bug: something is wrong'),
  Object.assign(new TypeError('The "path" argument must be of type string'), { code: 'ERR_INVALID_ARG_TYPE' }),
])('what is no refusal of the system is our own bug and flies on: %s', (bug) => {
  const fail = () => {
    throw bug;
  };
  expect(() => accessingNow('read', 'sessions/x', fail)).toThrow(bug);
});

const PLACES: readonly ((name: string) => string)[] = [
  (id) => layout.session(id as SessionId),
  (id) => layout.events(id as SessionId),
  (id) => layout.manifest(id as SessionId),
  (id) => layout.keep(id as SessionId),
  (id) => layout.lock(id as SessionId),
  (hex) => layout.snapshot(`sha256:${hex}` as SnapshotRef),
  (hex) => layout.artifact(`sha256:${hex}` as ArtifactDigest),
  (hex) => layout.pinnedWorkflow(`sha256:${hex}` as WorkflowHash),
];

const FOREIGN = [
  '..',
  '.',
  '',
  '../x',
  'a/b',
  'a\\b',
  '/etc',
  'c:',
  'a\0',
  'a\n',
  'größe',
  'SESS',
  'sess_0.json',
  '~',
  'ａ',
];

test('only plain lower-case ASCII becomes part of a path, whatever the types say', () => {
  enforces('ids_checked_before_path_join');
  for (const place of PLACES) {
    for (const name of FOREIGN) expect(() => place(name)).toThrow('not a valid file name');
  }
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (name) => {
      fc.pre(!/^[0-9a-z_]+$/.test(name));
      for (const place of PLACES) expect(() => place(name)).toThrow('not a valid file name');
    }),
    { numRuns: 20 },
  );
});

test('a text is a session id only if it matches the pattern', () => {
  enforces('ids_checked_before_path_join');
  for (const name of [...FOREIGN, `${SESSION}/..`, ` ${SESSION}`, `${SESSION}\n`, SESSION.toUpperCase()]) {
    expect(SessionId.schema.safeParse(name).success).toBe(false);
  }
  expect(SessionId.schema.safeParse(SESSION).success).toBe(true);
});

test('content files are named by bare hex digits, without a colon', () => {
  enforces('digest_file_names_bare_hex', 'digest_strings_sha256_hex');
  const sha = digest('content');
  const hex = sha.slice('sha256:'.length);
  expect([
    layout.snapshot(sha as string as SnapshotRef),
    layout.artifact(sha as string as ArtifactDigest),
    layout.pinnedWorkflow(sha as string as WorkflowHash),
  ]).toEqual([`snapshots/${hex}.json`, `artifacts/${hex}`, `workflows/pinned/${hex}.json`]);
});
