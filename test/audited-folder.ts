import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { layout } from '../src/adapters/file-store/disk/disk.ts';
import { storeOf } from '../src/adapters/file-store/file-store.ts';
import type { SessionAudit } from '../src/app/ports/upkeep.ts';
import { appendAll } from './contract/store-under-test.ts';
import { SMALL_WORKFLOW } from './examples/compiled.ts';
import { type SessionWriter, sessionWriter, type WrittenNode } from './simulation/session-writer.ts';
import { numberedSession, SMALL_WORKFLOW_TEXT, storeFolder } from './store-folder.ts';

export const sessionId = numberedSession(1);

/** A store with one session in which there is something of everything. */
export async function auditedFolder(extra: (writer: SessionWriter, root: WrittenNode) => void = () => undefined) {
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
    parts: folder,
    writer,
    path,
    manifest: path(layout.manifest(sessionId)),
    segments: readdirSync(path(layout.events(sessionId))).map((name) => path(join(layout.events(sessionId), name))),
    audit: async () => (await store.audit.audit(sessionId))._unsafeUnwrap(),
  };
}

export type AuditedFolder = Awaited<ReturnType<typeof auditedFolder>>;

/** What was found, without the numbers. */
export function findings({ health, findings }: SessionAudit) {
  return { health: health.kind, found: findings.map(({ severity, what }) => `${severity} ${what}`) };
}
