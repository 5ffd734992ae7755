import { join } from 'node:path';
import { err, ok, type Result } from 'neverthrow';
import type { AppendRefusal } from '../../../app/ports/session-store.ts';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { assert } from '../../../core/assert.ts';
import { canonicalLines } from '../../../core/json/canonical-bytes.ts';
import { type ManifestRecord, segmentRelPath } from '../../../core/log/manifest.ts';
import { type AppendPlan, manifestRecords, type SealedPlan, sealPlan } from '../../../core/log/plan/append-plan.ts';
import { checkPlanIntegrity } from '../../../core/log/plan/plan-integrity.ts';
import { applyEvent, knownGraph } from '../../../core/views/session-view.ts';
import { digestOf, putContent } from '../content/content-files.ts';
import { accessing, accessingNow, ensureDir, putFile } from '../disk/disk.ts';
import { layout } from '../disk/layout.ts';
import type { FileStoreParts } from '../file-store-parts.ts';
import type { Growth, ManifestFiles } from './manifest-files.ts';
import type { Transaction } from './read-manifest.ts';
import { grownBy, type OpenSession } from './refresh-session.ts';
import type { Granted } from './session-gate.ts';
import { sharingStore } from './store-lock.ts';

type Committing = FileStoreParts & { readonly manifests: ManifestFiles };

type Commit = {
  readonly plan: AppendPlan;
  /** Caches the grown session before its lines can be read: a reader of those lines would apply the events again. */
  readonly keep: (session: OpenSession) => void;
  /** Called after the commit, with the bytes of the plan's segment. */
  readonly committed: (session: OpenSession, segment: Uint8Array) => Promise<void>;
};

/**
 * Commits a plan: its content first, then the manifest lines that attest it. A crash in between leaves the session
 * unchanged.
 */
export async function commitPlan(
  parts: Committing,
  { session, lock }: Granted,
  { plan, keep, committed }: Commit,
): Promise<Result<OpenSession, AppendRefusal>> {
  const sealed = sealPlan(plan, session.position.nextEventIndex, { sha256: parts.sha256, digestOf });
  if (sealed.isErr()) return err(sealed.error);
  const integrity = checkPlanIntegrity(knownGraph(session.view), plan.events);
  if (integrity.isErr()) return err(integrity.error);

  const { nextEventIndex: _, offset, ...tail } = session.position;
  const records = manifestRecords(plan, { bytes: sealed.value.segment, tail }, parts.sha256);
  const lines = canonicalLines(records);
  assert(lines.isOk(), 'manifest records are JSON');
  const shared = await sharingStore<Result<OpenSession, AppendRefusal>>(parts, async () => {
    const unpinned = findUnpinned(parts, plan);
    if (unpinned.isErr()) return err(unpinned.error);
    if (unpinned.value !== undefined) return ok(err({ code: 'workflow_not_pinned', workflowHash: unpinned.value }));
    const transaction = transactionOf(records, offset + lines.value.length);
    let grown = session;
    const growth = {
      lines: lines.value,
      nextEventIndex: transaction.end.nextEventIndex,
      onFlushed: () => {
        for (const event of plan.events) applyEvent(session.view, event);
        grown = grownBy(session, transaction, lines.value);
        keep(grown);
      },
    };
    const written = await write(parts, { session, lock, plan, sealed: sealed.value, growth });
    if (written.isErr()) return err(written.error);
    await committed(grown, sealed.value.segment);
    return ok(ok(grown));
  });
  return shared.isErr() ? err(shared.error) : shared.value;
}

/** Collection cannot run while the store is shared, so what exists now stays. */
function findUnpinned({ disk }: FileStoreParts, { pinned = [] }: AppendPlan) {
  return accessingNow('find workflow', layout.pinnedWorkflows, () =>
    pinned.find((hash) => disk.fs.size(join(disk.root, layout.pinnedWorkflow(hash))) === undefined),
  );
}

type Work = Granted & {
  readonly plan: AppendPlan;
  readonly sealed: SealedPlan;
  readonly growth: Growth;
};

async function write(parts: Committing, work: Work): Promise<Result<void, StoreFailure>> {
  const { session, lock, growth } = work;
  const place = layout.session(session.sessionId);
  const content = await accessing('write events', place, () => putContents(parts, work));
  if (content.isErr()) return err(content.error);
  if (!lock.isHeld()) return err({ code: 'lock_lost', place });
  return parts.manifests.append(session, growth);
}

async function putContents({ disk }: FileStoreParts, { plan, sealed }: Work): Promise<void> {
  await ensureDir(disk, layout.snapshots);
  if (plan.artifacts.size > 0) await ensureDir(disk, layout.artifacts);
  const puts = await Promise.allSettled([
    ...[...sealed.snapshots].map(([ref, bytes]) =>
      putContent(disk, { path: layout.snapshot(ref), digest: ref }, bytes),
    ),
    ...[...plan.artifacts].map(([digest, bytes]) => putContent(disk, { path: layout.artifact(digest), digest }, bytes)),
    putFile(disk, segmentPath(plan), sealed.segment),
  ]);
  // Waits for all of them first: a late rename would replace a segment of another plan.
  const failed = puts.find((put) => put.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

function segmentPath({ sessionId, events }: AppendPlan): string {
  const first = events[0];
  const last = events.at(-1);
  assert(first !== undefined && last !== undefined, 'a sealed plan has events');
  return join(layout.session(sessionId), segmentRelPath(first.eventIndex, last.eventIndex));
}

function transactionOf(records: readonly ManifestRecord[], offset: number): Pick<Transaction, 'segment' | 'end'> {
  const [segment] = records;
  const last = records.at(-1);
  assert(segment?.kind === 'segment_closed' && last !== undefined, 'a plan closes one segment');
  const nextManifestIndex = last.manifestIndex + 1;
  return { segment, end: { offset, chain: last.chain, nextManifestIndex, nextEventIndex: segment.lastEventIndex + 1 } };
}
