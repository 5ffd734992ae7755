import { join } from 'node:path';
import { expect, test } from 'vitest';
import { layout } from '../../../src/adapters/file-store/disk/disk.ts';
import { type CanonicalBytes, canonicalLines } from '../../../src/core/json/canonical-json.ts';
import type { DamageReason, SessionHealth } from '../../../src/core/log/health.ts';
import { chainGenesis, chainOf, type ManifestRecord } from '../../../src/core/log/manifest.ts';
import { manifestRecords } from '../../../src/core/log/plan/append-plan.ts';
import { enforces } from '../../enforces.ts';
import { OTHER_SESSION } from '../../examples/ids.ts';
import { sha256 } from '../../examples/sha256.ts';
import { intercept, isReading } from '../disk/intercept.ts';
import { filesOf, simulatedDisk } from '../disk/simulated-disk.ts';
import { goOn, NO_PROGRESS } from './progress.ts';
import { ROOT, storeOn } from './simulated-store.ts';
import {
  type ExpectedAppend,
  manifestBehind,
  SMALL_SESSION,
  SMALL_SESSION_ID,
  unsignedRecords,
} from './small-session.ts';

const PLACE = layout.manifest(SMALL_SESSION_ID);
const MANIFEST = join(ROOT, PLACE);
const [FIRST, SECOND, THIRD] = SMALL_SESSION as readonly [ExpectedAppend, ExpectedAppend, ExpectedAppend];
const [ONE, TWO] = [manifestBehind(1), manifestBehind(2)];
const genesis = { nextManifestIndex: 0, chain: chainGenesis(SMALL_SESSION_ID, sha256) };

