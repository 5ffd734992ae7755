import fc from 'fast-check';
import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { attempt, digestOf, OTHER_RUN, ROOT, RUN, SECOND, SESSION, TO_SECOND } from '../../../../test/examples/ids.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { applyContextDeltas, type JsonObject } from '../../json/json-value.ts';
import { parseEvent, placeEvents } from '../event.ts';
import { type ArtifactDigest, artifactDigestSchema } from '../ids.ts';
import {
  type ArtifactRef,
  type Attempt,
  capabilityObservationId,
  checkArtifacts,
  contextDelta,
  contextId,
  createdNodeId,
  divergenceId,
  gapId,
  outputDrafts,
  outputId,
  preferenceChangeId,
  rootNodeId,
  type StepOutput,
  traceId,
} from './operation-drafts.ts';

const from = { attempt: TO_SECOND, created: { runId: RUN, nodeId: SECOND } };
const draftsOf = (output: StepOutput) => outputDrafts(output, from, sha256);
const artifact = (name: string, contentType = 'application/json'): ArtifactRef => ({
  sha256: artifactDigestSchema.parse(digestOf(name)),
  contentType,
  byteLength: name.length,
});

test('the note is stored first, then artifacts by digest and content type, each with its own id', () => {
  enforces('output_order_in_one_operation', 'output_id_derived_from_attempt');
  const digest = (fill: string) => `sha256:${fill.repeat(64)}` as ArtifactDigest;
  const [a, b, c] = [
    { sha256: digest('0'), contentType: 'application/json', byteLength: 1 },
    { sha256: digest('0'), contentType: 'text/plain', byteLength: 2 },
    { sha256: digest('1'), contentType: 'application/json', byteLength: 3 },
  ];
  const head = { kind: 'node_output_appended', scope: { runId: RUN, nodeId: SECOND } };
  const stored = (ref: ArtifactRef, place: number) => ({
    ...head,
    data: {
      outputId: outputId(TO_SECOND, { payloadKind: 'artifact_ref', place }, sha256),
      outputChannel: 'artifact',
      payload: { payloadKind: 'artifact_ref', ...ref },
    },
  });
  expect(draftsOf({ notesMarkdown: 'Done.', artifacts: [c, b, a, c] })).toEqual({
    drafts: [
      {
        ...head,
        data: {
          outputId: outputId(TO_SECOND, { payloadKind: 'notes', place: 0 }, sha256),
          outputChannel: 'recap',
          payload: { payloadKind: 'notes', notesMarkdown: 'Done.' },
        },
      },
      stored(a, 0),
      stored(b, 1),
      stored(c, 2),
    ],
    isNoteCut: false,
  });
});

test.each([undefined, ''])('no note (%j) leaves only artifacts', (notesMarkdown) => {
  expect(draftsOf({ notesMarkdown, artifacts: [] })).toEqual({ drafts: [], isNoteCut: false });
  const [only] = draftsOf({ notesMarkdown, artifacts: [artifact('a')] }).drafts;
  expect(only?.data.outputChannel).toBe('artifact');
});

test('a note of 64 KiB is kept whole; a longer one is cut with the marker and reported as cut', () => {
  enforces('notes_kept_whole_to_64k');
  const whole = 'é'.repeat(32_768);
  expect(noteOf(whole)).toEqual([whole, false]);
  expect(noteOf(`${whole}!`)).toEqual([`${'é'.repeat(32_761)}\n\n[TRUNCATED]`, true]);
});

test('a lone surrogate does not refuse the whole note', () => {
  expect(noteOf('a\ud800b')).toEqual(['a\ufffdb', false]);
});

test('outputs are stored in the same order however they are sent', () => {
  enforces('output_id_derived_from_attempt', 'output_order_in_one_operation');
  const refs = fc.array(
    fc.constantFrom('a', 'b', 'c', 'd').map((name) => artifact(name)),
    { maxLength: 8 },
  );
  fc.assert(
    fc.property(refs, fc.string({ unit: 'binary' }), (artifacts, notesMarkdown) => {
      const { drafts } = draftsOf({ notesMarkdown, artifacts });
      expect(draftsOf({ notesMarkdown, artifacts: artifacts.toReversed() }).drafts).toEqual(drafts);
      const events = placeEvents(drafts, { sessionId: SESSION, firstEventIndex: 0 }, sha256);
      expect(events.filter((event) => parseEvent(event).isErr())).toEqual([]);
    }),
  );
});

test('a call may send at most 32 artifacts of at most 256 KiB each', () => {
  expect(checkArtifacts(Array(32).fill(262_144))).toEqual(ok(undefined));
  expect(checkArtifacts([])).toEqual(ok(undefined));
  expect(checkArtifacts(Array(33).fill(1))).toEqual(err({ code: 'too_many_artifacts', count: 33, max: 32 }));
  expect(checkArtifacts([1, 262_145])).toEqual(
    err({ code: 'artifact_too_large', position: 1, bytes: 262_145, bytesMax: 262_144 }),
  );
});

function noteOf(notesMarkdown: string): readonly unknown[] {
  const { drafts, isNoteCut } = draftsOf({ notesMarkdown, artifacts: [] });
  const data = drafts[0]?.data;
  return [data?.outputChannel === 'recap' && data.payload.notesMarkdown, isNoteCut];
}

const MAX = 262_144;
const context: JsonObject = { goal: 'leak', ticket: { id: 7, labels: ['a'] } };

