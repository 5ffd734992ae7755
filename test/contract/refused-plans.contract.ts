import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import type { AppendRefusal } from '../../src/app/ports/session-store.ts';
import type { StoreFailure } from '../../src/app/ports/store-failure.ts';
import { placeEvents, type SessionEvent } from '../../src/core/log/event.ts';
import { type ExecutionSnapshot, sealSnapshot } from '../../src/core/log/execution-snapshot.ts';
import { type ArtifactDigest, eventIndexSchema, workflowHashSchema } from '../../src/core/log/ids.ts';
import type { AppendPlan } from '../../src/core/log/plan/append-plan.ts';
import { foldEvents } from '../../src/core/views/session-view.ts';
import { enforces } from '../enforces.ts';
import { FORK, OTHER_SESSION, ROOT, SESSION } from '../examples/ids.ts';
import { examplePlan, examplePlans, PLANS } from '../examples/session.ts';
import { sha256 } from '../examples/sha256.ts';
import { withValue } from '../examples/single-field-changes.ts';
import { artifactBytes, artifactDigest } from '../simulation/node-facts.ts';
import { appendAll, appendOne, type MakeStore } from './store-under-test.ts';

const { start, advance, block } = PLANS;
const { events } = advance;
const NOWHERE = `sha256:${'0'.repeat(64)}`;
const MEBIBYTE = 1024 * 1024;

const at = (index: number): SessionEvent => events[index] ?? expect.fail(`the plan has no event ${index}`);
const nextIndex = start.events.length;
const withEvents = (changed: readonly unknown[]): AppendPlan => ({
  ...advance,
  events: changed as readonly SessionEvent[],
});
const change = (index: number, fields: object) => withEvents(events.with(index, { ...at(index), ...fields }));

/** Every refusal caused by the plan itself, with plans that follow the start of the example session. */
type Refused = Exclude<AppendRefusal, StoreFailure | { code: 'permit_ended' }>['code'];
const REFUSED: { readonly [code in Refused]: { readonly [what: string]: AppendPlan } } = {
  empty_plan: { 'without events': withEvents([]) },
  plan_too_large: {
    'of more than 1,000 events': withEvents(Array.from({ length: 1_001 }, () => at(0))),
    'of more than 8 MiB': withEvents(events.map(withLongReply)),
    'with more than 32 artifacts': { ...advance, artifacts: new Map([...advance.artifacts, ...manyArtifacts()]) },
  },
  observation_first: { 'that begins with an observation': withEvents(observation()) },
  not_contiguous: {
    'made for a later place': block,
    'that begins too late': withEvents(events.slice(1)),
    'with a gap': withEvents(events.toSpliced(1, 1)),
  },
  foreign_session: { 'with an event of another session': change(1, { sessionId: OTHER_SESSION }) },
  repeated_dedupe_key: { 'with an event twice': change(2, { ...at(1), eventIndex: at(2).eventIndex }) },
  missing_snapshot: { 'without its snapshots': { ...advance, snapshots: new Map() } },
  foreign_snapshot: { 'with the snapshot of another workflow': { ...advance, snapshots: foreignSnapshots() } },
  cause_never_written: { 'with a cause that is only read': readOnlyCause() },
  wrong_snapshot: {
    'with another snapshot under the name of its own': { ...advance, snapshots: swappedSnapshots() },
    'with a snapshot of no known shape': badlyShapedSnapshot(),
  },
  missing_artifact: { 'without its artifacts': { ...advance, artifacts: new Map() } },
  wrong_artifact: {
    'with another artifact under the name of its own': withArtifacts((bytes) => Uint8Array.from(bytes).fill(0x20)),
    'with an artifact that was cut': withArtifacts((bytes) => bytes.subarray(1)),
    'that tells another length of its artifact': withEvents(
      events.map((event) =>
        event.kind === 'node_output_appended' && event.data.outputChannel === 'artifact'
          ? withValue(event, '/data/payload/byteLength', event.data.payload.byteLength + 1)
          : event,
      ),
    ),
  },
  unnamed_content: {
    'with a snapshot that it does not name': {
      ...advance,
      snapshots: new Map([...start.snapshots, ...advance.snapshots]),
    },
    'with an artifact that it does not name': {
      ...advance,
      artifacts: new Map([...advance.artifacts, ...manyArtifacts().slice(0, 1)]),
    },
  },
  wrong_event: {
    'with an event of a wrong shape': change(0, { data: {} }),
    "with an event under another's key": change(events.length - 1, { dedupeKey: 'run_started:x' }),
  },
  workflow_not_pinned: { 'whose workflow is not there': { ...advance, pinned: [workflowHashSchema.parse(NOWHERE)] } },
  not_json: { 'with what is not JSON': change(events.length - 1, { later: Number.NaN }) },
  half_known_plan: {
    'whose end is known already': change(events.length - 1, {
      ...start.events[1],
      eventIndex: nextIndex + events.length - 1,
    }),
    'whose beginning is known already': change(0, { ...start.events[1], eventIndex: at(0).eventIndex }),
  },
  integrity_violation: {
    'that names what it does not bring': examplePlan(events.slice(0, 1)),
    'whose node hangs on one that is not there': withEvents(
      events.map((event) => (event.kind === 'node_created' ? withValue(event, '/data/parentNodeId', FORK) : event)),
    ),
    'about a node that is not there': examplePlan(
      block.events.map((event, i) => ({ ...event, eventIndex: eventIndexSchema.parse(nextIndex + i) })),
    ),
  },
};