/** Manifests that no crash leaves, with the health they give and the number of events before the damage. */
const DAMAGED: { readonly [what: string]: readonly [bytes: () => Uint8Array, health: SessionHealth, events: number] } =
  {
    'zeros in the middle': [
      () => Buffer.concat([ONE.map((byte, i) => (i < 10 ? 0 : byte)), SECOND.manifestLines]),
      { kind: 'corrupt_head', damage: { reason: 'manifest_not_json', place: PLACE, offset: 0 } },
      0,
    ],
    'a line without its end in the middle': [
      () => Buffer.concat([ONE, SECOND.manifestLines.subarray(0, 100), THIRD.manifestLines]),
      { kind: 'corrupt_tail', damage: { reason: 'manifest_not_json', place: PLACE, offset: ONE.length } },
      FIRST.events,
    ],
    'a whole line at the end that is no JSON': [
      () => Buffer.concat([ONE, Buffer.from('{"half a line\n')]),
      { kind: 'corrupt_tail', damage: { reason: 'manifest_not_json', place: PLACE, offset: ONE.length } },
      FIRST.events,
    ],
    'a whole line at the end that is chained to another': [
      () => Buffer.concat([ONE, THIRD.manifestLines]),
      { kind: 'corrupt_tail', damage: { reason: 'manifest_chain_broken', place: PLACE, offset: ONE.length } },
      FIRST.events,
    ],
    'an append without its pins in the middle': [
      withoutPins,
      { kind: 'corrupt_head', damage: { reason: 'manifest_pins_missing', place: PLACE, offset: firstLine(ONE) } },
      0,
    ],
    'a pin that belongs to no append': [
      () => Buffer.concat([ONE, changedSecond(({ kind }) => kind === 'snapshot_pinned', {})]),
      { kind: 'corrupt_tail', damage: { reason: 'manifest_pin_without_segment', place: PLACE, offset: ONE.length } },
      FIRST.events,
    ],
    'a record that leaves a number out': [
      () => Buffer.concat([ONE, changedSecond(() => true, { manifestIndex: 7 })]),
      { kind: 'corrupt_tail', damage: { reason: 'manifest_index_gap', place: PLACE, offset: ONE.length } },
      FIRST.events,
    ],
    'a record of another session': [
      () => Buffer.concat([ONE, changedSecond(() => true, { sessionId: OTHER_SESSION })]),
      { kind: 'corrupt_tail', damage: { reason: 'manifest_foreign_session', place: PLACE, offset: ONE.length } },
      FIRST.events,
    ],
    'a record without one of its fields': [
      () => Buffer.concat([ONE, changedSecond(() => true, { bytes: 'many' })]),
      { kind: 'corrupt_tail', damage: { reason: 'manifest_wrong_record', place: PLACE, offset: ONE.length } },
      FIRST.events,
    ],
    'an append that leaves events out': [
      () => Buffer.concat([ONE, lines(records(THIRD, behind(FIRST)))]),
      { kind: 'corrupt_tail', damage: { reason: 'manifest_events_not_contiguous', place: PLACE, offset: ONE.length } },
      FIRST.events,
    ],
    'a record of a later version': [
      () => Buffer.concat([ONE, lines([{ ...records(SECOND, behind(FIRST))[0], v: 2 }])]),
      { kind: 'unknown_version', place: PLACE, offset: ONE.length, version: '2' },
      FIRST.events,
    ],
    'a record of a kind that nobody can spell': [
      () => Buffer.concat([ONE, Buffer.from('{"v":1,"kind":{"toString":null,"valueOf":null}}\n')]),
      {
        kind: 'unknown_version',
        place: PLACE,
        offset: ONE.length,
        version: 'kind {"toString":null,"valueOf":null}',
      },
      FIRST.events,
    ],
    'a record of a version that nobody can spell': [
      () => Buffer.concat([ONE, Buffer.from('{"v":{"toString":null},"kind":"x"}\n')]),
      { kind: 'unknown_version', place: PLACE, offset: ONE.length, version: '{"toString":null}' },
      FIRST.events,
    ],
    'a record that is nothing': [
      () => Buffer.concat([ONE, Buffer.from('null\n')]),
      { kind: 'corrupt_tail', damage: { reason: 'manifest_wrong_record', place: PLACE, offset: ONE.length } },
      FIRST.events,
    ],
    ...Object.fromEntries(
      [
        ['a record with spaces', (text: string) => text.replaceAll(',', ', ')],
        ['a record that has a name twice', (text: string) => text.replace('"sha256":', '"sha256":"","sha256":')],
        ['a record with the line end of another system', (text: string) => text.replaceAll('\n', '\r\n')],
      ].map(([name, written]) => [
        name as string,
        [
          () => {
            const second = Buffer.from(lines(records(SECOND, behind(FIRST)))).toString();
            return Buffer.concat([ONE, Buffer.from((written as (text: string) => string)(second))]);
          },
          { kind: 'corrupt_tail', damage: { reason: 'manifest_wrong_record', place: PLACE, offset: ONE.length } },
          FIRST.events,
        ],
      ]),
    ),
    'less than its segments show it was': [
      () => ONE,
      { kind: 'corrupt_tail', damage: { reason: 'manifest_cut_short', place: PLACE, offset: ONE.length } },
      FIRST.events,
    ],
  };

test.each(Object.entries(DAMAGED))(
  'a manifest with %s is damage: looked at up to there, and left alone',
  async (_, example) => {
    enforces('manifest_torn_middle_is_corruption', 'segments_contiguous', 'session_health_closed');
    enforces('load_stops_at_last_valid_record', 'execution_needs_healthy', 'salvage_is_read_only');
    const [bytes, health, events] = example;
    await expectSalvaged((disk) => disk.damage(MANIFEST, bytes()), health, events);
  },
);

const BAD_SEGMENTS: readonly [
  what: string,
  reason: DamageReason,
  damaged: (segment: Uint8Array) => Uint8Array | undefined,
][] = [
  ['is missing', 'segment_missing', () => undefined],
  ['has other bytes', 'segment_digest_mismatch', (segment) => segment.map((byte) => byte ^ 1)],
  ['is cut off', 'segment_digest_mismatch', (segment) => segment.subarray(0, 100)],
];

test.each(BAD_SEGMENTS)('a segment that %s is damage, at the end and before it', async (_, reason, damaged) => {
  enforces('manifest_record_with_bad_segment_is_corruption', 'segment_digest_must_match');
  for (const [i, append] of [FIRST, SECOND, THIRD].entries()) {
    const place = append.segment.place;
    const kind = i === 0 ? 'corrupt_head' : 'corrupt_tail';
    const before = SMALL_SESSION[i - 1]?.events ?? 0;
    await expectSalvaged(
      (disk) => {
        const bytes = damaged(append.segment.bytes);
        if (bytes === undefined) disk.fs.remove(join(ROOT, place));
        else disk.damage(join(ROOT, place), bytes);
      },
      { kind, damage: { reason, place, offset: 0 } },
      before,
    );
  }
});