test('a change holds only the keys that really change', () => {
  enforces('context_set_only_on_change');
  expect(contextDelta(context, { goal: 'leak', depth: 2 })).toEqual(
    ok({ delta: { depth: 2 }, context: { ...context, depth: 2 } }),
  );
  expect(contextDelta(context, { ticket: { labels: ['a'], id: 8 } })).toEqual(
    ok({ delta: { ticket: { labels: ['a'], id: 8 } }, context: { goal: 'leak', ticket: { labels: ['a'], id: 8 } } }),
  );
});

test.each([
  ['an empty argument', {}],
  ['the same values', { goal: 'leak', ticket: { labels: ['a'], id: 7 } }],
  ['taking away what is not there', { missing: null }],
])('%s changes nothing, so nothing is written', (_, argument) => {
  enforces('context_set_only_on_change');
  expect(contextDelta(context, argument)).toEqual(ok({ delta: undefined, context }));
});

test('null removes a context key', () => {
  enforces('context_set_shape');
  expect(contextDelta(context, { goal: null })).toEqual(
    ok({ delta: { goal: null }, context: { ticket: { id: 7, labels: ['a'] } } }),
  );
});

test('a null inside a value is a value', () => {
  expect(contextDelta({}, { ticket: { id: null } })).toEqual(
    ok({ delta: { ticket: { id: null } }, context: { ticket: { id: null } } }),
  );
});

test.each([null, 'text', 7, [], undefined])('%j is not a context', (argument) => {
  expect(contextDelta(context, argument)).toEqual(err({ code: 'context_not_object' }));
});

test.each(['__proto__', 'constructor', 'prototype'])('the key %s is refused by name', (key) => {
  const argument = JSON.parse(`{"a":1,"${key}":{}}`);
  expect(contextDelta(context, argument)).toEqual(err({ code: 'context_reserved_key', key }));
});

test('a reserved key is refused at every depth', () => {
  const argument = JSON.parse('{"a":[{"b":{"__proto__":{"polluted":true}}}]}');
  expect(contextDelta(context, argument)).toEqual(err({ code: 'context_reserved_key', key: '__proto__' }));
  expect(contextDelta(context, { a: [{ constructor: 1 }] })).toEqual(
    err({ code: 'context_reserved_key', key: 'constructor' }),
  );
});

test('what is not JSON is refused with its path', () => {
  expect(contextDelta(context, { a: [Number.NaN] })).toEqual(err({ code: 'not_json', offence: 'nan', path: '/a/0' }));
  const cycle: { self?: unknown } = {};
  cycle.self = cycle;
  expect(contextDelta(context, cycle)._unsafeUnwrapErr()).toMatchObject({ code: 'not_json', offence: 'too_deep' });
});

test('an argument may fill the budget; over it the refusal says size, limit and how it was measured', () => {
  expect(contextDelta({}, { t: 'é'.repeat((MAX - 8) / 2) }).isOk()).toBe(true);
  expect(contextDelta({}, { t: 'é'.repeat((MAX - 6) / 2) })).toEqual(
    err({
      code: 'context_too_large',
      part: 'argument',
      bytes: MAX + 2,
      bytesMax: MAX,
      method: 'utf8_bytes_of_rfc_8785_json',
    }),
  );
});

test('a small argument cannot push the whole context over its budget', () => {
  const full: JsonObject = { t: 'x'.repeat(MAX - 8) };
  expect(contextDelta(full, { a: 1 })).toEqual(
    err({
      code: 'context_too_large',
      part: 'whole',
      bytes: MAX + 6,
      bytesMax: MAX,
      method: 'utf8_bytes_of_rfc_8785_json',
    }),
  );
  expect(contextDelta(full, { a: 1, t: null })).toEqual(ok({ delta: { a: 1, t: null }, context: { a: 1 } }));
});

test('context is at most 48 deep', () => {
  const nested = (depth: number) => ({ a: JSON.parse('['.repeat(depth - 1) + ']'.repeat(depth - 1)) });
  expect(contextDelta({}, nested(48)).isOk()).toBe(true);
  expect(contextDelta({}, nested(49))).toEqual(err({ code: 'context_too_deep', depth: 49, depthMax: 48 }));
});

test('applying the change gives the context that was promised, and making it again changes nothing', () => {
  enforces('context_set_only_on_change');
  const key = fc.constantFrom('a', 'b', 'c', 'd');
  const isPlain = (one: unknown) => one !== null && !/__proto__|constructor|prototype/.test(JSON.stringify(one));
  const value = fc.jsonValue({ maxDepth: 2 }).filter(isPlain) as fc.Arbitrary<JsonObject>;
  const before = fc.dictionary(key, value);
  const argument = fc.dictionary(key, fc.option(value));
  fc.assert(
    fc.property(before, argument, (held, sent) => {
      const change = contextDelta(held, sent)._unsafeUnwrap();
      expect(applyContextDeltas(held, [change.delta ?? {}])).toEqual(change.context);
      expect(contextDelta(change.context, sent)).toEqual(ok({ delta: undefined, context: change.context }));
    }),
  );
});

test('the log accepts every context change', () => {
  const { delta } = contextDelta(context, { goal: null, more: [1] })._unsafeUnwrap();
  const [event] = placeEvents(
    [
      {
        kind: 'context_set',
        scope: { runId: RUN, nodeId: ROOT },
        data: { contextId: contextId(ROOT, sha256), context: delta ?? {}, source: 'agent_delta' },
      },
    ],
    { sessionId: SESSION, firstEventIndex: 0 },
    sha256,
  );
  expect(parseEvent(event).isOk()).toBe(true);
});

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
