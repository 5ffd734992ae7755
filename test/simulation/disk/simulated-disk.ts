import { basename, dirname } from 'node:path';
import type { FileSystem, WritableFile } from '../../../src/adapters/file-store/disk/disk.ts';
import { applyData, applyEntry, type DirInode, type FileInode, type Inode } from './inode.ts';
import { systemError } from './system-error.ts';

const TOP = 1;
const FILE_MODE = 0o600;
const NOTHING = new Uint8Array();

/** Everything a disk holds at one moment. Inodes are never changed, only replaced, so a copy is cheap. */
export type DiskState = ReadonlyMap<number, Inode>;

/** A disk in memory that knows what of it would survive a crash. */
export type SimulatedDisk = {
  readonly fs: FileSystem;
  /** The state now; what happens later does not change it. */
  state(): DiskState;
  /** What a failing flush does on real systems: the bytes can still be read, but will never reach the disk. */
  loseUnsynced(path: string): void;
  /** Overwrites a file as no program would. */
  damage(path: string, bytes: Uint8Array): void;
};

const EMPTY_DIR: DirInode = { kind: 'dir', durable: new Map(), current: new Map(), pending: [] };
const EMPTY_FILE: FileInode = { kind: 'file', durable: NOTHING, current: NOTHING, pending: [], touches: 0 };

export const EMPTY_DISK: DiskState = new Map([[TOP, EMPTY_DIR]]);

export function simulatedDisk(from: DiskState = EMPTY_DISK): SimulatedDisk {
  const inodes = new Map(from);
  const fileAt = (path: string) => fileOf(inodes, idAt(inodes, path));
  const changeFile = (id: number, change: (file: FileInode) => FileInode) => {
    inodes.set(id, change(fileOf(inodes, id) ?? EMPTY_FILE));
  };
  const fs: FileSystem = {
    read: (path, start = 0, bytesMax = Number.POSITIVE_INFINITY) =>
      fileAt(path)?.current.slice(start, start + bytesMax),
    size: (path) => fileAt(path)?.current.length,
    modifiedMs: (path) => fileAt(path)?.touches,
    version: (path) => versionOf(fileAt(path)),
    mode: (path) => (fileAt(path) === undefined ? undefined : FILE_MODE),
    list: (path) => [...(dirAt(inodes, path)?.current.keys() ?? [])].sort(),
    makeDir: (path) => makeDir(inodes, path),
    create: async (path) => {
      if (idAt(inodes, path) !== undefined) throw systemError('EEXIST');
      return writable(inodes, addFile(inodes, path));
    },
    openEnd: async (path) => writable(inodes, idAt(inodes, path) ?? addFile(inodes, path)),
    rename: async (from, to) => {
      const id = existing(idAt(inodes, from));
      changeEntries(inodes, dirname(to), { remove: basename(from), set: [basename(to), id] });
    },
    linkNew: async (from, to) => {
      const id = existing(idAt(inodes, from));
      if (idAt(inodes, to) === undefined) changeEntries(inodes, dirname(to), { set: [basename(to), id] });
    },
    remove: async (path) => unname(inodes, path),
    removeTree: async (path) => unname(inodes, path),
    touch: async (path) => changeFile(existing(idAt(inodes, path)), (file) => ({ ...file, touches: file.touches + 1 })),
    syncFile: (path) => writable(inodes, existing(idAt(inodes, path))).sync(),
    syncDir: async (path) => {
      const id = existing(idAt(inodes, path));
      const dir = dirAt(inodes, path);
      if (dir === undefined) throw systemError('ENOTDIR');
      inodes.set(id, { ...dir, durable: dir.pending.reduce(applyEntry, dir.durable), pending: [] });
    },
  };
  return {
    fs,
    state: () => new Map(inodes),
    loseUnsynced: (path) => changeFile(existing(idAt(inodes, path)), (file) => ({ ...file, pending: [] })),
    damage: (path, bytes) =>
      changeFile(existing(idAt(inodes, path)), (file) => ({ ...file, durable: bytes, current: bytes, pending: [] })),
  };
}

/** Inodes are replaced on every change, so the identity of the bytes shows one. */
const versions = new WeakMap<Uint8Array, string>();
let versionsGiven = 0;

