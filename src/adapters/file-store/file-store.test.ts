import { chmodSync, mkdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { appendAll } from '../../../test/contract/store-under-test.ts';
import { enforces } from '../../../test/enforces.ts';
import { compiled } from '../../../test/examples/compiled.ts';
import { OTHER_SESSION, SESSION } from '../../../test/examples/ids.ts';
import { examplePlans, PLANS } from '../../../test/examples/session.ts';
import { SNAPSHOTS_BY_REF } from '../../../test/examples/snapshots.ts';
import { type FreshStore, freshStore } from '../../../test/fresh-store.ts';
import { isReading } from '../../../test/simulation/disk/intercept.ts';
import { artifactDigest } from '../../../test/simulation/node-facts.ts';
import { sessionWriter } from '../../../test/simulation/session-writer.ts';
import { canonicalLines } from '../../core/json/canonical-json.ts';
import { EVENT_KINDS } from '../../core/log/event.ts';
import { eventIndexSchema } from '../../core/log/ids.ts';
import type { ManifestRecord } from '../../core/log/manifest.ts';
import type { AppendPlan } from '../../core/log/plan/append-plan.ts';
import { nodeFileSystem } from './disk/node-file-system.ts';

const bundled = new URL('../../../workflows/wr.first_steps.json', import.meta.url);
const workflow = compiled(readFileSync(bundled, 'utf8'));

const HEX = '[0-9a-f]{64}';
/** Every file there may be, and whether this test makes one. */
const LAYOUT: readonly (readonly [pattern: RegExp, isMade: boolean])[] = [
  [/^sessions\/sess_[0-9a-z]{16}\/events\/\d{8}-\d{8}\.jsonl$/, true],
  [/^sessions\/sess_[0-9a-z]{16}\/manifest\.jsonl$/, true],
  [/^sessions\/sess_[0-9a-z]{16}\/keep$/, false],
  [/^sessions\/sess_[0-9a-z]{16}\/manifest\.jsonl\.torn-\d+$/, false],
  [new RegExp(`^snapshots/${HEX}\\.json$`), true],
  [new RegExp(`^artifacts/${HEX}$`), true],
  [new RegExp(`^workflows/pinned/${HEX}\\.json$`), true],
  [/^keys\/keyring\.json$/, true],
  [/^cache\/[a-z.-]+$/, false],
  // Locks hold nothing that counts.
  [/^(?:.+\/)?\.lock(?:\.holder|\.wanted|\.claims\/.+)?$/, false],
];

test('every stored file is where the layout says', async () => {
  enforces('data_dir_layout', 'digest_file_names_bare_hex');
  const { files } = await writtenStore();
  const names = files();
  expect(names.filter((name) => !LAYOUT.some(([pattern]) => pattern.test(name)))).toEqual([]);
  const made = LAYOUT.filter(([, isMade]) => isMade);
  expect(made.filter(([pattern]) => !names.some((name) => pattern.test(name)))).toEqual([]);
  expect(names.filter((name) => name.includes(':'))).toEqual([]);
});

test('only this user can read the store', async () => {
  enforces('data_dir_mode_0700', 'keyring_mode_0600');
  const { root, files, folders } = await writtenStore();
  const modes = (paths: readonly string[]) => new Set(paths.map((path) => statSync(join(root, path)).mode & 0o777));
  expect(modes(['.'])).toEqual(new Set([0o700]));
  expect(modes(folders())).toEqual(new Set([0o700]));
  expect(modes(files())).toEqual(new Set([0o600]));
});

test('an existing data directory keeps its permissions', async () => {
  enforces('data_dir_mode_0700');
  const { root, store, folders } = freshStore();
  mkdirSync(root, { recursive: true });
  chmodSync(root, 0o750);
  await appendAll(store.sessions, [PLANS.start]);
  expect(statSync(root).mode & 0o777).toBe(0o750);
  for (const folder of folders()) expect(statSync(join(root, folder)).mode & 0o777).toBe(0o700);
});

test('each append has one segment, named after its events, with their canonical lines', async () => {
  enforces('segment_per_append_plan', 'segment_named_by_event_index', 'event_lines_are_jcs');
  const { files, read, plans } = await writtenStore();
  const segments = plans.map(({ sessionId, events }) => {
    const bounds = [events[0], events.at(-1)].map((event) => String(event?.eventIndex).padStart(8, '0'));
    const lines = Buffer.from(canonicalLines(events)._unsafeUnwrap()).toString();
    return [`sessions/${sessionId}/events/${bounds.join('-')}.jsonl`, lines] as const;
  });
  const found = files().filter((name) => name.includes('/events/'));
  expect(Object.fromEntries(found.map((name) => [name, read(name)]))).toEqual(Object.fromEntries(segments));
});

test('an unknown field is kept in the log', async () => {
  enforces('event_lines_are_jcs');
  const { store, read } = freshStore();
  const events = PLANS.start.events.map((event) => ({ ...event, later: { b: 1, a: [null] } }));
  await appendAll(store.sessions, [{ ...PLANS.start, events }]);
  const name = `sessions/${SESSION}/events/00000000-${String(events.length - 1).padStart(8, '0')}.jsonl`;
  expect(read(name)).toBe(Buffer.from(canonicalLines(events)._unsafeUnwrap()).toString());
  expect(read(name)).toContain('"later":{"a":[null],"b":1}');
});

test('events are in segments and attestations in the manifest', async () => {
  enforces('two_streams');
  const { files, read } = await writtenStore();
  const kindsIn = (names: readonly string[]) => {
    const lines = names.flatMap((name) => read(name).trimEnd().split('\n'));
    return [...new Set(lines.map((line) => JSON.parse(line).kind))];
  };
  const facts = kindsIn(files().filter((name) => name.includes('/events/')));
  expect(facts.filter((kind) => !EVENT_KINDS.includes(kind))).toEqual([]);
  const attests = kindsIn(files().filter((name) => name.endsWith('/manifest.jsonl')));
  expect(attests.sort()).toEqual(['segment_closed', 'snapshot_pinned']);
});

test('the manifest closes a segment first and then pins the snapshot of each node', async () => {
  enforces('pins_follow_segment_close');
  const { read, plans } = await writtenStore();
  for (const sessionId of new Set(plans.map((plan) => plan.sessionId))) {
    const lines = read(`sessions/${sessionId}/manifest.jsonl`).trimEnd().split('\n');
    const found = lines.map((line) => JSON.parse(line) as ManifestRecord).map(briefly);
    const ofSession = plans.filter((plan) => plan.sessionId === sessionId);
    expect(found).toEqual(
      ofSession.flatMap(({ events }) => {
        const nodes = events.filter((event) => event.kind === 'node_created');
        const pins = nodes.map(({ eventIndex, data }) => ['snapshot_pinned', eventIndex, data.snapshotRef]);
        return [['segment_closed', events[0]?.eventIndex, pins.length], ...pins];
      }),
    );
  }
});

test('snapshots and artifacts are stored once for all sessions', async () => {
  enforces('snapshot_cas_global', 'artifact_cas_beside_snapshots');
  const { files, plans } = await writtenStore();
  const snapshots = new Set(plans.flatMap((plan) => [...plan.snapshots.keys()]));
  const artifacts = new Set(plans.flatMap((plan) => [...plan.artifacts.keys()]));
  const bare = (digest: string) => digest.replace('sha256:', '');
  expect(files().filter((name) => name.startsWith('snapshots/'))).toEqual(
    [...snapshots].map((ref) => `snapshots/${bare(ref)}.json`).sort(),
  );
  expect(files().filter((name) => name.startsWith('artifacts/'))).toEqual(
    [...artifacts].map((digest) => `artifacts/${bare(digest)}`).sort(),
  );
});

test('no stored byte contains the path of the store', async () => {
  enforces('stored_paths_relative');
  const { root, files, read } = await writtenStore();
  for (const name of files()) expect(read(name)).not.toContain(root);
  const manifests = files().filter((name) => name.endsWith('/manifest.jsonl'));
  const records = manifests.flatMap((name) =>
    read(name)
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)),
  );
  const places = records.flatMap((record) => record.segmentRelPath ?? []);
  expect(places.length).toBeGreaterThan(5);
  for (const place of places) expect(place).toMatch(/^events\/\d{8}-\d{8}\.jsonl$/);
});