test.each([
  ['in another order', (events: readonly string[]) => [...events].reverse()],
  ['of which the first is missing', (events: readonly string[]) => events.slice(1)],
  ['of which the last is missing', (events: readonly string[]) => events.slice(0, -1)],
  ['of which one is nothing', (events: readonly string[]) => ['null', ...events.slice(1)]],
  ['of which one is no object', (events: readonly string[]) => ['7', ...events.slice(1)]],
  ['of which one is there twice', (events: readonly string[]) => [...events.slice(0, 1), ...events.slice(0, -1)]],
] as const)('a segment with events %s is damage although its digest is right', async (_, change) => {
  enforces('segments_contiguous');
  const text = change(Buffer.from(SECOND.segment.bytes).toString().trimEnd().split('\n')).join('\n');
  const bytes = Buffer.from(`${text}\n`) as Uint8Array as CanonicalBytes;
  const damage = { reason: 'segment_wrong_events', place: SECOND.segment.place, offset: expect.any(Number) } as const;
  await expectSalvaged(
    (disk) => {
      disk.damage(join(ROOT, SECOND.segment.place), bytes);
      const attested = manifestRecords(SECOND.plan, { bytes, tail: behind(FIRST) }, sha256);
      disk.damage(MANIFEST, Buffer.concat([ONE, lines(attested)]));
    },
    { kind: 'corrupt_tail', damage },
    FIRST.events,
  );
});

test.each([
  ['a line without its end', Buffer.from('{"half a line')],
  ['zeros', new Uint8Array(300)],
  ['an append without its pins', THIRD.manifestLines.subarray(0, firstLine(THIRD.manifestLines))],
  ['zeros and the end of a line', Buffer.concat([new Uint8Array(300), THIRD.manifestLines.subarray(-20)])],
] as const)('a manifest that ends in %s is healthy: loading leaves it, the next append cuts it', async (_, torn) => {
  enforces('manifest_torn_tail_ignored', 'no_pin_repair_on_load', 'session_health_closed');
  const disk = await diskBehind(2);
  disk.damage(MANIFEST, Buffer.concat([TWO, torn]));
  const before = filesOf(disk.state());
  const loaded = (await storeOn(readOnly(disk.fs)).sessions.load(SMALL_SESSION_ID))._unsafeUnwrap();
  expect([loaded.kind, loaded.view.nextEventIndex]).toEqual(['whole', SECOND.events]);
  expect(filesOf(disk.state())).toEqual(before);
  const gone = await goOn(storeOn(disk.fs), { ...NO_PROGRESS, appends: 2 }, { appends: 3 });
  expect(gone).toMatchObject({ appends: 3 });
  const manifest = Buffer.from(disk.fs.read(MANIFEST) ?? []);
  expect(manifest.subarray(0, TWO.length)).toEqual(Buffer.from(TWO));
  expect(unsignedRecords(manifest.subarray(TWO.length))).toEqual(unsignedRecords(THIRD.manifestLines));
});

test('a segment that the manifest does not name is ignored', async () => {
  enforces('orphan_segment_ignored');
  const disk = await diskBehind(2);
  const path = join(ROOT, THIRD.segment.place);
  const orphan = await disk.fs.create(path);
  await orphan.write(SECOND.segment.bytes);
  const unread = intercept(disk.fs, (operation, run) => {
    if (operation.name === 'read' && operation.path === path) throw new Error('looked for events in an orphan');
    return run();
  });
  const loaded = (await storeOn(unread).sessions.load(SMALL_SESSION_ID))._unsafeUnwrap();
  expect(loaded.view.nextEventIndex).toBe(SECOND.events);
  expect(await goOn(storeOn(unread), { ...NO_PROGRESS, appends: 2 }, { appends: 3 })).toMatchObject({ appends: 3 });
  expect(disk.fs.read(path)).toEqual(new Uint8Array(THIRD.segment.bytes));
});

