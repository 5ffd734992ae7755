import { err, ok, type Result, safeTry } from 'neverthrow';
import { assert, unreachable } from '../../assert.ts';
import {
  type CanonicalBytes,
  canonicalBytes,
  canonicalLines,
  type JsonRefusal,
  type Sha256,
  type Sha256Digest,
} from '../../json/canonical-json.ts';
import { ARTIFACTS_PER_CALL_MAX, PLAN_BYTES_MAX, PLAN_EVENTS_MAX } from '../budgets.ts';
import { type EventKind, type EventRefusal, parseEvent, type SessionEvent } from '../event.ts';
import { type EdgeCause, READ_ONLY_CAUSES } from '../events/graph-events.ts';
import { type ExecutionSnapshot, parseSnapshot } from '../execution-snapshot.ts';
import {
  type ArtifactDigest,
  manifestIndexSchema,
  type SessionId,
  type SnapshotRef,
  type WorkflowHash,
} from '../ids.ts';
import {
  chainOf,
  type LogSignature,
  type LogSigner,
  MANIFEST_VERSION,
  type ManifestRecord,
  type SegmentClosed,
  type SnapshotPinned,
  segmentRelPath,
  signedDigest,
  type Unchained,
} from '../manifest.ts';

/** What one operation adds to a session, all or nothing. */
export type AppendPlan = {
  readonly sessionId: SessionId;
  readonly events: readonly SessionEvent[];
  /** Every snapshot that the plan's nodes refer to. */
  readonly snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>;
  /** The bytes of every artifact that the plan's outputs refer to. */
  readonly artifacts: ReadonlyMap<ArtifactDigest, Uint8Array>;
  /** Workflows that must be pinned when the plan is committed: garbage collection may have run in between. */
  readonly pinned?: readonly WorkflowHash[];
  /** For what was appended elsewhere: the signature that it had there, or null. Default: this store signs. */
  readonly signed?: AppendSignature | null;
};

/** The signature of a recorded append. It holds only after the same history. */
export type AppendSignature = { readonly after: Sha256Digest; readonly sig: LogSignature };

/** The signature of a recorded append that follows a chain value. */
export function signatureAfter(after: Sha256Digest, { sig }: SegmentClosed): AppendSignature | null {
  return sig === undefined ? null : { after, sig };
}

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

/** The bytes of a plan on disk. */
export type SealedPlan = { readonly segment: CanonicalBytes; readonly snapshots: SealedSnapshots };

/** What was sealed, because an import seals a plan to check it and again to write it. */
const sealedPlans = new WeakMap<AppendPlan, { readonly firstEventIndex: number; readonly sealed: SealedPlan }>();

/** The bytes of a plan's segment file and snapshots, after checking that the plan is consistent in itself. */
export function sealPlan(
  plan: AppendPlan,
  firstEventIndex: number,
  hashes: ContentHashes,
): Result<SealedPlan, PlanRefusal> {
  const before = sealedPlans.get(plan);
  if (before?.firstEventIndex === firstEventIndex) return ok(before.sealed);
  return newlySealed(plan, firstEventIndex, hashes).map((sealed) => {
    sealedPlans.set(plan, { firstEventIndex, sealed });
    return sealed;
  });
}

function newlySealed(
  plan: AppendPlan,
  firstEventIndex: number,
  hashes: ContentHashes,
): Result<SealedPlan, PlanRefusal> {
  const refusal = planRefusal(plan, firstEventIndex);
  if (refusal !== undefined) return err(refusal);
  return safeTry(function* () {
    const snapshots = yield* sealContent(plan, hashes);
    const segment = yield* canonicalLines(plan.events);
    if (segment.length > PLAN_BYTES_MAX) return err(tooLarge('bytes', segment.length, PLAN_BYTES_MAX));
    return ok({ segment, snapshots });
  });
}

/** Whether the session already has a plan. The first event decides; a partly known plan is a violation. */
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

