import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type AuditedFolder, auditedFolder, findings, sessionId } from '../../../../test/audited-folder.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { numberedSession } from '../../../../test/store-folder.ts';
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

function edit(events: readonly SessionEvent[], change: object): readonly unknown[] {
  return events.map((event, i) => (i === events.length - 1 ? { ...event, ...change } : event));
}

function lastPlan({ writer }: AuditedFolder) {
  const events = writer.plans.at(-1)?.events ?? [];
  return { events, first: events[0]?.eventIndex ?? 0 };
}

/** Exchanges the last append for another and makes every hash fit again. */
function forgeLast(
  folder: AuditedFolder,
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
