import { err, ok, type Result } from 'neverthrow';
import { assert } from '../../assert.ts';
import { type CanonicalBytes, canonicalLines, type Sha256, type Sha256Digest } from '../../json/canonical-bytes.ts';
import type { JsonRefusal } from '../../json/canonical-json.ts';
import { ARTIFACTS_PER_CALL_MAX, PLAN_BYTES_MAX, PLAN_EVENTS_MAX } from '../budgets.ts';
import { type EventKind, type EventRefusal, parseEvent, type SessionEvent } from '../event.ts';
import { type EdgeCause, READ_ONLY_CAUSES } from '../events/edge-created.ts';
import type { ExecutionSnapshot } from '../execution-snapshot.ts';
import {
  type ArtifactDigest,
  manifestIndexSchema,
  type SessionId,
  type SnapshotRef,
  type WorkflowHash,
} from '../ids.ts';
import { chainOf, MANIFEST_VERSION, type ManifestRecord, segmentRelPath, type Unchained } from '../manifest.ts';
import {
  type ContentHashes,
  type ContentRefusal,
  contentRefusal,
  type SealedSnapshots,
  sealContent,
} from './plan-content.ts';

/** What one operation adds: all of it becomes true, or nothing does. */
export type AppendPlan = {
  readonly sessionId: SessionId;
  readonly events: readonly SessionEvent[];
  /** Every snapshot that the plan's nodes name. */
  readonly snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>;
  /** Bytes of every artifact that the plan's outputs name. */
  readonly artifacts: ReadonlyMap<ArtifactDigest, Uint8Array>;
  /** Workflows that must lie pinned when the plan becomes true: collection may have come since they were. */
  readonly pinned?: readonly WorkflowHash[];
};

type Measure = 'events' | 'bytes' | 'artifacts';

export type PlanRefusal =
  | { readonly code: 'empty_plan' }
  | {
      readonly code: 'plan_too_large';
      readonly measure: Measure;
      readonly size: number;
      readonly max: number;
    }
  | { readonly code: 'observation_first' }
  | { readonly code: 'not_contiguous'; readonly position: number }
  | { readonly code: 'foreign_session'; readonly position: number }
  | { readonly code: 'repeated_dedupe_key'; readonly dedupeKey: string }
  | { readonly code: 'cause_never_written'; readonly position: number; readonly cause: EdgeCause }
  | { readonly code: 'wrong_event'; readonly position: number; readonly kind: EventKind; readonly cause: EventRefusal }
  | ContentRefusal
  | JsonRefusal;

/** What a plan is on the disk. */
export type SealedPlan = { readonly segment: CanonicalBytes; readonly snapshots: SealedSnapshots };

/** The bytes of a plan's segment file and of its snapshots, once the plan is found sound in itself. */
export function sealPlan(
  plan: AppendPlan,
  firstEventIndex: number,
  hashes: ContentHashes,
): Result<SealedPlan, PlanRefusal> {
  const refusal = planRefusal(plan, firstEventIndex);
  if (refusal !== undefined) return err(refusal);
  const snapshots = sealContent(plan, hashes);
  if (snapshots.isErr()) return err(snapshots.error);
  const segment = canonicalLines(plan.events);
  if (segment.isErr()) return err(segment.error);
  const { length } = segment.value;
  if (length > PLAN_BYTES_MAX) return err(tooLarge('bytes', length, PLAN_BYTES_MAX));
  return ok({ segment: segment.value, snapshots: snapshots.value });
}

/** Whether the session already holds a plan. The first event decides; a plan known in part is a violation. */
export type PlanNovelty =
  | { readonly kind: 'new' }
  | { readonly kind: 'known' }
  | { readonly kind: 'half_known'; readonly dedupeKey: string };

export function planNovelty(plan: AppendPlan, knownKeys: { has(key: string): boolean }): PlanNovelty {
  const [first, ...rest] = plan.events;
  const isFirstKnown = first !== undefined && knownKeys.has(first.dedupeKey);
  const odd = rest.find(({ dedupeKey }) => knownKeys.has(dedupeKey) !== isFirstKnown);
  if (odd !== undefined) return { kind: 'half_known', dedupeKey: odd.dedupeKey };
  return { kind: isFirstKnown ? 'known' : 'new' };
}

export type ManifestTail = { readonly nextManifestIndex: number; readonly chain: Sha256Digest };

/** The manifest records that commit a plan: its segment, then a pin for every snapshot its nodes name. */
export function manifestRecords(
  plan: AppendPlan,
  segment: { readonly bytes: CanonicalBytes; readonly tail: ManifestTail },
  sha256: Sha256,
): readonly ManifestRecord[] {
  const first = plan.events[0];
  const last = plan.events.at(-1);
  assert(first !== undefined && last !== undefined, 'a plan has events');
  const nodes = plan.events.filter((event) => event.kind === 'node_created');
  const head = { v: MANIFEST_VERSION, sessionId: plan.sessionId } as const;
  const unchained: Unchained[] = [
    {
      ...head,
      kind: 'segment_closed',
      manifestIndex: manifestIndexSchema.parse(segment.tail.nextManifestIndex),
      firstEventIndex: first.eventIndex,
      lastEventIndex: last.eventIndex,
      segmentRelPath: segmentRelPath(first.eventIndex, last.eventIndex),
      sha256: sha256(segment.bytes),
      bytes: segment.bytes.length,
      pins: nodes.length,
    },
    ...nodes.map((node, i) => ({
      ...head,
      kind: 'snapshot_pinned' as const,
      manifestIndex: manifestIndexSchema.parse(segment.tail.nextManifestIndex + 1 + i),
      eventIndex: node.eventIndex,
      snapshotRef: node.data.snapshotRef,
      createdByEventId: node.eventId,
    })),
  ];
  let chain = segment.tail.chain;
  return unchained.map((record) => {
    chain = chainOf(chain, record, sha256);
    return { ...record, chain };
  });
}

function planRefusal(plan: AppendPlan, firstEventIndex: number): PlanRefusal | undefined {
  const { events } = plan;
  if (events[0] === undefined) return { code: 'empty_plan' };
  if (events.length > PLAN_EVENTS_MAX) return tooLarge('events', events.length, PLAN_EVENTS_MAX);
  const artifacts = plan.artifacts.size;
  if (artifacts > ARTIFACTS_PER_CALL_MAX) return tooLarge('artifacts', artifacts, ARTIFACTS_PER_CALL_MAX);
  // An observation may be recorded already while the rest is new, so it cannot speak for the plan.
  if (events[0].kind === 'observation_recorded') return { code: 'observation_first' };

  const keys = new Set<string>();
  for (const [position, event] of events.entries()) {
    if (event.eventIndex !== firstEventIndex + position) return { code: 'not_contiguous', position };
    if (event.sessionId !== plan.sessionId) return { code: 'foreign_session', position };
    if (keys.has(event.dedupeKey)) return { code: 'repeated_dedupe_key', dedupeKey: event.dedupeKey };
    keys.add(event.dedupeKey);
    const parsed = parseEvent(event);
    if (parsed.isErr()) return { code: 'wrong_event', position, kind: event.kind, cause: parsed.error };
    if (event.kind === 'edge_created' && READ_ONLY_CAUSES.includes(event.data.cause.kind)) {
      return { code: 'cause_never_written', position, cause: event.data.cause.kind };
    }
    const wrong = contentRefusal(plan, event);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function tooLarge(measure: Measure, size: number, max: number): PlanRefusal {
  return { code: 'plan_too_large', measure, size, max };
}
