import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { ARTIFACTS, OTHER_SESSION, SESSION } from '../../../../test/examples/ids.ts';
import { examplePlan, PLAN_NAMES, PLANS, SESSION_EVENTS } from '../../../../test/examples/session.ts';
import { HASHES, sha256 } from '../../../../test/examples/sha256.ts';
import { withValue } from '../../../../test/examples/single-field-changes.ts';
import { SNAPSHOTS_BY_REF } from '../../../../test/examples/snapshots.ts';
import { canonicalLines } from '../../json/canonical-json.ts';
import { parseEvent, type SessionEvent } from '../event.ts';
import { sealSnapshot } from '../execution-snapshot.ts';
import { eventIndexSchema, workflowHashSchema } from '../ids.ts';
import { chainGenesis } from '../manifest.ts';
import { type AppendPlan, manifestRecords, type PlanRefusal, planNovelty, sealPlan } from './append-plan.ts';

const { start, advance, block } = PLANS;
const firstIndexOf = (plan: AppendPlan) => Number(plan.events[0]?.eventIndex);
const tail = { nextManifestIndex: 4, chain: chainGenesis(SESSION, sha256) };

test.each(PLAN_NAMES)(
  'the plan "%s" is stored as its events, a line of canonical JSON each, and its snapshots',
  (name) => {
    const plan = PLANS[name];
    expect(sealPlan(plan, firstIndexOf(plan), HASHES)).toEqual(
      canonicalLines(plan.events).map((segment) => ({ segment, snapshots: sealedSnapshots(plan) })),
    );
  },
);

test('a plan without events is refused', () => {
  expect(sealPlan(examplePlan([]), 0, HASHES)).toEqual(err({ code: 'empty_plan' }));
});

test('a plan of 1,000 events is accepted and one of 1,001 is refused', () => {
  const skips = (count: number): AppendPlan => examplePlan(Array.from({ length: count }, (_, i) => skipped(i)));
  expect(sealPlan(skips(1_000), 0, HASHES).isOk()).toBe(true);
  expect(sealPlan(skips(1_001), 0, HASHES)).toEqual(
    err({ code: 'plan_too_large', measure: 'events', size: 1_001, max: 1_000 }),
  );
});

test('a plan of more than 8 MiB is refused with its size', () => {
  const event = advance.events[0];
  if (event?.kind !== 'advance_recorded') expect.fail('an advance comes first');
  const withReply = (length: number) =>
    examplePlan([{ ...event, data: { ...event.data, reply: { text: ['x'.repeat(length)], structured: {} } } }]);
  const overhead = sealPlan(withReply(1), firstIndexOf(advance), HASHES)._unsafeUnwrap().segment.length - 1;
  const max = 8 * 1024 * 1024;
  expect(sealPlan(withReply(max - overhead), firstIndexOf(advance), HASHES).isOk()).toBe(true);
  expect(sealPlan(withReply(max - overhead + 1), firstIndexOf(advance), HASHES)).toEqual(
    err({ code: 'plan_too_large', measure: 'bytes', size: max + 1, max }),
  );
});

test('an observation cannot come first, because it would decide whether the plan is known', () => {
  const observations = start.events.filter(({ kind }) => kind === 'observation_recorded');
  expect(sealPlan(examplePlan(observations), firstIndexOf(examplePlan(observations)), HASHES)).toEqual(
    err({ code: 'observation_first' }),
  );
});

test.each<[string, readonly SessionEvent[], number, PlanRefusal]>([
  ['begin where the log ends', start.events, 1, { code: 'not_contiguous', position: 0 }],
  ['leave no gap', start.events.toSpliced(2, 1), 0, { code: 'not_contiguous', position: 2 }],
  [
    'belong to one session',
    start.events.with(1, { ...at(1), sessionId: OTHER_SESSION }),
    0,
    { code: 'foreign_session', position: 1 },
  ],
  [
    'have different keys',
    start.events.with(3, { ...at(2), eventIndex: at(3).eventIndex }),
    0,
    { code: 'repeated_dedupe_key', dedupeKey: at(2).dedupeKey },
  ],
  [
    'have the shape of their kind',
    start.events.with(2, { ...at(2), data: { ...at(2).data, nodeKind: 'fork' } } as unknown as SessionEvent),
    0,
    {
      code: 'wrong_event',
      position: 2,
      kind: 'node_created',
      cause: { code: 'unknown_version', version: 'data.nodeKind fork' },
    },
  ],
  [
    'have their own keys',
    start.events.with(1, { ...at(1), dedupeKey: 'run_started:x' }),
    0,
    {
      code: 'wrong_event',
      position: 1,
      kind: 'run_started',
      cause: { code: 'wrong_dedupe_key', dedupeKey: 'run_started:x' },
    },
  ],
])('the events of a plan must %s', (...[, events, firstEventIndex, refusal]) => {
  expect(sealPlan(examplePlan(events), firstEventIndex, HASHES)).toEqual(err(refusal));
});

test('a plan must contain every snapshot of its nodes', () => {
  enforces('node_snapshot_is_pinned');
  const [, , node] = start.events;
  if (node?.kind !== 'node_created') expect.fail('the root comes third');
  const { snapshotRef } = node.data;
  const snapshots = new Map([...SNAPSHOTS_BY_REF].filter(([ref]) => ref !== snapshotRef));
  expect(sealPlan({ ...start, snapshots }, 0, HASHES)).toEqual(err({ code: 'missing_snapshot', snapshotRef }));
});