function versionOf(file: FileInode | undefined): string | undefined {
  if (file === undefined) return undefined;
  const known = versions.get(file.current);
  if (known !== undefined) return known;
  versionsGiven += 1;
  versions.set(file.current, `${versionsGiven}`);
  return `${versionsGiven}`;
}

/** Every file that can be reached, by path. */
export function filesOf(state: DiskState): ReadonlyMap<string, Uint8Array> {
  return new Map(
    [...pathsOf(state)].flatMap(([path, inode]) => (inode.kind === 'file' ? [[path, inode.current]] : [])),
  );
}

/** Every file and directory that can be reached. */
export function* pathsOf(state: DiskState, from = '', id = TOP): Generator<readonly [path: string, inode: Inode]> {
  const inode = state.get(id);
  if (inode === undefined) return;
  yield [from, inode];
  if (inode.kind === 'dir') for (const [name, child] of inode.current) yield* pathsOf(state, `${from}/${name}`, child);
}

function writable(inodes: Map<number, Inode>, id: number): WritableFile {
  const change = (step: (file: FileInode) => FileInode) => {
    const file = fileOf(inodes, id);
    if (file !== undefined) inodes.set(id, step(file));
  };
  return {
    write: async (bytes) =>
      change((file) => addData(file, { kind: 'write', offset: file.current.length, bytes: new Uint8Array(bytes) })),
    truncate: async (size) => change((file) => addData(file, { kind: 'truncate', size })),
    // Not simply what can be read: bytes that an earlier flush has lost stay lost.
    sync: async () =>
      change((file) => ({ ...file, durable: file.pending.reduce(applyData, file.durable), pending: [] })),
    close: async () => undefined,
  };
}

function addData(file: FileInode, change: FileInode['pending'][number]): FileInode {
  return { ...file, current: applyData(file.current, change), pending: [...file.pending, change] };
}

function addFile(inodes: Map<number, Inode>, path: string): number {
  const id = addInode(inodes, EMPTY_FILE);
  changeEntries(inodes, dirname(path), { set: [basename(path), id] });
  return id;
}

function makeDir(inodes: Map<number, Inode>, path: string): readonly string[] {
  if (idAt(inodes, path) !== undefined) return [];
  const above = makeDir(inodes, dirname(path));
  changeEntries(inodes, dirname(path), { set: [basename(path), addInode(inodes, EMPTY_DIR)] });
  return [...above, path];
}

function addInode(inodes: Map<number, Inode>, inode: Inode): number {
  const id = Math.max(...inodes.keys()) + 1;
  inodes.set(id, inode);
  return id;
}

function changeEntries(inodes: Map<number, Inode>, path: string, change: DirInode['pending'][number]): void {
  const id = existing(idAt(inodes, path));
  const dir = dirAt(inodes, path);
  if (dir === undefined) throw systemError('ENOTDIR');
  inodes.set(id, { ...dir, current: applyEntry(dir.current, change), pending: [...dir.pending, change] });
}

function unname(inodes: Map<number, Inode>, path: string): void {
  if (idAt(inodes, path) !== undefined) changeEntries(inodes, dirname(path), { remove: basename(path) });
}

function idAt(inodes: DiskState, path: string): number | undefined {
  let id: number | undefined = TOP;
  for (const name of path.split('/').filter((part) => part !== '')) {
    const dir: Inode | undefined = id === undefined ? undefined : inodes.get(id);
    id = dir?.kind === 'dir' ? dir.current.get(name) : undefined;
  }
  return id;
}

function dirAt(inodes: DiskState, path: string): DirInode | undefined {
  const id = idAt(inodes, path);
  const inode = id === undefined ? undefined : inodes.get(id);
  return inode?.kind === 'dir' ? inode : undefined;
}

function fileOf(inodes: DiskState, id: number | undefined): FileInode | undefined {
  const inode = id === undefined ? undefined : inodes.get(id);
  return inode?.kind === 'file' ? inode : undefined;
}

function existing(id: number | undefined): number {
  if (id === undefined) throw systemError('ENOENT');
  return id;
}