test('reading writes nothing, whether or not the store exists', async () => {
  enforces('append_is_the_only_mutation', 'reads_never_write');
  for (const { store, another, operations } of [freshStore(), await writtenStore()]) {
    operations.length = 0;
    for (const { sessions, snapshots, artifacts, pinnedWorkflows, keyring } of [store, another()]) {
      await sessions.load(SESSION);
      await sessions.loadValidPrefix(SESSION);
      await sessions.storedReply(SESSION, eventIndexSchema.parse(PLANS.advance.events[0]?.eventIndex));
      await sessions.list();
      for (const ref of SNAPSHOTS_BY_REF.keys()) await snapshots.get(ref);
      await artifacts.get(artifactDigest('findings'));
      await pinnedWorkflows.get(
        PLANS.start.events.find((event) => event.kind === 'run_started')?.data.workflowHash ?? expect.fail('a run'),
      );
      await keyring.find();
    }
    expect(operations.length).toBeGreaterThan(0);
    expect(operations.filter((operation) => !isReading(operation))).toEqual([]);
  }
});

test('files that are not named like sessions are not listed as sessions', async () => {
  enforces('ids_checked_before_path_join');
  const { store, root } = freshStore();
  await appendAll(store.sessions, [PLANS.start]);
  for (const name of ['sess_', 'SESS_0123456789ABCDEF', '..sess_0123456789abcdef', 'notes']) {
    nodeFileSystem.makeDir(join(root, 'sessions', name));
  }
  expect(await store.sessions.list()).toEqual(ok([SESSION]));
});

function briefly(record: ManifestRecord): readonly unknown[] {
  return record.kind === 'segment_closed'
    ? [record.kind, record.firstEventIndex, record.pins]
    : [record.kind, record.eventIndex, record.snapshotRef];
}

/** A store with a keyring, a pinned workflow and three sessions that share snapshots. */
async function writtenStore(): Promise<FreshStore & { readonly plans: readonly AppendPlan[] }> {
  const fresh = freshStore();
  const writer = sessionWriter();
  const root = writer.startRun({ artifacts: [{ name: 'findings' }] });
  writer.advance(writer.checkpoint(writer.block(root)), { note: { name: 'note', text: 'done' } }, 'complete');
  const plans = [...writer.plans, ...Object.values(PLANS), ...Object.values(examplePlans(OTHER_SESSION))];
  await fresh.store.keyring.open();
  await fresh.store.pinnedWorkflows.pin(workflow);
  await appendAll(fresh.store.sessions, plans);
  return { ...fresh, plans };
}