test('a snapshot of another workflow than its node has is refused', () => {
  const node = start.events.find((event) => event.kind === 'node_created') ?? expect.fail('a root');
  const { snapshotRef } = node.data;
  const workflowHash = workflowHashSchema.parse(`sha256:${'0'.repeat(64)}`);
  const snapshots = new Map([...start.snapshots].map(([ref, snapshot]) => [ref, { ...snapshot, workflowHash }]));
  expect(sealPlan({ ...start, snapshots }, 0, HASHES)).toEqual(err({ code: 'foreign_snapshot', snapshotRef }));
});

test.each(['intentional_fork', 'idempotent_replay'] as const)('an edge that says %s is never written', (cause) => {
  enforces('edge_cause_kind_closed', 'edge_cause_intentional_fork_only_asked');
  const position = advance.events.findIndex(({ kind }) => kind === 'edge_created');
  const edge = withValue(advance.events[position], '/data/cause/kind', cause) as SessionEvent;
  expect(parseEvent(edge).isOk()).toBe(true);
  expect(sealPlan(examplePlan(advance.events.with(position, edge)), firstIndexOf(advance), HASHES)).toEqual(
    err({ code: 'cause_never_written', position, cause }),
  );
});

test('a plan must contain every artifact of its outputs', () => {
  const [sha] = ARTIFACTS.keys();
  const artifacts = new Map([...advance.artifacts].filter(([digest]) => digest !== sha));
  expect(sealPlan({ ...advance, artifacts }, firstIndexOf(advance), HASHES)).toEqual(
    err({ code: 'missing_artifact', sha256: sha }),
  );
});

test('what is not JSON cannot be sealed, even in a field that no schema knows', () => {
  enforces('canonical_json_refuses_non_json');
  const events = start.events.with(0, { ...at(0), ...{ later: Number.NaN } });
  expect(sealPlan(examplePlan(events), 0, HASHES)).toEqual(err({ code: 'not_json', offence: 'nan', path: '/later' }));
});

test('a plan whose first event is known adds nothing', () => {
  enforces('dedupe_repeat_is_noop');
  const known = new Set(SESSION_EVENTS.map(({ dedupeKey }) => dedupeKey));
  expect(PLAN_NAMES.map((name) => planNovelty(PLANS[name], known))).toEqual(PLAN_NAMES.map(() => ({ kind: 'known' })));
  expect(planNovelty(block, new Set(start.events.map(({ dedupeKey }) => dedupeKey)))).toEqual({ kind: 'new' });
});

test('a plan that is only partly in the session is a violation', () => {
  enforces('dedupe_half_known_plan_is_violation');
  const keys = block.events.map(({ dedupeKey }) => dedupeKey);
  const [first = '', second = '', third = ''] = keys;
  expect(planNovelty(block, new Set([first]))).toEqual({ kind: 'half_known', dedupeKey: second });
  expect(planNovelty(block, new Set([first, second]))).toEqual({ kind: 'half_known', dedupeKey: third });
  expect(planNovelty(block, new Set([third]))).toEqual({ kind: 'half_known', dedupeKey: third });
  expect(planNovelty(block, new Set([second, third]))).toEqual({ kind: 'half_known', dedupeKey: second });
});

test('a plan is committed by one segment record and a pin for each of its nodes', () => {
  enforces('node_snapshot_is_pinned', 'segment_closed_fields', 'snapshot_pinned_fields', 'manifest_index_own_sequence');
  const { segment: bytes } = sealPlan(start, 0, HASHES)._unsafeUnwrap();
  const node = start.events.find((event) => event.kind === 'node_created') ?? expect.fail('a root');
  const records = manifestRecords(start, { bytes, tail }, sha256);
  expect(records.map(({ chain: _, ...record }) => record)).toEqual([
    {
      v: 1,
      sessionId: SESSION,
      kind: 'segment_closed',
      manifestIndex: 4,
      firstEventIndex: 0,
      lastEventIndex: start.events.length - 1,
      segmentRelPath: 'events/00000000-00000009.jsonl',
      sha256: sha256(bytes),
      bytes: bytes.length,
      pins: 1,
    },
    {
      v: 1,
      sessionId: SESSION,
      kind: 'snapshot_pinned',
      manifestIndex: 5,
      eventIndex: node.eventIndex,
      snapshotRef: node.data.snapshotRef,
      createdByEventId: node.eventId,
    },
  ]);
});

test('every node of the example session has its snapshot pinned, a snapshot used again once more', () => {
  enforces('node_snapshot_is_pinned');
  for (const name of PLAN_NAMES) {
    const plan = PLANS[name];
    const { segment: bytes } = sealPlan(plan, firstIndexOf(plan), HASHES)._unsafeUnwrap();
    const [segment, ...pins] = manifestRecords(plan, { bytes, tail }, sha256);
    const nodes = plan.events.filter((event) => event.kind === 'node_created');
    expect(pins.map((pin) => pin.kind === 'snapshot_pinned' && [pin.eventIndex, pin.snapshotRef])).toEqual(
      nodes.map((node) => [node.eventIndex, node.data.snapshotRef]),
    );
    expect(segment?.kind === 'segment_closed' && segment.pins).toBe(nodes.length);
  }
});

function at(position: number): SessionEvent {
  return start.events[position] ?? expect.fail(`no event at ${position}`);
}

function skipped(ordinal: number): SessionEvent {
  const event = SESSION_EVENTS.find(({ kind }) => kind === 'step_skipped') ?? expect.fail('no skip');
  const dedupeKey = event.dedupeKey.replace(/:0$/, `:${ordinal}`);
  return { ...event, eventIndex: eventIndexSchema.parse(ordinal), dedupeKey };
}

function sealedSnapshots({ snapshots }: AppendPlan) {
  return new Map([...snapshots].map(([ref, snapshot]) => [ref, sealSnapshot(snapshot, sha256).bytes]));
}
