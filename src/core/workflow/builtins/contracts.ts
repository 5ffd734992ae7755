import { nearestId } from '../../text/spelling.ts';
import { assessmentArtifact } from './assessment-contract.ts';
import type { Contract } from './contract.ts';
import * as handoffs from './handoff-contracts.ts';
import * as reports from './report-contracts.ts';
import {
  capabilityObservation,
  coordinatorSignal,
  gateVerdict,
  loopControl,
  workflowDivergence,
} from './run-contracts.ts';

/** A closed set of built-ins. What is not in it does not exist; a name that comes close is suggested. */
export type Registry<Builtin> = {
  /** In the order of their ids. */
  readonly all: readonly Builtin[];
  readonly ids: readonly string[];
  readonly find: (id: string) => Builtin | undefined;
  readonly nearestId: (id: string) => string | undefined;
};

export const contracts = registry<Contract>(
  [
    assessmentArtifact,
    capabilityObservation,
    coordinatorSignal,
    gateVerdict,
    loopControl,
    workflowDivergence,
    ...Object.values(handoffs),
    ...Object.values(reports),
  ],
  ({ contractRef }) => contractRef,
);

/** The contract that an artifact of this kind answers. */
export function contractOfKind(artifactKind: string): Contract | undefined {
  return contracts.all.find((contract) => contract.artifactKind === artifactKind);
}

export function registry<Builtin>(members: readonly Builtin[], idOf: (member: Builtin) => string): Registry<Builtin> {
  const all = members.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1));
  const byId = new Map(all.map((member) => [idOf(member), member]));
  const ids = [...byId.keys()];
  return { all, ids, find: (id) => byId.get(id), nearestId: (id) => nearestId(id, ids) };
}
