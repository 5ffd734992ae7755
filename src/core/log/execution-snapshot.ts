import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { type CanonicalBytes, canonicalLength, ownJsonBytes, type Sha256 } from '../json/canonical-json.ts';
import { isObject } from '../json/json-value.ts';
import { LOOP_ITEMS_BYTES_MAX } from './budgets.ts';
import { jsonValueSchema, labelOf, parseDocument, type SchemaRefusal } from './document-schema.ts';
import {
  type LoopPath,
  loopIdSchema,
  loopPathSchema,
  type SnapshotRef,
  stepIdSchema,
  stepInstanceKey,
  stepInstanceKeySchema,
  workflowHashSchema,
} from './ids.ts';

const SNAPSHOT_VERSION = 1;
const ENGINE_PAYLOAD_VERSION = 1;

/** An open loop. Its items are read once, on entry, so that a later change of context does not affect it. */
const loopFrameSchema = z
  .object({
    loopId: loopIdSchema,
    iteration: z.int().min(0),
    bodyIndex: z.int().min(0),
    items: z
      .array(jsonValueSchema)
      .refine((items) => canonicalLength(items) <= LOOP_ITEMS_BYTES_MAX, {
        error: `items must take at most ${LOOP_ITEMS_BYTES_MAX} bytes as canonical JSON`,
      })
      .optional(),
    count: z.int().min(0).optional(),
    /** The decision of this iteration; the next one starts without. */
    decision: z.enum(['continue', 'stop']).optional(),
  })
  .refine(
    ({ iteration, items, count }) => [items?.length, count].every((end) => end === undefined || iteration < end),
    {
      path: ['iteration'],
      error: 'an open loop must be at one of its items',
    },
  );
export type LoopFrame = z.infer<typeof loopFrameSchema>;

const pendingStepSchema = z.object({ stepId: stepIdSchema, loopPath: loopPathSchema });
export type PendingStep = z.infer<typeof pendingStepSchema>;

const pendingSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('none') }),
  z.object({ kind: z.literal('some'), step: pendingStepSchema }),
]);

const completedSchema = z.object({
  kind: z.literal('set'),
  values: z
    .array(stepInstanceKeySchema)
    .refine((keys) => keys.every((key, i) => i === 0 || (keys[i - 1] ?? '') < key), {
      error: 'completed step instances must be sorted, each once',
    }),
});

const runningStateSchema = z
  .object({
    kind: z.literal('running'),
    /** Position in the compiled list of top-level entries; it only moves forward. */
    cursor: z.int().min(0),
    /** Completed steps in open iterations only: the cursor covers the top level, and ended iterations are dropped. */
    completed: completedSchema,
    loopStack: z.array(loopFrameSchema),
    pending: pendingSchema,
  })
  .refine(({ loopStack }) => new Set(loopStack.map(({ loopId }) => loopId)).size === loopStack.length, {
    path: ['loopStack'],
    error: 'a loop can be open only once',
  })
  .refine(({ pending, loopStack }) => pending.kind === 'none' || isSamePath(pending.step.loopPath, loopStack), {
    path: ['pending', 'step', 'loopPath'],
    error: 'the path of the pending step must equal the loop stack',
  })
  .refine(
    ({ pending, completed }) =>
      pending.kind === 'none' ||
      !completed.values.includes(stepInstanceKey(pending.step.stepId, pending.step.loopPath)),
    { path: ['completed'], error: 'the pending step must not be completed' },
  )
  .refine(({ completed, loopStack }) => completed.values.every((key) => isInOpenScope(key, loopStack)), {
    path: ['completed'],
    error: 'completed step instances must belong to an open iteration of a loop',
  });

/** The interpreter's state. `init`: no step selected yet. */
const engineStateSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('init') }),
  runningStateSchema,
  z.object({ kind: z.literal('complete') }),
]);
export type EngineState = z.infer<typeof engineStateSchema>;