const CASES = Object.entries(REFUSED).flatMap(([code, plans]) =>
  Object.entries(plans).map(([what, plan]) => [what, code, plan] as const),
);

const STARTED = ok({ kind: 'whole', sessionId: SESSION, view: foldEvents(start.events) });
const ADVANCED = ok({ kind: 'whole', sessionId: SESSION, view: foldEvents([...start.events, ...events]) });

/**
 * A plan is committed completely or not at all: whatever is wrong with it, the session is unchanged and can continue.
 */
export function refusedPlansContract(makeStore: MakeStore): void {
  test.each(CASES)('a refused plan (%s) changes nothing and does not affect later appends', async (_, code, plan) => {
    enforces('append_plan_atomic');
    if (code === 'plan_too_large') enforces('append_plan_limits');
    if (code === 'half_known_plan') enforces('dedupe_half_known_plan_is_violation');
    if (code === 'integrity_violation') enforces('advanced_outcome_has_node_and_edge', 'node_run_integrity');
    const { store, again } = makeStore();
    await appendAll(store.sessions, [start]);
    expect(await appendOne(store.sessions, plan)).toMatchObject(err({ code }));
    expect(await store.sessions.load(SESSION)).toEqual(STARTED);
    expect(await again().sessions.load(SESSION)).toEqual(STARTED);

    expect(await appendOne(again().sessions, advance)).toEqual(ADVANCED);
    expect(await store.sessions.load(SESSION)).toEqual(ADVANCED);
  });

  test('a plan with wrong content does not change what is stored under that name', async () => {
    const { store, again } = makeStore();
    await appendAll(store.sessions, [start, advance, examplePlans(OTHER_SESSION).start]);
    const other = examplePlans(OTHER_SESSION).advance;
    const [artifact = expect.fail('an artifact')] = advance.artifacts;
    const [snapshot = expect.fail('a snapshot')] = advance.snapshots;
    const [another = expect.fail('a snapshot')] = start.snapshots.values();
    const artifacts = new Map([...other.artifacts, [artifact[0], Buffer.from('lies')] as const]);
    const snapshots = new Map([...other.snapshots, [snapshot[0], another] as const]);
    expect((await appendOne(store.sessions, { ...other, artifacts })).isErr()).toBe(true);
    expect((await appendOne(store.sessions, { ...other, snapshots })).isErr()).toBe(true);
    const found = (await again().artifacts.get(artifact[0]))._unsafeUnwrap();
    expect(Buffer.from(found).toString()).toBe(Buffer.from(artifact[1]).toString());
    expect(await again().snapshots.get(snapshot[0])).toEqual(ok(snapshot[1]));
  });

  test('a permit stays valid after a refused plan', async () => {
    const { store, again } = makeStore();
    const { sessions } = store;
    await appendAll(sessions, [start]);
    const done = await sessions.exclusively(SESSION, async (_, permit) => {
      for (const [, code, plan] of CASES) expect(await sessions.append(permit, plan)).toMatchObject(err({ code }));
      return sessions.append(permit, advance);
    });
    expect(done).toEqual(ADVANCED);
    expect(await again().sessions.load(SESSION)).toEqual(ADVANCED);
  });

  test('a session whose first plan was refused does not exist and can still be started', async () => {
    enforces('append_plan_atomic');
    const { store, again } = makeStore();
    const notFound = err({ code: 'session_not_found', sessionId: SESSION });
    expect(await appendOne(store.sessions, advance)).toEqual(err({ code: 'not_contiguous', position: 0 }));
    expect(await store.sessions.load(SESSION)).toEqual(notFound);
    expect(await again().sessions.load(SESSION)).toEqual(notFound);
    expect(await appendOne(again().sessions, start)).toEqual(STARTED);
  });
}

