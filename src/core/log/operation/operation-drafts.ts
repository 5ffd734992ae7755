import { err, ok, type Result } from 'neverthrow';
import { canonicalSize, type JsonRefusal, type Sha256 } from '../../json/canonical-json.ts';
import { applyContextDeltas, isObject, type JsonObject, ownValue, quote } from '../../json/json-value.ts';
import { truncate, utf8Length } from '../../text/utf8.ts';
import {
  ARTIFACT_BYTES_MAX,
  ARTIFACTS_PER_CALL_MAX,
  CONTEXT_BYTES_MAX,
  CONTEXT_DEPTH_MAX,
  NOTE_BYTES_MAX,
} from '../budgets.ts';
import type { DraftOf } from '../event.ts';
import { contextDepth, reservedKeyIn } from '../events/output-events.ts';
import {
  type ArtifactDigest,
  type AttemptId,
  CapabilityObservationId,
  ContextId,
  DivergenceId,
  derivedBits,
  GapId,
  NodeId,
  OutputId,
  PreferenceChangeId,
  type RunId,
  TraceId,
} from '../ids.ts';

/** What an agent sends. Empty notes count as none. */
export type StepOutput = {
  readonly notesMarkdown?: string | undefined;
  readonly artifacts: readonly ArtifactRef[];
};

/** An artifact whose bytes are in the artifact store. */
export type ArtifactRef = {
  readonly sha256: ArtifactDigest;
  readonly contentType: string;
  readonly byteLength: number;
};

export type OutputDrafts = {
  readonly drafts: readonly DraftOf<'node_output_appended'>[];
  /** The reply must say so. */
  readonly isNoteCut: boolean;
};

/** The outputs of one operation: the note first, then artifacts by digest and content type, each once. */
export function outputDrafts(
  output: StepOutput,
  from: { readonly attempt: Attempt; readonly created: { readonly runId: RunId; readonly nodeId: NodeId } },
  sha256: Sha256,
): OutputDrafts {
  // A lone surrogate cannot be stored. Without this, one bad character would refuse the whole note.
  const notes = (output.notesMarkdown ?? '').toWellFormed();
  const head = { kind: 'node_output_appended', scope: from.created } as const;
  const recap = {
    outputId: outputId(from.attempt, { payloadKind: 'notes', place: 0 }, sha256),
    outputChannel: 'recap',
    payload: { payloadKind: 'notes', notesMarkdown: truncate(notes, NOTE_BYTES_MAX) },
  } as const;
  const artifacts = inStoredOrder(output.artifacts).map((artifact, place) => ({
    ...head,
    data: {
      outputId: outputId(from.attempt, { payloadKind: 'artifact_ref', place }, sha256),
      outputChannel: 'artifact' as const,
      payload: { payloadKind: 'artifact_ref' as const, ...artifact },
    },
  }));
  return {
    drafts: [...(notes === '' ? [] : [{ ...head, data: recap }]), ...artifacts],
    isNoteCut: utf8Length(notes) > NOTE_BYTES_MAX,
  };
}

export type ArtifactRefusal =
  | { readonly code: 'too_many_artifacts'; readonly count: number; readonly max: number }
  | {
      readonly code: 'artifact_too_large';
      readonly position: number;
      readonly bytes: number;
      readonly bytesMax: number;
    };

/** Checks the artifacts of one call. One that is too large is refused, never cut: half a JSON document is useless. */
export function checkArtifacts(byteLengths: readonly number[]): Result<void, ArtifactRefusal> {
  if (byteLengths.length > ARTIFACTS_PER_CALL_MAX) {
    return err({ code: 'too_many_artifacts', count: byteLengths.length, max: ARTIFACTS_PER_CALL_MAX });
  }
  const position = byteLengths.findIndex((bytes) => bytes > ARTIFACT_BYTES_MAX);
  const bytes = byteLengths[position];
  if (bytes === undefined) return ok(undefined);
  return err({ code: 'artifact_too_large', position, bytes, bytesMax: ARTIFACT_BYTES_MAX });
}

function inStoredOrder(artifacts: readonly ArtifactRef[]): readonly ArtifactRef[] {
  const byRank = new Map(artifacts.map((artifact) => [`${artifact.sha256} ${artifact.contentType}`, artifact]));
  return [...byRank].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, artifact]) => artifact);
}

/** The effect of a call on a node's context. `delta` is undefined if nothing changes; then nothing is written. */
export type ContextChange = { readonly delta: JsonObject | undefined; readonly context: JsonObject };

export type ContextRefusal =
  | { readonly code: 'context_not_object' }
  | { readonly code: 'context_reserved_key'; readonly key: string }
  | { readonly code: 'context_too_deep'; readonly depth: number; readonly depthMax: number }
  | {
      readonly code: 'context_too_large';
      /** The argument, or the whole context with it. */
      readonly part: 'argument' | 'whole';
      readonly bytes: number;
      readonly bytesMax: number;
      readonly method: 'utf8_bytes_of_rfc_8785_json';
    }
  | JsonRefusal;

