import {
  appendFileSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { appendAll } from '../../../../test/contract/store-under-test.ts';
import { enforces } from '../../../../test/enforces.ts';
import { digest, sha256 } from '../../../../test/examples/sha256.ts';
import { artifactDigest } from '../../../../test/simulation/node-facts.ts';
import { type SessionWriter, sessionWriter, type WrittenNode } from '../../../../test/simulation/session-writer.ts';
import { numberedSession, SMALL_WORKFLOW, SMALL_WORKFLOW_TEXT, storeFolder } from '../../../../test/store-folder.ts';
import type { SessionAudit } from '../../../app/ports/store-audit.ts';
import { canonicalLines } from '../../../core/json/canonical-bytes.ts';
import type { SessionEvent } from '../../../core/log/event.ts';
import { derivedBits, NodeId } from '../../../core/log/ids.ts';
import {
  chainGenesis,
  chainOf,
  type ManifestRecord,
  segmentRelPath,
  type Unchained,
} from '../../../core/log/manifest.ts';
import { layout } from '../disk/layout.ts';
import { storeOf } from '../file-store.ts';

const sessionId = numberedSession(1);
/** The fault suite flips every byte; here a few of each file do. */
const FLIP_STRIDE = 97;

async function auditedFolder(extra: (writer: SessionWriter, root: WrittenNode) => void = () => undefined) {
  const folder = storeFolder();
  const store = storeOf(folder);
  const writer = sessionWriter({ sessionId, at: () => 1_000 });
  const root = writer.startRun({ context: { goal: 'go' } }, SMALL_WORKFLOW_TEXT);
  const blocked = writer.block(root, { note: { name: 'draft', text: 'a draft' } });
  const step = writer.advance(blocked, { note: { name: 'note', text: 'a note' }, artifacts: [{ name: 'found' }] });
  writer.checkpoint(step, { note: { name: 'saved', text: 'saved' } });
  writer.advance(root, {}, 'complete');
  extra(writer, root);
  await store.pinnedWorkflows.pin(SMALL_WORKFLOW);
  await appendAll(store.sessions, writer.plans);
  const path = (place: string) => join(folder.root, place);
  return {
    writer,
    path,
    manifest: path(layout.manifest(sessionId)),
    segments: readdirSync(path(layout.events(sessionId))).map((name) => path(join(layout.events(sessionId), name))),
    audit: async () => (await store.audit.audit(sessionId))._unsafeUnwrap(),
  };
}

type Folder = Awaited<ReturnType<typeof auditedFolder>>;

/** What was found, without the numbers. */
function findings({ health, findings }: SessionAudit) {
  return { health: health.kind, found: findings.map(({ severity, what }) => `${severity} ${what}`) };
}

test('a session that is as it was written is healthy to the last byte', async () => {
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
  });
});

test('a session that nobody ever wrote to is empty and healthy', async () => {
  const store = storeOf(storeFolder());
  expect((await store.audit.audit(sessionId))._unsafeUnwrap()).toEqual({
    sessionId,
    health: { kind: 'healthy' },
    events: 0,
    bytes: 0,
    findings: [],
  });
});

describe('what is left over', () => {
  const leftovers: readonly (readonly [string, string, (folder: Folder) => void])[] = [
    [
      'a segment that no manifest line attests',
      'orphan_segment',
      ({ path, writer }) => writeFileSync(path(segmentAt(writer.events.length)), 'x'),
    ],
    ['an append that was cut off', 'torn_tail', ({ manifest }) => appendFileSync(manifest, '{"v":1,')],
    ['bytes that were cut off before', 'torn_bytes_kept', ({ manifest }) => writeFileSync(`${manifest}.torn-12`, 'x')],
    ['a file that was never finished', 'leftover_file', ({ segments }) => writeFileSync(`${segments[0]}.tmp`, 'x')],
  ];

  test.each(leftovers)('%s is noted and harms nobody', async (_, what, leave) => {
    enforces('orphan_segment_ignored');
    const folder = await auditedFolder();
    leave(folder);
    expect(findings(await folder.audit())).toEqual({ health: 'healthy', found: [`note ${what}`] });
  });
});