function withLongReply(event: SessionEvent): SessionEvent {
  if (event.kind !== 'advance_recorded') return event;
  const reply = { text: ['x'.repeat(8 * MEBIBYTE)], structured: {} };
  return { ...event, data: { ...event.data, reply } };
}

function foreignSnapshots(): AppendPlan['snapshots'] {
  const workflowHash = workflowHashSchema.parse(NOWHERE);
  return new Map([...advance.snapshots].map(([ref, snapshot]) => [ref, { ...snapshot, workflowHash }]));
}

/** The snapshots of the plan, each under its own name but with the content of another. */
function swappedSnapshots(): AppendPlan['snapshots'] {
  const [another = expect.fail('a snapshot')] = start.snapshots.values();
  return new Map([...advance.snapshots.keys()].map((ref) => [ref, another]));
}

/** It is named by its hash, but cannot be parsed. */
function badlyShapedSnapshot(): AppendPlan {
  const [snapshot = expect.fail('a snapshot')] = advance.snapshots.values();
  const wrong = { ...snapshot, kind: 'something_else' } as unknown as ExecutionSnapshot;
  const { ref } = sealSnapshot(wrong, sha256);
  return {
    ...withEvents(
      events.map((event) => (event.kind === 'node_created' ? withValue(event, '/data/snapshotRef', ref) : event)),
    ),
    snapshots: new Map([[ref, wrong]]),
  };
}

function withArtifacts(change: (bytes: Uint8Array) => Uint8Array): AppendPlan {
  return { ...advance, artifacts: new Map([...advance.artifacts].map(([name, bytes]) => [name, change(bytes)])) };
}

function manyArtifacts(): readonly (readonly [ArtifactDigest, Uint8Array])[] {
  const names = Array.from({ length: 32 }, (_, i) => `artifact ${i}`);
  return names.map((name) => [artifactDigest(name), artifactBytes(name)]);
}

function readOnlyCause(): AppendPlan {
  return withEvents(
    events.map((event) =>
      event.kind === 'edge_created' ? withValue(event, '/data/cause/kind', 'intentional_fork') : event,
    ),
  );
}

function observation(): readonly SessionEvent[] {
  const draft = {
    kind: 'observation_recorded',
    data: { key: 'git_branch', value: { type: 'short_string', value: 'fresh' }, confidence: 'high' },
    keyOnly: { observedFor: ROOT, valueDigest: '0'.repeat(64) },
  } as const;
  return placeEvents([draft], { sessionId: SESSION, firstEventIndex: nextIndex }, sha256);
}