/** The manifest records that commit a plan: its segment, then a pin for every snapshot of its nodes. */
export function manifestRecords(
  plan: AppendPlan,
  segment: {
    readonly bytes: CanonicalBytes;
    readonly tail: ManifestTail;
    /** Absent where the store has no keys yet. */
    readonly signer?: LogSigner | undefined;
  },
  sha256: Sha256,
): readonly ManifestRecord[] {
  const first = plan.events[0];
  const last = plan.events.at(-1);
  assert(first !== undefined && last !== undefined, 'a plan has events');
  const nodes = plan.events.filter((event) => event.kind === 'node_created');
  const head = { v: MANIFEST_VERSION, sessionId: plan.sessionId } as const;
  const closed: Omit<SegmentClosed, 'chain'> = {
    ...head,
    kind: 'segment_closed',
    manifestIndex: manifestIndexSchema.parse(segment.tail.nextManifestIndex),
    firstEventIndex: first.eventIndex,
    lastEventIndex: last.eventIndex,
    segmentRelPath: segmentRelPath(first.eventIndex, last.eventIndex),
    sha256: sha256(segment.bytes),
    bytes: segment.bytes.length,
    pins: nodes.length,
  };
  const sig = signatureOf(plan, closed, { ...segment, sha256 });
  const unchained: Unchained[] = [
    sig === undefined ? closed : { ...closed, sig },
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

type Signing = { readonly tail: ManifestTail; readonly signer?: LogSigner | undefined; readonly sha256: Sha256 };

function signatureOf(
  { signed }: AppendPlan,
  closed: Omit<SegmentClosed, 'chain'>,
  { tail, signer, sha256 }: Signing,
): LogSignature | undefined {
  if (signed === undefined) return signer?.sign(signedDigest(tail.chain, closed, sha256));
  return signed?.after === tail.chain ? signed.sig : undefined;
}

function planRefusal(plan: AppendPlan, firstEventIndex: number): PlanRefusal | undefined {
  const { events } = plan;
  if (events[0] === undefined) return { code: 'empty_plan' };
  if (events.length > PLAN_EVENTS_MAX) return tooLarge('events', events.length, PLAN_EVENTS_MAX);
  const artifacts = plan.artifacts.size;
  if (artifacts > ARTIFACTS_PER_CALL_MAX) return tooLarge('artifacts', artifacts, ARTIFACTS_PER_CALL_MAX);
  // An observation may already be recorded while the rest is new, so it cannot identify the plan.
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

/** The hash functions for our documents and for any other bytes. */
export type ContentHashes = {
  readonly sha256: Sha256;
  readonly digestOf: (bytes: Uint8Array) => string;
};

type ContentRefusal =
  | { readonly code: 'missing_snapshot'; readonly snapshotRef: SnapshotRef }
  | { readonly code: 'foreign_snapshot'; readonly snapshotRef: SnapshotRef }
  | { readonly code: 'wrong_snapshot'; readonly snapshotRef: SnapshotRef }
  | { readonly code: 'missing_artifact'; readonly sha256: ArtifactDigest }
  | { readonly code: 'wrong_artifact'; readonly sha256: ArtifactDigest }
  | { readonly code: 'unnamed_content'; readonly name: SnapshotRef | ArtifactDigest };

/** What is wrong with the content that an event refers to. */
function contentRefusal(plan: AppendPlan, event: SessionEvent): ContentRefusal | undefined {
  if (event.kind === 'node_created') {
    const { snapshotRef, workflowHash } = event.data;
    const snapshot = plan.snapshots.get(snapshotRef);
    if (snapshot === undefined) return { code: 'missing_snapshot', snapshotRef };
    if (snapshot.workflowHash !== workflowHash) return { code: 'foreign_snapshot', snapshotRef };
  }
  if (event.kind === 'node_output_appended' && event.data.outputChannel === 'artifact') {
    const { sha256, byteLength } = event.data.payload;
    const bytes = plan.artifacts.get(sha256);
    if (bytes === undefined) return { code: 'missing_artifact', sha256 };
    if (bytes.length !== byteLength) return { code: 'wrong_artifact', sha256 };
  }
  return undefined;
}

/** The bytes of every snapshot of a plan, by its name. */
type SealedSnapshots = ReadonlyMap<SnapshotRef, CanonicalBytes>;

/**
 * Checks the content of a plan against its hashes. Content is shared between sessions, so content under a wrong hash
 * would harm other sessions.
 */
function sealContent(plan: AppendPlan, hashes: ContentHashes): Result<SealedSnapshots, ContentRefusal> {
  const named = noContentRefs();
  for (const event of plan.events) addContentRefs(named, event);
  const sealed = new Map<SnapshotRef, CanonicalBytes>();
  for (const [snapshotRef, snapshot] of plan.snapshots) {
    if (!named.snapshots.has(snapshotRef)) return err({ code: 'unnamed_content', name: snapshotRef });
    const bytes = bytesNamedBy(snapshotRef, snapshot, hashes.sha256);
    if (bytes === undefined) return err({ code: 'wrong_snapshot', snapshotRef });
    sealed.set(snapshotRef, bytes);
  }
  for (const [sha256, bytes] of plan.artifacts) {
    if (!named.artifacts.has(sha256)) return err({ code: 'unnamed_content', name: sha256 });
    if (hashes.digestOf(bytes) !== sha256) return err({ code: 'wrong_artifact', sha256 });
  }
  return ok(sealed);
}

function bytesNamedBy(ref: SnapshotRef, snapshot: ExecutionSnapshot, sha256: Sha256): CanonicalBytes | undefined {
  const bytes = canonicalBytes(snapshot);
  if (bytes.isErr() || sha256(bytes.value) !== (ref as string)) return undefined;
  return parseSnapshot(snapshot).isOk() ? bytes.value : undefined;
}

/** An event that may refer to content. A recorded reply, which views leave out, refers to none. */
export type NamingEvent = Exclude<SessionEvent, { kind: 'advance_recorded' }> | { readonly kind: 'advance_recorded' };

/** Content that events refer to and that must exist as long as they do. */
export type ContentRefs = {
  readonly snapshots: Set<SnapshotRef>;
  /** With the length from the event. */
  readonly artifacts: Map<ArtifactDigest, number>;
  readonly workflows: Set<WorkflowHash>;
};

export function noContentRefs(): ContentRefs {
  return { snapshots: new Set(), artifacts: new Map(), workflows: new Set() };
}

/** Adds the content that an event refers to. */
export function addContentRefs(refs: ContentRefs, event: NamingEvent): void {
  switch (event.kind) {
    case 'run_started':
      refs.workflows.add(event.data.workflowHash);
      break;
    case 'node_created':
      refs.workflows.add(event.data.workflowHash);
      refs.snapshots.add(event.data.snapshotRef);
      break;
    case 'node_output_appended':
      if (event.data.outputChannel === 'artifact') {
        refs.artifacts.set(event.data.payload.sha256, event.data.payload.byteLength);
      }
      break;
    case 'attestation_recorded':
      if (event.data.statement.kind === 'check' && event.data.statement.log !== undefined) {
        refs.artifacts.set(event.data.statement.log.sha256, event.data.statement.log.byteLength);
      }
      break;
    case 'session_created':
    case 'observation_recorded':
    case 'edge_created':
    case 'advance_recorded':
    case 'preferences_changed':
    case 'capability_observed':
    case 'gap_recorded':
    case 'divergence_recorded':
    case 'decision_trace_appended':
    case 'context_set':
    case 'step_skipped':
      break;
    default:
      unreachable(event);
  }
}

/** Whether an append has the pins that its events require: one for each node, in order. */
export function hasItsPins(events: readonly SessionEvent[], pins: readonly SnapshotPinned[]): boolean {
  const nodes = events.filter((event) => event.kind === 'node_created');
  return (
    nodes.length === pins.length &&
    nodes.every(({ eventIndex, eventId, data }, i) => {
      const pin = pins[i];
      return pin?.eventIndex === eventIndex && pin.createdByEventId === eventId && pin.snapshotRef === data.snapshotRef;
    })
  );
}
