import { expect, expectTypeOf, test } from 'vitest';
import type {
  ArtifactDigest,
  AttemptId,
  CapabilityObservationId,
  ConditionId,
  ContextId,
  DivergenceId,
  EventId,
  EventIndex,
  GapId,
  LoopId,
  ManifestIndex,
  NodeId,
  OutputId,
  PreferenceChangeId,
  RunId,
  SessionId,
  SnapshotRef,
  StepId,
  StepInstanceKey,
  TraceId,
  WorkflowHash,
  WorkflowId,
} from '../../src/core/log/ids.ts';
import { enforces } from '../enforces.ts';

type Texts = {
  SessionId: SessionId;
  RunId: RunId;
  NodeId: NodeId;
  EventId: EventId;
  WorkflowId: WorkflowId;
  WorkflowHash: WorkflowHash;
  SnapshotRef: SnapshotRef;
  ArtifactDigest: ArtifactDigest;
  OutputId: OutputId;
  GapId: GapId;
  PreferenceChangeId: PreferenceChangeId;
  CapabilityObservationId: CapabilityObservationId;
  DivergenceId: DivergenceId;
  TraceId: TraceId;
  ContextId: ContextId;
  StepId: StepId;
  LoopId: LoopId;
  ConditionId: ConditionId;
  StepInstanceKey: StepInstanceKey;
};
type Numbers = { EventIndex: EventIndex; ManifestIndex: ManifestIndex; AttemptId: AttemptId };

/** For each type, the names of other types, or the primitive, that could be used instead of it. */
type Confusions<Kinds, Primitive> = {
  [one in keyof Kinds]:
    | {
        [other in keyof Kinds]: other extends one ? never : Kinds[other] extends Kinds[one] ? other : never;
      }[keyof Kinds]
    | (Primitive extends Kinds[one] ? 'a bare value' : never);
}[keyof Kinds];

test('the compiler does not accept an id of one kind as another', () => {
  enforces('ids_are_distinct_types');
  expectTypeOf<Confusions<Texts, string>>().toBeNever();
  expectTypeOf<Confusions<Numbers, number>>().toBeNever();
  // @ts-expect-error two names for one type are found
  expectTypeOf<Confusions<{ a: RunId; b: RunId }, string>>().toBeNever();
  // @ts-expect-error a name for any text is found
  expectTypeOf<Confusions<{ a: RunId; b: string }, string>>().toBeNever();
  const takesNode = (nodeId: NodeId) => nodeId;
  const calls = (runId: RunId, index: EventIndex) => [
    // @ts-expect-error a run is not a node
    takesNode(runId),
    // @ts-expect-error a text is not a node
    takesNode('node_0123456789abcdef'),
    // @ts-expect-error a position is not a node
    takesNode(index),
  ];
  expect(calls).toBeTypeOf('function');
});
