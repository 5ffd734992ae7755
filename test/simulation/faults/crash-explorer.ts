import type { FileSystem } from '../../../src/adapters/file-store/disk/disk.ts';
import type { ProductBounds } from '../disk/bounded-product.ts';
import { crashStates } from '../disk/crash-states.ts';
import { fingerprints } from '../disk/fingerprint.ts';
import { intercept, isReading, type Operation } from '../disk/intercept.ts';
import { type DiskState, simulatedDisk } from '../disk/simulated-disk.ts';
import { type Goal, goOn, type Progress } from './progress.ts';
import { checkRecovery } from './recovery.ts';
import { ROOT, storeOn } from './simulated-store.ts';

/** A moment at which the machine may stop. */
export type CrashPoint = { readonly after: string; readonly state: DiskState; readonly acknowledged: Progress };

export type Finding = { readonly at: string; readonly fate: string; readonly violation: string };

/** Stands between the store and the disk; a mutant of the protocol forgets something here. */
export type Tampering = (fs: FileSystem) => FileSystem;

export type CrashExplorer = {
  /** Runs a user of the store on a disk and notes every moment at which a crash could come. */
  record(from: Omit<CrashPoint, 'after'>, goal: Goal): Promise<readonly CrashPoint[]>;
  /** Checks every disk that a crash at a point may leave; hands out those that were not seen before. */
  explore(point: CrashPoint, bounds: ProductBounds): Promise<readonly CrashPoint[]>;
  readonly findings: Finding[];
  counts(): CrashCounts;
};

export type CrashCounts = {
  /** Disks that were made, each by another choice of what became of every change. Many come out the same. */
  readonly states: number;
  /** Those of them that differ in any byte or name. */
  readonly distinct: number;
  /** Those that also differ in what a store looks into, or in what was acknowledged. Each of these was recovered from. */
  readonly recoveries: number;
};

export function crashExplorer(tampering: Tampering = (fs) => fs): CrashExplorer {
  const findings: Finding[] = [];
  const prints = fingerprints(isLookedInto);
  const wholePrints = fingerprints(() => true);
  const seen = new Set<string>();
  const disks = new Set<string>();
  let states = 0;
  const report = (at: string, fate: string, violation: string) => findings.push({ at, fate, violation });

  async function record(from: Omit<CrashPoint, 'after'>, goal: Goal): Promise<readonly CrashPoint[]> {
    const disk = simulatedDisk(from.state);
    const points: CrashPoint[] = [];
    let { acknowledged } = from;
    const note = (after: string) => points.push({ after, state: disk.state(), acknowledged });
    const store = storeOn(tampering(recorded(disk.fs, note)));
    const acknowledge = (progress: Progress) => {
      acknowledged = progress;
      note('acknowledgement');
    };
    const gone = await goOn(store, acknowledged, { ...goal, acknowledge });
    if ('what' in gone) report('a run without a crash', gone.what, JSON.stringify(gone.refusal));
    return points;
  }

  async function explore(point: CrashPoint, bounds: ProductBounds): Promise<readonly CrashPoint[]> {
    const fresh: CrashPoint[] = [];
    const { acknowledged } = point;
    for (const { state, fate } of crashStates(point.state, bounds)) {
      states += 1;
      disks.add(wholePrints.of(state));
      const { appends, isPinned, keyring, replies } = acknowledged;
      const print = `${appends} ${replies.length} ${isPinned} ${keyring === undefined}\n${prints.of(state)}`;
      if (seen.has(print)) continue;
      seen.add(print);
      fresh.push({ after: `${point.after} (${fate})`, state, acknowledged });
      const violation = await checkRecovery(tampering(withoutSecretLooks(simulatedDisk(state).fs)), acknowledged);
      if (violation !== undefined) report(point.after, fate, violation);
    }
    return fresh;
  }

  return { record, explore, findings, counts: () => ({ states, distinct: disks.size, recoveries: seen.size }) };
}

function recorded(fs: FileSystem, note: (after: string) => void): FileSystem {
  return intercept(fs, (operation, run) => {
    const done = run();
    if (!isReading(operation) && operation.name !== 'close') note(described(operation));
    return done;
  });
}

/** Disks that differ only in temporary files and caches are checked once, as long as nobody looks into those. */
function isLookedInto(path: string): boolean {
  return !path.endsWith('.tmp') && !path.startsWith(`${ROOT}/cache/`);
}

function withoutSecretLooks(fs: FileSystem): FileSystem {
  return intercept(fs, (operation, run) => {
    if (operation.name === 'read' && !isLookedInto(operation.path)) throw new Error(`looked into ${operation.path}`);
    return run();
  });
}

function described({ name, path, to }: Operation): string {
  return `${name} ${to ?? path}`;
}