/** What is needed to continue from a node, and nothing that can be derived. */
export const executionSnapshotSchema = z.object({
  v: z.literal(SNAPSHOT_VERSION),
  kind: z.literal('execution_snapshot'),
  workflowHash: workflowHashSchema,
  enginePayload: z.object({ v: z.literal(ENGINE_PAYLOAD_VERSION), state: engineStateSchema }),
});
export type ExecutionSnapshot = z.infer<typeof executionSnapshotSchema>;

export type SnapshotRefusal =
  | { readonly code: 'unknown_version'; readonly part: 'snapshot' | 'engine'; readonly version: unknown }
  | SchemaRefusal;

export function parseSnapshot(value: unknown): Result<ExecutionSnapshot, SnapshotRefusal> {
  if (isObject(value) && parsed.has(value)) return ok(value as unknown as ExecutionSnapshot);
  const outer = labelOf(value, ['v']);
  if (outer.isErr()) return err(outer.error);
  if (outer.value.v !== SNAPSHOT_VERSION) {
    return err({ code: 'unknown_version', part: 'snapshot', version: outer.value.v });
  }
  // The inner version has a meaning only in an outer version that we know.
  const inner = labelOf((outer.value as { readonly enginePayload?: unknown }).enginePayload, ['v']);
  if (inner.isErr()) return err({ ...inner.error, path: `/enginePayload${inner.error.path}` });
  if (inner.value.v !== ENGINE_PAYLOAD_VERSION) {
    return err({ code: 'unknown_version', part: 'engine', version: inner.value.v });
  }
  return parseDocument(executionSnapshotSchema, value).map(takeSnapshotAsParsed);
}

/** Snapshots that were parsed. Nothing changes a snapshot, so none is checked twice on its way into a log. */
const parsed = new WeakSet<object>();

/** Takes a snapshot for parsed that was read again from bytes which were parsed before. */
export function takeSnapshotAsParsed(value: unknown): ExecutionSnapshot {
  const snapshot = value as ExecutionSnapshot;
  parsed.add(snapshot);
  return snapshot;
}

/** The bytes of a snapshot and their hash, which is its name. */
export function sealSnapshot(
  snapshot: ExecutionSnapshot,
  sha256: Sha256,
): { readonly ref: SnapshotRef; readonly bytes: CanonicalBytes } {
  const bytes = ownJsonBytes(snapshot);
  return { ref: sha256(bytes) as string as SnapshotRef, bytes };
}

/** The snapshot of one workflow in one state. */
export function executionSnapshot(
  workflowHash: ExecutionSnapshot['workflowHash'],
  state: EngineState,
): ExecutionSnapshot {
  return {
    v: SNAPSHOT_VERSION,
    kind: 'execution_snapshot',
    workflowHash,
    enginePayload: { v: ENGINE_PAYLOAD_VERSION, state },
  };
}

export function isComplete(snapshot: ExecutionSnapshot): boolean {
  return snapshot.enginePayload.state.kind === 'complete';
}

export function pendingStep(snapshot: ExecutionSnapshot): PendingStep | undefined {
  const { state } = snapshot.enginePayload;
  return state.kind === 'running' && state.pending.kind === 'some' ? state.pending.step : undefined;
}

function isSamePath(path: LoopPath, stack: readonly LoopFrame[]): boolean {
  return (
    path.length === stack.length &&
    path.every(({ loopId, iteration }, i) => stack[i]?.loopId === loopId && stack[i]?.iteration === iteration)
  );
}

/** Whether a step instance belongs to an open iteration. Top-level steps do not: the cursor covers them, so snapshots do not grow. */
export function isInOpenScope(key: string, stack: readonly LoopFrame[]): boolean {
  const path = stack.map(({ loopId, iteration }) => `${loopId}@${iteration}`);
  return path.some((_, depth) => key.startsWith(`${path.slice(0, depth + 1).join('/')}::`));
}
