import { err, ok, type Result } from 'neverthrow';
import type { JsonValue } from '../json/json-value.ts';
import { jsonValueSchema } from '../log/document-schema.ts';
import type { SessionEvent } from '../log/event.ts';
import type { ExecutionSnapshot } from '../log/execution-snapshot.ts';
import { salvageSchema } from '../log/health.ts';
import { type ArtifactDigest, SessionId, type SnapshotRef, type WorkflowHash } from '../log/ids.ts';
import type { ReportSource } from '../report/build/report-source.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { admitAppend, emptyHistory, type RecordedAppend } from './admit-append.ts';
import { type BundleIndex, indexBundle, readBundleValue } from './bundle-index.ts';
import { type BundleRefusal, broken } from './bundle-refusal.ts';
import type { BundleTools } from './bundle-tools.ts';
import { checkBundle } from './check-bundle.ts';
import { readAppends } from './read-appends.ts';

/** A bundle that is only looked at. */
export type ViewedBundle = {
  /** What can be trusted: all of it, or its start. */
  readonly source: ReportSource;
  /** Why it could not be imported as it is. */
  readonly refusal: BundleRefusal | undefined;
  /** Whether events after those of the source cannot be trusted. */
  readonly isCut: boolean;
};

/**
 * Reads a bundle for a reader who does not import it. Where an import would refuse everything, the start that can be
 * verified is shown, and what is wrong is named.
 */
export function viewBundle(bytes: Uint8Array, tools: BundleTools): Result<ViewedBundle, BundleRefusal> {
  const indexed = indexBundle(bytes, tools);
  if (indexed.isErr()) return err(indexed.error);
  const named = readBundleValue(indexed.value, 'session/sessionId', { schema: SessionId.schema, tools });
  if (named.isErr()) return err(named.error);
  const checked = finish(checkBundle(bytes, tools));
  const { read, refusal } = readStart(indexed.value, named.value, tools);
  const why = refusal ?? (checked.isErr() ? checked.error : undefined);
  if (read.events.length === 0) return err(why ?? broken('not_attested', 'session/events/0'));
  const cut = salvageSchema.parse({ health: 'corrupt_tail', lastEventIndex: read.events.length - 1 });
  const salvage = refusal === undefined ? checked.unwrapOr(undefined)?.salvage : cut;
  return ok({ source: { ...read, salvage, closed: new Map() }, refusal: why, isCut: refusal !== undefined });
}

function finish<Value>(steps: Generator<unknown, Value>): Value {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

type Start = {
  readonly read: Omit<ReportSource, 'salvage' | 'closed'>;
  /** Why the appends after it cannot be trusted. */
  readonly refusal: BundleRefusal | undefined;
};

/** The appends up to the first that cannot be verified. */
function readStart(index: BundleIndex, sessionId: SessionId, tools: BundleTools): Start {
  const history = emptyHistory(sessionId, tools);
  const events: SessionEvent[] = [];
  const snapshots = new Map<SnapshotRef, ExecutionSnapshot>();
  const workflows = new Map<WorkflowHash, CompiledWorkflow>();
  const artifacts = new Map<ArtifactDigest, JsonValue>();
  const read = { sessionId, view: history.view, events, snapshots, workflows, artifacts };
  for (const append of readAppends(index, { sessionId, isChecked: false }, tools)) {
    if (append.isErr()) return { read, refusal: append.error };
    const admitted = admitAppend(history, append.value, tools);
    if (admitted.isErr()) {
      const { reason, at, position } = admitted.error;
      return { read, refusal: broken(reason, `session/${at}/${position}`) };
    }
    keep(append.value);
  }
  return { read, refusal: undefined };

  function keep({ plan, workflows: named }: RecordedAppend): void {
    events.push(...plan.events);
    for (const [ref, snapshot] of plan.snapshots) snapshots.set(ref, snapshot);
    for (const [hash, workflow] of named) workflows.set(hash, workflow);
    for (const [digest, content] of plan.artifacts) {
      const value = tools.parseJson(content).map((json) => jsonValueSchema.safeParse(json));
      if (value.isOk() && value.value.success) artifacts.set(digest, value.value.data);
    }
  }
}
