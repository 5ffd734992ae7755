import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { AppendRefusal } from '../../../app/ports/session-store.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import { type CanonicalBytes, canonicalLines } from '../../../core/json/canonical-bytes.ts';
import { sealSnapshot } from '../../../core/log/execution-snapshot.ts';
import { type ManifestRecord, segmentRelPath } from '../../../core/log/manifest.ts';
import { type AppendPlan, manifestRecords, sealPlan } from '../../../core/log/plan/append-plan.ts';
import { checkPlanIntegrity } from '../../../core/log/plan/plan-integrity.ts';
import { knownGraph } from '../../../core/views/known-graph.ts';
import { applyEvent } from '../../../core/views/session-view.ts';
import { putContent } from '../content/content-store.ts';
import { accessing, ensureDir, putFile } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store.ts';
import type { ManifestFiles } from './manifest-files.ts';
import { grownBy, type OpenSession } from './open-session.ts';
import type { Transaction } from './read-manifest.ts';
import type { Granted } from './session-gate.ts';
import { sharingStore } from './store-lock.ts';

type Committing = FileStoreParts & { readonly manifests: ManifestFiles };

/** Makes a plan true: its content first, then the manifest lines that attest it. A crash between leaves nothing. */
export async function commitPlan(
  parts: Committing,
  { session, lock }: Granted,
  { plan, committed }: { readonly plan: AppendPlan; readonly committed: (session: OpenSession) => Promise<void> },
): Promise<Result<OpenSession, AppendRefusal>> {
  const segment = sealPlan(plan, session.position.nextEventIndex);
  if (segment.isErr()) return err(segment.error);
  const integrity = checkPlanIntegrity(knownGraph(session.view), plan.events);
  if (integrity.isErr()) return err(integrity.error);

  const { nextEventIndex: _, offset, ...tail } = session.position;
  const records = manifestRecords(plan, { bytes: segment.value, tail }, parts.sha256);
  const lines = canonicalLines(records);
  assert(lines.isOk(), 'manifest records are JSON');
  return sharingStore(parts, async () => {
    const written = await write(parts, { session, lock, plan, segment: segment.value, lines: lines.value });
    if (written.isErr()) return err(written.error);
    for (const event of plan.events) applyEvent(session.view, event);
    const grown = grownBy(session, behind(records, offset + lines.value.length), lines.value);
    await committed(grown);
    return ok(grown);
  });
}

type Work = Granted & {
  readonly plan: AppendPlan;
  readonly segment: CanonicalBytes;
  readonly lines: CanonicalBytes;
};

async function write(parts: Committing, work: Work): Promise<Result<void, StoreFailure>> {
  const { session, lock, lines } = work;
  const place = layout.session(session.sessionId);
  const content = await accessing('write events', place, () => putContents(parts, work));
  if (content.isErr()) return err(content.error);
  if (!lock.isHeld()) return err({ code: 'io_failed', operation: 'hold lock', place, cause: 'lock_deleted' });
  return parts.manifests.append(session, lines);
}

async function putContents({ disk, sha256 }: FileStoreParts, { plan, segment }: Work): Promise<void> {
  await ensureDir(disk, layout.snapshots);
  if (plan.artifacts.size > 0) await ensureDir(disk, layout.artifacts);
  const puts = await Promise.allSettled([
    ...[...plan.snapshots.values()].map((snapshot) => {
      const { ref, bytes } = sealSnapshot(snapshot, sha256);
      return putContent(disk, layout.snapshot(ref), bytes);
    }),
    ...[...plan.artifacts].map(([digest, bytes]) => putContent(disk, layout.artifact(digest), bytes)),
    putFile(disk, segmentPath(plan), segment),
  ]);
  // All have come to their end first: a late rename would put a segment of this plan in the place of another's.
  const failed = puts.find((put) => put.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function segmentPath({ sessionId, events }: AppendPlan): string {
  const first = events[0];
  const last = events.at(-1);
  assert(first !== undefined && last !== undefined, 'a sealed plan has events');
  return join(layout.session(sessionId), segmentRelPath(first.eventIndex, last.eventIndex));
}

function behind(records: readonly ManifestRecord[], offset: number): Pick<Transaction, 'segment' | 'end'> {
  const [segment] = records;
  const last = records.at(-1);
  assert(segment?.kind === 'segment_closed' && last !== undefined, 'a plan closes one segment');
  const nextManifestIndex = last.manifestIndex + 1;
  return { segment, end: { offset, chain: last.chain, nextManifestIndex, nextEventIndex: segment.lastEventIndex + 1 } };
}