/** The change that an argument makes: keys replace, null removes, and values that are already set are left out. */
export function contextDelta(context: JsonObject, argument: unknown): Result<ContextChange, ContextRefusal> {
  return checkArgument(argument).andThen((checked) => {
    // An absent key counts as null: removing it changes nothing.
    const changes = Object.entries(checked).filter(
      ([key, value]) => quote(ownValue(context, key) ?? null) !== quote(value),
    );
    if (changes.length === 0) return ok({ delta: undefined, context });
    const delta = Object.fromEntries(changes);
    const whole = applyContextDeltas(context, [delta]);
    return checkSize('whole', whole).map(() => ({ delta, context: whole }));
  });
}

/** Refuses what can be stored in no run. It is the first thing to look at: everything else takes longer. */
export function checkArgument(argument: unknown): Result<JsonObject, ContextRefusal> {
  if (!isObject(argument)) return err({ code: 'context_not_object' });
  const context = argument;
  return checkSize('argument', context).andThen((): Result<JsonObject, ContextRefusal> => {
    const reserved = reservedKeyIn(context);
    if (reserved !== undefined) return err({ code: 'context_reserved_key', key: reserved });
    const depth = contextDepth(context);
    if (depth > CONTEXT_DEPTH_MAX) return err({ code: 'context_too_deep', depth, depthMax: CONTEXT_DEPTH_MAX });
    return ok(context);
  });
}

function checkSize(part: 'argument' | 'whole', value: unknown): Result<void, ContextRefusal> {
  const size = canonicalSize(value);
  if (size.isErr()) return err(size.error);
  const bytes = size.value;
  if (bytes <= CONTEXT_BYTES_MAX) return ok(undefined);
  const method = 'utf8_bytes_of_rfc_8785_json';
  return err({ code: 'context_too_large', part, bytes, bytesMax: CONTEXT_BYTES_MAX, method });
}

/** Ids of what an operation records. A retry derives the same ids. The session id is not used, because an import may change it. */

/** Operations of an agent at a node. An ack and a checkpoint may both be attempt 0, so the kind is part of every id. */
export type OperationKind = 'advance' | 'checkpoint';

/** One operation at a node. */
export type Attempt = { readonly nodeId: NodeId; readonly attemptId: AttemptId; readonly operation: OperationKind };

/** The position among things of one kind at a node, from 0. */
export type PlaceAtNode = { readonly nodeId: NodeId; readonly place: number };

export function rootNodeId(runId: RunId, sha256: Sha256): NodeId {
  return NodeId.of(derivedBits(['node', runId, null], sha256));
}

/** The node that an attempt creates: a step, a checkpoint or a blocked attempt. */
export function createdNodeId(runId: RunId, attempt: Attempt, sha256: Sha256): NodeId {
  return NodeId.of(derivedBits(['node', runId, ...attemptParts(attempt)], sha256));
}

/** `place` counts the outputs of one payload kind within the attempt, in their stored order. */
export function outputId(
  attempt: Attempt,
  payload: { readonly payloadKind: 'notes' | 'artifact_ref'; readonly place: number },
  sha256: Sha256,
): OutputId {
  return OutputId.of(derivedBits(['output', ...attemptParts(attempt), payload.payloadKind, payload.place], sha256));
}

export const gapId = (at: PlaceAtNode, sha256: Sha256) => GapId.of(bitsAt('gap', at, sha256));
export const traceId = (at: PlaceAtNode, sha256: Sha256) => TraceId.of(bitsAt('trace', at, sha256));
export const preferenceChangeId = (at: PlaceAtNode, sha256: Sha256) =>
  PreferenceChangeId.of(bitsAt('preference_change', at, sha256));
export const capabilityObservationId = (at: PlaceAtNode, sha256: Sha256) =>
  CapabilityObservationId.of(bitsAt('capability_observation', at, sha256));
export const divergenceId = (at: PlaceAtNode, sha256: Sha256) => DivergenceId.of(bitsAt('divergence', at, sha256));
/** A node has at most one delta, so its place is always 0. */
export const contextId = (nodeId: NodeId, sha256: Sha256) =>
  ContextId.of(bitsAt('context', { nodeId, place: 0 }, sha256));

function bitsAt(name: string, { nodeId, place }: PlaceAtNode, sha256: Sha256): Uint8Array {
  return derivedBits([name, nodeId, place], sha256);
}

function attemptParts({ nodeId, operation, attemptId }: Attempt): readonly (string | number)[] {
  return [nodeId, operation, attemptId];
}
