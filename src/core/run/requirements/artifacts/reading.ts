import type { JsonObject } from '../../../json/json-value.ts';
import type { PinnedContract } from '../../../workflow/compiled/compiled-workflow.ts';
import type { HandedArtifact } from '../../handed-in.ts';
import { judgeArtifact, type Objection, ofKind } from '../judge-artifact.ts';
import type { UnreadableArtifact } from '../step-check.ts';

/** What the engine reads from artifacts by itself, whether a step asks for them or not. */
export type ArtifactsRead<Value> = {
  readonly read: readonly Value[];
  readonly unreadable: readonly UnreadableArtifact[];
};

type Reader<Value> = {
  readonly objection: Objection;
  /** `undefined` where there is nothing to take from an artifact, though nothing is wrong with it. */
  readonly take: (value: JsonObject) => Value | undefined;
};

export function readArtifacts<Value>(
  artifacts: readonly HandedArtifact[],
  contract: PinnedContract,
  { objection, take }: Reader<Value>,
): ArtifactsRead<Value> {
  const read: Value[] = [];
  const unreadable: UnreadableArtifact[] = [];
  const { artifactKind } = contract;
  for (const { value } of ofKind(artifacts, artifactKind)) {
    const verdict = judgeArtifact(value, contract, objection);
    if (verdict.kind === 'refused') unreadable.push({ artifactKind, message: verdict.message });
    const taken = verdict.kind === 'accepted' ? take(verdict.value) : undefined;
    if (taken !== undefined) read.push(taken);
  }
  return { read, unreadable };
}