describe('damage', () => {
  const damages: readonly (readonly [string, object, (folder: Folder) => void])[] = [
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

  test.each(damages)('%s is found', async (_, expected, harm) => {
    const folder = await auditedFolder();
    harm(folder);
    expect(findings(await folder.audit())).toEqual(expected);
  });

  test('is told with its place and changes nothing on the disk', async () => {
    const folder = await auditedFolder();
    const [, second] = folder.segments;
    truncateSync(second ?? '', 10);
    const before = readdirSync(folder.path(''), { recursive: true }).sort();
    const place = join(layout.session(sessionId), 'events', String(second?.split('/').at(-1)));
    expect(await folder.audit()).toMatchObject({
      health: { kind: 'corrupt_tail', damage: { reason: 'segment_digest_mismatch', place, offset: 0 } },
      findings: [{ severity: 'damage', what: 'session_damaged', place, offset: 0 }],
    });
    expect(readdirSync(folder.path(''), { recursive: true }).sort()).toEqual(before);
  });

  test('of bytes all over the manifest and the segments is found, unless it looks like an append cut off', async () => {
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

describe('a forged history whose hashes are all right', () => {
  const forgeries: readonly (readonly [string, string, (events: readonly SessionEvent[]) => readonly unknown[]])[] = [
    ['has an event of a shape nobody writes', 'event_invalid', (events) => edit(events, { at: -1 })],
    ['has an event under a key that is not its own', 'event_invalid', (events) => edit(events, { dedupeKey: 'mine' })],
    ['belongs to another session', 'event_invalid', (events) => edit(events, { sessionId: numberedSession(2) })],
  ];

  test.each(forgeries)('is found when it %s', async (_, what, forge) => {
    const folder = await auditedFolder();
    forgeLast(folder, forge);
    expect(findings(await folder.audit()).found[0]).toBe(`damage ${what}`);
  });

  test('is found when it pins a snapshot that its nodes do not name', async () => {
    const folder = await auditedFolder();
    forgeLast(
      folder,
      (events) => events,
      (record) => (record.kind === 'snapshot_pinned' ? { ...record, eventIndex: 0 as never } : record),
    );
    expect(findings(await folder.audit()).found[0]).toBe('damage history_inconsistent');
  });

  test('is found when it says something about a node that is not there', async () => {
    const folder = await auditedFolder((writer, root) => writer.record(root, { context: { key: 1 } }));
    const nodeId = NodeId.of(derivedBits(['nowhere'], sha256));
    forgeLast(folder, (events) => edit(events, { scope: { ...events[0]?.scope, nodeId } }));
    expect(findings(await folder.audit()).found[0]).toBe('damage history_inconsistent');
  });

  test('is found when it says the same thing twice', async () => {
    const folder = await auditedFolder((writer, root) => {
      writer.record(root, { context: { key: 1 } });
      writer.record(root, { context: { key: 2 } });
    });
    const earlier = folder.writer.plans.at(-2)?.events ?? [];
    forgeLast(folder, (events) => earlier.map((event, i) => ({ ...event, eventIndex: events[i]?.eventIndex })));
    expect(findings(await folder.audit()).found[0]).toBe('damage history_inconsistent');
  });
});

function segmentAt(eventIndex: number): string {
  return join(layout.session(sessionId), segmentRelPath(eventIndex, eventIndex));
}

function edit(events: readonly SessionEvent[], change: object): readonly unknown[] {
  return events.map((event, i) => (i === events.length - 1 ? { ...event, ...change } : event));
}

function lastPlan({ writer }: Folder) {
  const events = writer.plans.at(-1)?.events ?? [];
  return { events, first: events[0]?.eventIndex ?? 0 };
}

/** Exchanges the last append for another and makes every hash fit again. */
function forgeLast(
  folder: Folder,
  forge: (events: readonly SessionEvent[]) => readonly unknown[],
  change: (record: ManifestRecord) => ManifestRecord = (record) => record,
): void {
  const { events, first } = lastPlan(folder);
  const forged = forge(events);
  const bytes = canonicalLines(forged)._unsafeUnwrap();
  const last = first + forged.length - 1;
  const relPath = segmentRelPath(first, last);
  const old = folder.segments.at(-1) ?? '';
  writeFileSync(old, bytes);
  renameSync(old, folder.path(join(layout.session(sessionId), relPath)));

  const records = readFileSync(folder.manifest, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ManifestRecord);
  const from = records.findLastIndex(({ kind }) => kind === 'segment_closed');
  const segment = {
    lastEventIndex: last,
    segmentRelPath: relPath,
    sha256: sha256(bytes),
    bytes: bytes.length,
    pins: records.length - from - 1,
  };
  let chain = records[from - 1]?.chain ?? chainGenesis(sessionId, sha256);
  const rewritten = records.map((record, i) => {
    if (i < from) return record;
    const changed = change(i === from ? ({ ...record, ...segment } as ManifestRecord) : record);
    chain = chainOf(chain, changed as Unchained, sha256);
    return { ...changed, chain };
  });
  writeFileSync(folder.manifest, canonicalLines(rewritten)._unsafeUnwrap());
}
