import { describe, expect, test } from 'vitest';
import { auditedFolder, findings, sessionId } from '../../../../test/audited-folder.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { forgeLast } from '../../../../test/forge-last.ts';
import { numberedSession } from '../../../../test/store-folder.ts';
import type { SessionEvent } from '../../../core/log/event.ts';
import { derivedBits, NodeId } from '../../../core/log/ids.ts';
import { layout } from '../disk/disk.ts';

describe('a forged history whose hashes are all right', () => {
  const forgeries: readonly (readonly [string, string, (events: readonly SessionEvent[]) => readonly unknown[]])[] = [
    ['has an event of a shape nobody writes', 'event_invalid', (events) => edit(events, { at: -1 })],
    ['has an event under a key that is not its own', 'event_invalid', (events) => edit(events, { dedupeKey: 'mine' })],
    ['belongs to another session', 'event_invalid', (events) => edit(events, { sessionId: numberedSession(2) })],
  ];

  test.each(forgeries)('a forged history is found when it %s', async (_, what, forge) => {
    const folder = await auditedFolder();
    forgeLast(folder.path(layout.session(sessionId)), forge);
    expect(findings(await folder.audit()).found[0]).toBe(`damage ${what}`);
  });

  test('a forged history is found when it pins a snapshot that its nodes do not name', async () => {
    const folder = await auditedFolder();
    forgeLast(
      folder.path(layout.session(sessionId)),
      (events) => events,
      (record) => (record.kind === 'snapshot_pinned' ? { ...record, eventIndex: 0 as never } : record),
    );
    expect(findings(await folder.audit()).found[0]).toBe('damage history_inconsistent');
  });

  test('a forged history is found when it refers to a missing node', async () => {
    const folder = await auditedFolder((writer, root) => writer.record(root, { context: { key: 1 } }));
    const nodeId = NodeId.of(derivedBits(['nowhere'], sha256));
    forgeLast(folder.path(layout.session(sessionId)), (events) =>
      edit(events, { scope: { ...events[0]?.scope, nodeId } }),
    );
    expect(findings(await folder.audit()).found[0]).toBe('damage history_inconsistent');
  });

  test('a forged history is found when it repeats a dedupe key', async () => {
    const folder = await auditedFolder((writer, root) => {
      writer.record(root, { context: { key: 1 } });
      writer.record(root, { context: { key: 2 } });
    });
    const earlier = folder.writer.plans.at(-2)?.events ?? [];
    forgeLast(folder.path(layout.session(sessionId)), (events) =>
      earlier.map((event, i) => ({ ...event, eventIndex: events[i]?.eventIndex })),
    );
    expect(findings(await folder.audit()).found[0]).toBe('damage history_inconsistent');
  });
});

function edit(events: readonly SessionEvent[], change: object): readonly unknown[] {
  return events.map((event, i) => (i === events.length - 1 ? { ...event, ...change } : event));
}
