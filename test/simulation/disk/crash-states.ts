import { boundedProduct, type ProductBounds } from './bounded-product.ts';
import { applyData, applyEntry, type DataChange, type DirInode, type EntryChange, type Inode } from './inode.ts';
import type { DiskState } from './simulated-disk.ts';

/** One disk that a crash may leave behind. */
export type CrashState = {
  readonly state: DiskState;
  /** What became of each change that was not flushed, for people. */
  readonly fate: string;
};

/** Something that was not flushed, and everything that may have become of it. */
type Unsynced = { readonly id: number; readonly fates: readonly Fate[] };
type Fate = { readonly name: string; readonly change: DataChange | EntryChange | undefined };

/** A file that is never flushed gathers changes; the system has written all but the last of them long ago. */
const CHANGES_AT_RISK = 2;
const DROPPED: Fate = { name: 'dropped', change: undefined };

/**
 * Every disk that a crash may leave behind, as far as POSIX promises: what was flushed is there; each change that was
 * not may be missing, whole, cut short or zeros, each without regard to the others. A rename is there or not.
 */
export function* crashStates(state: DiskState, bounds: ProductBounds): Generator<CrashState> {
  const settled = new Map([...state].map(([id, inode]) => [id, settledInode(inode)]));
  const unsynced = [...state].filter(([id]) => isNamed(state, id)).flatMap(([id, inode]) => unsyncedOf(id, inode));
  const ids = [...new Set(unsynced.map(({ id }) => id))];
  const made = new Map<string, Inode>();
  for (const choice of boundedProduct(
    unsynced.map(({ fates }) => fates.length),
    bounds,
  )) {
    const after = new Map<number, Inode>(settled);
    const chosen = unsynced.map(({ id, fates }, i) => ({ id, pick: choice[i] ?? 0, fate: fates[choice[i] ?? 0] }));
    for (const id of ids) {
      const changes = chosen.filter((change) => change.id === id);
      const key = `${id}:${changes.map(({ pick }) => pick).join()}`;
      const inode = made.get(key) ?? resultOf(settled.get(id), changes);
      made.set(key, inode);
      after.set(id, inode);
    }
    yield { state: after, fate: chosen.map(({ id, fate }) => `${id} ${fate?.name}`).join(', ') };
  }
}

function settledInode(inode: Inode): Inode {
  return inode.kind === 'file'
    ? { ...inode, current: inode.durable, pending: [] }
    : { ...inode, current: inode.durable, pending: [] };
}

/** A file without any name left cannot be found, whatever became of its bytes. */
function isNamed(state: DiskState, id: number): boolean {
  if (state.get(id)?.kind === 'dir') return true;
  return [...state.values()].some(
    (dir) =>
      dir.kind === 'dir' &&
      ([...dir.durable.values()].includes(id) || dir.pending.some(({ set }) => set !== undefined && set[1] === id)),
  );
}

function unsyncedOf(id: number, inode: Inode): readonly Unsynced[] {
  if (inode.kind === 'dir') {
    return inode.pending.map((change) => ({ id, fates: [DROPPED, { name: 'named', change }] }));
  }
  const old = inode.pending.length - CHANGES_AT_RISK;
  return inode.pending.map((change, i) => ({ id, fates: i < old ? [{ name: 'whole', change }] : dataFates(change) }));
}

function dataFates(change: DataChange): readonly Fate[] {
  if (change.kind === 'truncate') return [DROPPED, { name: 'cut', change }];
  const { bytes } = change;
  const half = bytes.length >> 1;
  const line = bytes.indexOf(0x0a) + 1;
  const torn = [1, half, line, bytes.length - 1].filter((size) => size > 0 && size < bytes.length);
  const zeros = [
    [0, bytes.length],
    [half, bytes.length],
    [0, half],
    [line, bytes.length],
  ] as const;
  return [
    DROPPED,
    { name: 'whole', change },
    ...[...new Set(torn)].map((size) => ({
      name: `torn at ${size}`,
      change: { ...change, bytes: bytes.subarray(0, size) },
    })),
    ...zeros
      .filter(([from, to]) => from < to)
      .map(([from, to]) => ({ name: `zeros ${from}-${to}`, change: { ...change, bytes: zeroed(bytes, from, to) } })),
  ];
}

function zeroed(bytes: Uint8Array, from: number, to: number): Uint8Array {
  return new Uint8Array(bytes).fill(0, from, to);
}

function resultOf(settled: Inode | undefined, changes: readonly { readonly fate: Fate | undefined }[]): Inode {
  const kept = changes.flatMap(({ fate }) => fate?.change ?? []);
  if (settled?.kind === 'file') {
    const durable = (kept as readonly DataChange[]).reduce(applyData, settled.durable);
    return { ...settled, durable, current: durable };
  }
  const dir = settled as DirInode;
  const durable = (kept as readonly EntryChange[]).reduce(applyEntry, dir.durable);
  return { ...dir, durable, current: durable };
}
