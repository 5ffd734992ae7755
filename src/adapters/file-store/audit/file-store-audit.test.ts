import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { err } from 'neverthrow';
import { describe, expect, test } from 'vitest';
import { type AuditedFolder, auditedFolder, findings, sessionId } from '../../../../test/audited-folder.ts';
import { enforces } from '../../../../test/enforces.ts';
import { digest } from '../../../../test/examples/sha256.ts';
import { artifactDigest } from '../../../../test/simulation/node-facts.ts';
import { SMALL_WORKFLOW_TEXT, storeFolder } from '../../../../test/store-folder.ts';
import { segmentRelPath } from '../../../core/log/manifest.ts';
import { layout } from '../disk/disk.ts';
import { nodeFileSystem } from '../disk/node-file-system.ts';
import { storeOf } from '../file-store.ts';

/** The fault suite flips every byte; here a few of each file do. */
const FLIP_STRIDE = 97;

test('an untouched session is healthy to the last byte', async () => {
  const { audit, writer, path } = await auditedFolder();
  const files = readdirSync(path(''), { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const stored = files.filter(({ name }) => /^(?:manifest\.jsonl|\d.*\.jsonl|[0-9a-f]{64}.*)$/.test(name));
  const bytes = stored.reduce((whole, { parentPath, name }) => whole + statSync(join(parentPath, name)).size, 0);
  expect(await audit()).toEqual({
    sessionId,
    health: { kind: 'healthy' },
    events: writer.events.length,
    bytes,
    findings: [],
    signature: { kind: 'unsigned' },
    head: expect.stringMatching(/^sha256:/),
  });
});

test('a missing session is refused and not called healthy', async () => {
  const store = storeOf(storeFolder());
  expect(await store.audit.audit(sessionId)).toEqual(err({ code: 'session_not_found', sessionId }));
});

test('a file in the place of a session is damage, not a healthy session without events', async () => {
  const folder = storeFolder();
  const store = storeOf(folder);
  mkdirSync(join(folder.root, layout.sessions));
  writeFileSync(join(folder.root, layout.session(sessionId)), 'x');
  expect((await store.audit.audit(sessionId))._unsafeUnwrap()).toEqual({
    sessionId,
    health: { kind: 'unreadable', place: layout.session(sessionId), code: 'ENOTDIR' },
    events: 0,
    bytes: 0,
    findings: [{ severity: 'damage', what: 'unreadable', place: layout.session(sessionId), code: 'ENOTDIR' }],
    signature: { kind: 'unsigned' },
  });
});

test('a session that is removed during its check is gone, not damaged', async () => {
  const folder = await auditedFolder();
  const gone = folder.path(join(layout.sessions, '.removed-x'));
  const behind = (name: string, isRemade: boolean) => ({
    ...nodeFileSystem,
    read: (path: string, from?: number) => {
      const bytes = nodeFileSystem.read(path, from);
      if (!path.includes(name) || !existsSync(folder.manifest)) return bytes;
      renameSync(folder.path(layout.session(sessionId)), gone);
      if (isRemade) mkdirSync(folder.path(layout.events(sessionId)), { recursive: true });
      return bytes;
    },
  });
  for (const name of ['manifest.jsonl', folder.segments[1] ?? '', folder.segments.at(-1) ?? '']) {
    for (const isRemade of [false, true]) {
      const store = storeOf({ ...folder.parts, disk: { fs: behind(name, isRemade), root: folder.path('') } });
      // What only this session referred to goes with it.
      const snapshots = folder.path(layout.snapshots);
      if (name === folder.segments.at(-1)) renameSync(snapshots, `${snapshots}-gone`);
      expect(await store.audit.audit(sessionId)).toEqual(err({ code: 'session_not_found', sessionId }));
      if (name === folder.segments.at(-1)) renameSync(`${snapshots}-gone`, snapshots);
      rmSync(folder.path(layout.session(sessionId)), { recursive: true, force: true });
      renameSync(gone, folder.path(layout.session(sessionId)));
    }
  }
});

test('checking a session yields to other work', async () => {
  const folder = await auditedFolder();
  let turns = 0;
  setImmediate(() => {
    turns += 1;
  });
  await folder.audit();
  expect(turns).toBe(1);
});

describe('leftover files', () => {
  const leftovers: readonly (readonly [string, string, (folder: AuditedFolder) => void])[] = [
    [
      'a segment that no manifest line attests',
      'orphan_segment',
      ({ path, writer }) => writeFileSync(path(segmentAt(writer.events.length)), 'x'),
    ],
    ['an append that was cut off', 'torn_tail', ({ manifest }) => appendFileSync(manifest, '{"v":1,')],
    ['bytes that were cut off before', 'torn_bytes_kept', ({ manifest }) => writeFileSync(`${manifest}.torn-12`, 'x')],
    ['a file that was never finished', 'leftover_file', ({ segments }) => writeFileSync(`${segments[0]}.tmp`, 'x')],
  ];

  test.each(leftovers)('leftover: %s is noted and does no harm', async (_, what, leave) => {
    enforces('orphan_segment_ignored');
    const folder = await auditedFolder();
    leave(folder);
    expect(findings(await folder.audit())).toEqual({ health: 'healthy', found: [`note ${what}`] });
  });
});

describe('damage to a session', () => {
  const damages: readonly (readonly [string, object, (folder: AuditedFolder) => void])[] = [
    [
      'a segment that is gone',
      { health: 'corrupt_head', found: ['damage session_damaged'] },
      ({ segments }) => rmSync(segments[0] ?? ''),
    ],
    [
      'a segment that was cut',
      { health: 'corrupt_tail', found: ['damage session_damaged'] },
      ({ segments }) => truncateSync(segments[3] ?? '', 10),
    ],
    [
      'a manifest line nobody wrote',
      { health: 'corrupt_tail', found: ['damage session_damaged'] },
      ({ manifest }) => appendFileSync(manifest, '{"v":1}\n'),
    ],
    [
      'a manifest that once was longer',
      { health: 'corrupt_tail', found: ['damage session_damaged', 'note orphan_segment'] },
      ({ path, writer }) => writeFileSync(path(segmentAt(writer.events.length + 1)), 'x'),
    ],
    [
      'a manifest line of a newer program',
      { health: 'unknown_version', found: ['damage unknown_version'] },
      ({ manifest }) => appendFileSync(manifest, '{"v":2,"kind":"segment_closed"}\n'),
    ],
    [
      'a snapshot that is gone',
      { health: 'corrupt_tail', found: ['damage content_missing'] },
      ({ path, writer }) => rmSync(path(layout.snapshot([...writer.snapshots.keys()][0] as never))),
    ],
    [
      'an artifact with other bytes',
      { health: 'corrupt_tail', found: ['damage content_damaged'] },
      ({ path }) => appendFileSync(path(layout.artifact(artifactDigest('found'))), ' '),
    ],
    [
      'a workflow that is gone',
      { health: 'corrupt_tail', found: ['damage content_missing'] },
      ({ path }) => rmSync(path(layout.pinnedWorkflow(digest(SMALL_WORKFLOW_TEXT) as never))),
    ],
  ];

  test.each(damages)('damage is found: %s', async (_, expected, harm) => {
    const folder = await auditedFolder();
    harm(folder);
    expect(findings(await folder.audit())).toEqual(expected);
  });

  test('damage is reported for every segment and for the manifest', async () => {
    const folder = await auditedFolder();
    const [, second, third, , fifth] = folder.segments;
    for (const segment of [second, fifth]) appendFileSync(segment ?? '', ' ');
    rmSync(third ?? '');
    appendFileSync(folder.manifest, '{"v":1}\n');
    const { health, events, findings: found } = await folder.audit();
    const segmentPlaces = [second, third, fifth].map((path) => relative(folder.path(''), path ?? ''));
    expect(found.map(({ severity, place }) => `${severity} ${place}`)).toEqual(
      [...segmentPlaces, layout.manifest(sessionId)].map((place) => `damage ${place}`),
    );
    const first = { reason: 'segment_digest_mismatch', place: segmentPlaces[0], offset: 0 };
    expect(health).toEqual({ kind: 'corrupt_tail', damage: first });
    expect(events).toBe(folder.writer.plans[0]?.events.length);
  });

  const unreadables: readonly (readonly [string, (folder: AuditedFolder) => string])[] = [
    ['a manifest', ({ manifest }) => manifest],
    ['a segment', ({ segments }) => segments[1] ?? ''],
    ['a snapshot', ({ path, writer }) => path(layout.snapshot([...writer.snapshots.keys()][0] as never))],
    ['an artifact', ({ path }) => path(layout.artifact(artifactDigest('found')))],
  ];

  test.each(unreadables)("%s that cannot be read is reported with the system's error code", async (_, fileOf) => {
    const folder = await auditedFolder();
    const file = fileOf(folder);
    rmSync(file);
    mkdirSync(file);
    const place = relative(folder.path(''), file);
    expect(await folder.audit()).toMatchObject({
      health: { kind: 'unreadable', place, code: 'EISDIR' },
      findings: [{ severity: 'damage', what: 'unreadable', place, code: 'EISDIR' }],
    });
  });

  test("a folder that cannot be listed is reported with the system's error code", async () => {
    const folder = await auditedFolder();
    rmSync(folder.path(layout.events(sessionId)), { recursive: true });
    writeFileSync(folder.path(layout.events(sessionId)), '');
    const { findings: found } = await folder.audit();
    expect(found).toContainEqual({
      severity: 'damage',
      what: 'unreadable',
      place: layout.events(sessionId),
      code: 'ENOTDIR',
    });
  });

  test('damage is reported with its place, and verifying changes nothing on the disk', async () => {
    const folder = await auditedFolder();
    const [, second] = folder.segments;
    truncateSync(second ?? '', 10);
    const before = readdirSync(folder.path(''), { recursive: true }).sort();
    const place = join(layout.session(sessionId), 'events', String(second?.split('/').at(-1)));
    expect(await folder.audit()).toMatchObject({
      health: { kind: 'corrupt_tail', damage: { reason: 'segment_digest_mismatch', place, offset: 0 } },
      findings: [{ severity: 'damage', what: 'session_damaged', place, reason: 'segment_digest_mismatch' }],
    });
    expect(readdirSync(folder.path(''), { recursive: true }).sort()).toEqual(before);
  });

  test('any changed byte of manifest or segments is found, unless it looks like a cut-off append', async () => {
    const folder = await auditedFolder();
    const events = folder.writer.events.length;
    for (const file of [folder.manifest, ...folder.segments]) {
      const bytes = readFileSync(file);
      for (let i = 0; i < bytes.length; i += FLIP_STRIDE) {
        const flipped = Buffer.from(bytes);
        flipped[i] = (bytes[i] ?? 0) ^ 1;
        writeFileSync(file, flipped);
        const audit = await folder.audit();
        const isTorn = audit.findings.some(({ what }) => what === 'orphan_segment') && audit.events < events;
        expect(audit.health.kind !== 'healthy' || isTorn).toBe(true);
      }
      writeFileSync(file, bytes);
    }
    expect(findings(await folder.audit())).toEqual({ health: 'healthy', found: [] });
  });
});

function segmentAt(eventIndex: number): string {
  return join(layout.session(sessionId), segmentRelPath(eventIndex, eventIndex));
}
