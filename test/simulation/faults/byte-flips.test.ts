import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { layout } from '../../../src/adapters/file-store/disk/disk.ts';
import { enforces } from '../../enforces.ts';
import { isLong, share } from '../../volume.ts';
import { intercept } from '../disk/intercept.ts';
import { filesOf, simulatedDisk } from '../disk/simulated-disk.ts';
import { everyLook, type Look, type Told } from './looks.ts';
import { goOn, NO_PROGRESS } from './progress.ts';
import { ROOT, storeOn } from './simulated-store.ts';
import { manifestBehind, SMALL_SESSION, SMALL_SESSION_ID } from './small-session.ts';

const APPENDS = SMALL_SESSION.slice(0, 5);
const MASKS = isLong ? [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff] : [0x01];
const NEWLINE = 0x0a;
/** In all cases the session is loaded, or the file read in one way; in one of so many it is read in all others as well. */
const FULL_LOOK_EVERY = isLong ? 3 : 16;
const MANIFEST = join(ROOT, layout.manifest(SMALL_SESSION_ID));
const LAST_TRANSACTION = manifestBehind(APPENDS.length - 1).length;
const EVENTS_BEFORE_LAST = String(APPENDS.at(-2)?.events);

const disk = simulatedDisk();
const looks = everyLook(APPENDS);
const whole = new Map<Look, Told>();
/** Who looks into a file. Damage to it cannot change what others see. */
const readers = new Map<string, Look[]>();

beforeAll(async () => {
  const gone = await goOn(storeOn(disk.fs), NO_PROGRESS, { appends: APPENDS.length });
  expect(gone).toMatchObject({ appends: APPENDS.length });
  for (const look of looks) {
    const seen = new Set<string>();
    const noted = intercept(disk.fs, ({ name, path }, run) => {
      if (name === 'read') seen.add(path);
      return run();
    });
    whole.set(look, await look.at(storeOn(noted)));
    for (const path of seen) readers.set(path, [...(readers.get(path) ?? []), look]);
  }
});

test('every file of the golden session except the index is covered', () => {
  const files = filesOf(disk.state());
  const index = join(ROOT, layout.sessionIndex);
  const bytes = [...files].reduce((sum, [path, file]) => sum + (path === index ? 0 : file.length), 0);
  expect(bytes).toBeLessThanOrEqual(16_384);
  expect([...files.keys()].filter((path) => !readers.has(path))).toEqual([index]);
  expect([...whole.values()].map(({ kind }) => kind)).toEqual(looks.map(() => 'found'));
});

test('a flipped byte anywhere is found and located, or harms nothing', async () => {
  enforces('byte_flips_detected');
  const counts = await damageEveryFile((bytes, path) =>
    (path === MANIFEST ? [...bytes.entries()] : share([...bytes.entries()], { every: 8 })).flatMap(([at, byte]) =>
      // A byte that becomes zero looks like a page that never reached the disk, a newline less like a line cut off.
      [...MASKS, ...(isLong || path === MANIFEST ? [byte] : [])].map((mask) => ({
        at,
        isLikeTorn: byte === NEWLINE || mask === byte,
        bytes: () => flipped(bytes, at, mask),
      })),
    ),
  );
  print('flips', counts);
}, 3_600_000);

test('a file cut off anywhere is found and located, or harms nothing', async () => {
  enforces('byte_flips_detected');
  const counts = await damageEveryFile((bytes) =>
    share([...bytes.keys()]).map((at) => ({ at, isLikeTorn: true, bytes: () => bytes.slice(0, at) })),
  );
  print('cuts', counts);
}, 3_600_000);

test('verifying shows what remains of an append that looks cut off', async () => {
  enforces('byte_flips_detected');
  for (const at of [LAST_TRANSACTION, LAST_TRANSACTION + 1, manifestBehind(APPENDS.length).length - 1]) {
    const broken = simulatedDisk(disk.state());
    broken.damage(MANIFEST, manifestBehind(APPENDS.length).subarray(0, at));
    const { findings } = (await storeOn(broken.fs).audit.audit(SMALL_SESSION_ID))._unsafeUnwrap();
    const place = APPENDS.at(-1)?.segment.place;
    expect(findings).toContainEqual({ severity: 'note', what: 'orphan_segment', place });
  }
});

test('a damaged index never prevents listing sessions', async () => {
  const path = join(ROOT, layout.sessionIndex);
  const golden = disk.state();
  const bytes = filesOf(golden).get(path) ?? expect.fail('an index');
  for (let at = 0; at < bytes.length; at += isLong ? 1 : 8) {
    for (const damaged of [flipped(bytes, at, 0x01), bytes.slice(0, at)]) {
      const broken = simulatedDisk(golden);
      broken.damage(path, damaged);
      const summaries = (await storeOn(broken.fs).sessionIndex.summaries())._unsafeUnwrap();
      expect(summaries.map(({ sessionId }) => sessionId)).toEqual([SMALL_SESSION_ID]);
    }
  }
}, 600_000);

type Case = { readonly at: number; readonly isLikeTorn: boolean; readonly bytes: () => Uint8Array };
type Verdict = 'located' | 'torn tail' | 'harmless';

async function damageEveryFile(
  casesOf: (bytes: Uint8Array, path: string) => readonly Case[],
): Promise<ReadonlyMap<Verdict, number>> {
  const counts = new Map<Verdict, number>();
  const wrong: string[] = [];
  const golden = disk.state();
  for (const [path, bytes] of filesOf(golden)) {
    for (const [i, damage] of casesOf(bytes, path).entries()) {
      const broken = simulatedDisk(golden);
      broken.damage(path, damage.bytes());
      const [first, ...others] = readers.get(path) ?? [];
      for (const look of [...(first === undefined ? [] : [first]), ...(i % FULL_LOOK_EVERY === 0 ? others : [])]) {
        const seen = await look.at(storeOn(broken.fs));
        const verdict = judge({ ...damage, look, seen, path });
        if (verdict === undefined) wrong.push(`${path} at ${damage.at}: ${look.name} ${JSON.stringify(seen)}`);
        else counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
      }
    }
  }
  expect(wrong).toEqual([]);
  return counts;
}

type Seen = Case & { readonly look: Look; readonly seen: Told; readonly path: string };

function judge({ look, seen, path, at, isLikeTorn }: Seen): Verdict | undefined {
  const golden = whole.get(look);
  if (seen.kind === 'refused') {
    return join(ROOT, seen.place) === path && seen.offset <= at ? 'located' : undefined;
  }
  if (path === MANIFEST && at >= LAST_TRANSACTION && isLikeTorn) {
    // What was replied in an earlier append is still there.
    if (golden?.kind === 'found' && golden.value === seen.value) return 'harmless';
    return seen.value === EVENTS_BEFORE_LAST ? 'torn tail' : undefined;
  }
  return undefined;
}

function flipped(bytes: Uint8Array, at: number, mask: number): Uint8Array {
  const copy = new Uint8Array(bytes);
  copy[at] = (copy[at] ?? 0) ^ mask;
  return copy;
}

function print(what: string, counts: ReadonlyMap<Verdict, number>): void {
  console.log(`${what}: ${[...counts].map(([verdict, count]) => `${count} ${verdict}`).join(', ')}`);
}
