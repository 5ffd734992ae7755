import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { attempt, OTHER_RUN, ROOT, RUN, SECOND } from '../../../../test/examples/ids.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import {
  type Attempt,
  capabilityObservationId,
  contextId,
  createdNodeId,
  divergenceId,
  gapId,
  outputId,
  preferenceChangeId,
  rootNodeId,
  traceId,
} from './derived-ids.ts';

const first: Attempt = { nodeId: ROOT, attemptId: attempt(0), operation: 'advance' };
const ATTEMPTS: readonly Attempt[] = [
  first,
  { ...first, attemptId: attempt(1) },
  { ...first, operation: 'checkpoint' },
  { ...first, nodeId: SECOND },
];

test('ids are what they were when they were first released', () => {
  enforces('output_id_derived_from_attempt');
  const at = { nodeId: ROOT, place: 0 };
  expect({
    root: rootNodeId(RUN, sha256),
    created: createdNodeId(RUN, first, sha256),
    notes: outputId(first, { payloadKind: 'notes', place: 0 }, sha256),
    artifact: outputId(first, { payloadKind: 'artifact_ref', place: 0 }, sha256),
    gap: gapId(at, sha256),
    trace: traceId(at, sha256),
    context: contextId(ROOT, sha256),
    preferenceChange: preferenceChangeId(at, sha256),
    capabilityObservation: capabilityObservationId(at, sha256),
    divergence: divergenceId(at, sha256),
  }).toEqual({
    root: 'node_fqpzghp70b4a1rvr',
    created: 'node_j37e7rnr7c1w748j',
    notes: 'out_bpnjctsff26gwwwm',
    artifact: 'out_m6z3gytsxb5j3vmd',
    gap: 'gap_46xb26qmesv33zya',
    trace: 'trace_a3mrfkxdz6hy62gq',
    context: 'ctx_njcdp12b23x8w6b8',
    preferenceChange: 'prefchg_m5v8ge1207a2t1zx',
    capabilityObservation: 'capobs_psje93k1sfpqmnw9',
    divergence: 'div_ctq91kj5rnj3qtpw',
  });
});

test('a node follows from run, parent, kind of operation and attempt, and differs with each', () => {
  const ids = [
    rootNodeId(RUN, sha256),
    rootNodeId(OTHER_RUN, sha256),
    ...ATTEMPTS.map((one) => createdNodeId(RUN, one, sha256)),
    createdNodeId(OTHER_RUN, first, sha256),
  ];
  expect(new Set(ids).size).toBe(ids.length);
  expect(createdNodeId(RUN, { ...first }, sha256)).toBe(ids[2]);
});

test('an output follows from node, attempt, kind of operation, kind of payload and place, and differs with each', () => {
  enforces('output_id_derived_from_attempt');
  const ids = ATTEMPTS.flatMap((one) =>
    (['notes', 'artifact_ref'] as const).flatMap((payloadKind) =>
      [0, 1].map((place) => outputId(one, { payloadKind, place }, sha256)),
    ),
  );
  expect(new Set(ids).size).toBe(16);
  expect(outputId({ ...first }, { payloadKind: 'notes', place: 0 }, sha256)).toBe(ids[0]);
});

test.each([
  ['gap', gapId],
  ['trace', traceId],
  ['preference change', preferenceChangeId],
  ['capability observation', capabilityObservationId],
  ['divergence', divergenceId],
])('a %s follows from its node and its place there', (_, idOf) => {
  const ids = [ROOT, SECOND].flatMap((nodeId) => [0, 1].map((place) => idOf({ nodeId, place }, sha256)));
  expect(new Set<string>(ids).size).toBe(4);
  expect(idOf({ nodeId: ROOT, place: 0 }, sha256)).toBe(ids[0]);
});

test('things of different kinds at one place do not share their bits', () => {
  const at = { nodeId: ROOT, place: 0 };
  const ids = [gapId, traceId, preferenceChangeId, capabilityObservationId, divergenceId].map((idOf) =>
    idOf(at, sha256),
  );
  const bodies = [...ids, contextId(ROOT, sha256)].map((id) => id.split('_')[1]);
  expect(new Set(bodies).size).toBe(6);
});