test('a reply whose segment was damaged after it was loaded is refused', async () => {
  enforces('byte_flips_detected');
  const disk = await diskBehind(2);
  const { sessions } = storeOn(disk.fs);
  const [index, reply] = SECOND.replies[0] ?? expect.fail('a reply');
  expect((await sessions.storedReply(SMALL_SESSION_ID, index))._unsafeUnwrap()).toEqual(reply);
  const text = Buffer.from(SECOND.segment.bytes).toString();
  disk.damage(join(ROOT, SECOND.segment.place), Buffer.from(text.replace('"text":["reply"]', '"text":["rEply"]')));
  const damage = { reason: 'segment_digest_mismatch', place: SECOND.segment.place, offset: 0 };
  expect((await sessions.storedReply(SMALL_SESSION_ID, index))._unsafeUnwrapErr()).toEqual({ code: 'damaged', damage });
});

type Disk = ReturnType<typeof simulatedDisk>;

async function expectSalvaged(damage: (disk: Disk) => void, health: SessionHealth, events: number): Promise<void> {
  const disk = await diskBehind(3);
  damage(disk);
  const before = filesOf(disk.state());
  const { sessions } = storeOn(readOnly(disk.fs));
  const prefix = (await sessions.loadValidPrefix(SMALL_SESSION_ID))._unsafeUnwrap();
  expect(prefix).toMatchObject({ kind: 'salvaged', health, view: { nextEventIndex: events } });
  const refusal =
    health.kind === 'unknown_version'
      ? { code: health.kind, place: health.place, offset: health.offset, version: health.version }
      : { code: 'damaged', damage: health.kind === 'healthy' ? undefined : health.damage };
  expect((await sessions.load(SMALL_SESSION_ID))._unsafeUnwrapErr()).toEqual(refusal);
  let isEntered = false;
  const entered = await sessions.exclusively(SMALL_SESSION_ID, async (_, permit) => {
    isEntered = true;
    return sessions.append(permit, FIRST.plan);
  });
  expect([isEntered, entered._unsafeUnwrapErr()]).toEqual([false, refusal]);
  expect(filesOf(disk.state())).toEqual(before);
}

async function diskBehind(appends: number): Promise<Disk> {
  const disk = simulatedDisk();
  expect(await goOn(storeOn(disk.fs), NO_PROGRESS, { appends })).toMatchObject({ appends });
  return disk;
}

/** Looking at a session changes nothing; only its directories may be made sure of before it is written to. */
function readOnly(fs: Disk['fs']): Disk['fs'] {
  return intercept(fs, (operation, run) => {
    if (isReading(operation) || operation.name === 'makeDir' || operation.name === 'syncDir') return run();
    throw new Error(`${operation.name} ${operation.path}`);
  });
}

type Tail = typeof genesis;

function records({ plan, segment }: ExpectedAppend, tail: Tail): readonly ManifestRecord[] {
  return manifestRecords(plan, { bytes: segment.bytes as CanonicalBytes, tail }, sha256);
}

function behind(append: ExpectedAppend): Tail {
  const all = records(append, genesis);
  return { nextManifestIndex: all.length, chain: all.at(-1)?.chain ?? genesis.chain };
}

/** The segment of the first append, and the second one chained to it at once. */
function withoutPins(): Uint8Array {
  const [segment] = records(FIRST, genesis);
  const tail = { nextManifestIndex: 1, chain: segment?.chain ?? genesis.chain };
  return lines([segment, ...records(SECOND, tail)]);
}

/** The first of these records of the second append, changed, and rightly numbered and chained to the first append. */
function changedSecond(isMeant: (record: ManifestRecord) => boolean, change: object): Uint8Array {
  const { nextManifestIndex, chain } = behind(FIRST);
  const record = records(SECOND, behind(FIRST)).find(isMeant) ?? expect.fail('no such record');
  const changed = { ...record, manifestIndex: nextManifestIndex, ...change } as ManifestRecord;
  return lines([{ ...changed, chain: chainOf(chain, changed, sha256) }]);
}

function lines(all: readonly unknown[]): Uint8Array {
  return canonicalLines(all as Parameters<typeof canonicalLines>[0])._unsafeUnwrap();
}

function firstLine(bytes: Uint8Array): number {
  return bytes.indexOf(0x0a) + 1;
}
