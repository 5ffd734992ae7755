import { join } from 'node:path';
import { layout } from '../../../src/adapters/file-store/disk/disk.ts';
import { type Failure, failingDisk } from '../disk/failing.ts';
import type { Operation } from '../disk/intercept.ts';
import { type DiskState, EMPTY_DISK, filesOf, simulatedDisk } from '../disk/simulated-disk.ts';
import type { CrashExplorer } from './crash-explorer.ts';
import { goOn, NO_PROGRESS, type Progress, type Refused } from './progress.ts';
import { ROOT, type SimulatedStore, storeOn } from './simulated-store.ts';
import { manifestBehind, SMALL_SESSION_ID } from './small-session.ts';

export type Start = {
  readonly state: DiskState;
  /** What was acknowledged on it. */
  readonly progress: Progress;
  /** How many appends the process makes that will meet the failure, before it does. */
  readonly warmUp: number;
  /** How many it makes when it does. */
  readonly more: number;
};

const TORN_BYTES = manifestBehind(3).subarray(manifestBehind(2).length, manifestBehind(3).length - 100);

/** Nothing yet: keyring and pinned workflow will be made. */
export const BLANK_START: Start = { state: EMPTY_DISK, progress: NO_PROGRESS, warmUp: 0, more: 0 };

/** A store behind some appends, all of it flushed. */
export async function startBehind(appends: number, warmUp = 0): Promise<Start> {
  const disk = simulatedDisk();
  const progress = done(await goOn(storeOn(disk.fs), NO_PROGRESS, { appends }));
  return { state: disk.state(), progress, warmUp, more: 1 };
}

/** The same with an append cut off at its end. */
export async function startBehindTornTail(): Promise<Start> {
  const start = await startBehind(2);
  const disk = simulatedDisk(start.state);
  const path = join(ROOT, layout.manifest(SMALL_SESSION_ID));
  disk.damage(path, Buffer.concat([manifestBehind(2), TORN_BYTES]));
  return { ...start, state: disk.state() };
}

/** The calls that a process makes which loads the session and appends to it. */
export async function callsFrom(start: Start): Promise<readonly Operation[]> {
  return (await trial(start, { index: Number.POSITIVE_INFINITY, code: 'EIO', how: 'once' })).calls;
}

/** Lets one call fail and looks at what follows; says what is wrong with it. */
export async function harmDone(start: Start, failure: Failure, explorer: CrashExplorer): Promise<string | undefined> {
  const { outcome, calls, failed, store, before } = await trial(start, failure);
  const hit = calls[failure.index];
  if (!('refusal' in outcome) && hit !== undefined && !isForgivable(hit, calls.slice(0, failure.index)))
    return 'acknowledged';
  if ('refusal' in outcome && !isTyped(outcome.refusal, failure)) return `untyped: ${JSON.stringify(outcome)}`;
  if (failure.how !== 'on' && hasTemporary(failed)) return 'a temporary file is left';
  if (isTorn(start.state) && !isTorn(failed)) return 'the torn bytes are gone';
  const acknowledged = 'refusal' in outcome ? before : outcome;
  await survive({ state: failed, acknowledged }, explorer);

  const appends = before.appends + start.more;
  const again = await goOn(store.same, acknowledged, { appends });
  if ('refusal' in again) return `the same process: ${JSON.stringify(again)}`;
  await survive({ state: store.disk.state(), acknowledged: again }, explorer);

  if (!isBeyondKnowing(failure, hit)) {
    const fresh = simulatedDisk(failed);
    const later = await goOn(storeOn(fresh.fs), acknowledged, { appends });
    if ('refusal' in later) return `the next process: ${JSON.stringify(later)}`;
    await survive({ state: fresh.state(), acknowledged: later }, explorer);
  }
  const findings = explorer.findings.splice(0);
  return findings.length === 0 ? undefined : findings.map(({ violation, at }) => `${violation} ${at}`).join('; ');
}

function hasTemporary(state: DiskState): boolean {
  return [...filesOf(state).keys()].some((path) => path.endsWith('.tmp'));
}

/** Whether the bytes of the torn tail can be found, in the manifest or beside it. */
function isTorn(state: DiskState): boolean {
  const torn = Buffer.from(TORN_BYTES).toString('latin1');
  return [...filesOf(state)].some(
    ([path, bytes]) => path.includes('manifest.jsonl') && Buffer.from(bytes).toString('latin1').endsWith(torn),
  );
}

async function trial(start: Start, failure: Failure) {
  const disk = simulatedDisk(start.state);
  const failing = failingDisk(disk);
  const same = storeOn(failing.fs);
  const { appends } = start.progress;
  const before =
    start.warmUp === 0 ? start.progress : done(await goOn(same, start.progress, { appends: appends + start.warmUp }));
  failing.arm(failure);
  const outcome = await loadAndGoOn(same, before, before.appends + start.more);
  const calls = failing.disarm();
  return { outcome, calls, before, failed: disk.state(), store: { same, disk } };
}

async function loadAndGoOn(store: SimulatedStore, from: Progress, appends: number): Promise<Progress | Refused> {
  const loaded = await store.sessions.load(SMALL_SESSION_ID);
  if (loaded.isErr() && loaded.error.code !== 'session_not_found') return { what: 'load', refusal: loaded.error };
  return goOn(store, from, { appends });
}

/** Failures of the index, and of the folder above the data, may go unreported. */
function isForgivable({ name, path }: Operation, before: readonly Operation[]): boolean {
  if (path.startsWith(`${ROOT}/cache`) || (name === 'syncDir' && path === '/')) return true;
  // After the commit, a workflow is read only for its name in the index.
  const isCommitted = before.some((one) => one.name === 'sync' && one.path.endsWith('manifest.jsonl'));
  return isCommitted && name === 'read' && path.includes('/workflows/pinned/');
}

/**
 * Lines that a flush lost and that could not be removed either look flushed to the next process. Only the process that
 * met the failure knows better.
 */
function isBeyondKnowing({ code, how }: Failure, hit: Operation | undefined): boolean {
  return code === 'EIO' && how === 'on' && hit?.name === 'sync' && hit.path.endsWith('manifest.jsonl');
}

function isTyped(refusal: object, { code }: Failure): boolean {
  return 'code' in refusal && refusal.code === 'io_failed' && 'cause' in refusal && refusal.cause === code;
}

async function survive(
  { state, acknowledged }: { readonly state: DiskState; readonly acknowledged: Progress },
  explorer: CrashExplorer,
): Promise<void> {
  await explorer.explore({ after: '', state, acknowledged }, { fullMax: 2, pairsMax: 0, seed: 1 });
}

function done(progress: Progress | Refused): Progress {
  if ('refusal' in progress) throw new Error(JSON.stringify(progress));
  return progress;
}
