import type { FileSystem, WritableFile } from '../../../src/adapters/file-store/disk/disk.ts';

export type Operation = {
  readonly name: keyof FileSystem | keyof WritableFile;
  readonly path: string;
  /** Where a rename or a link goes. */
  readonly to?: string;
  readonly bytes?: Uint8Array;
};

/** Stands between a program and its file system. What is written may be exchanged. */
export type Around = <Value>(operation: Operation, run: (bytes?: Uint8Array) => Value) => Value | Promise<never>;

/** What only looks. */
const READING: readonly Operation['name'][] = ['read', 'size', 'modifiedMs', 'version', 'mode', 'list'];

export function isReading({ name }: Operation): boolean {
  return READING.includes(name);
}

/** A file system with something in between. Reading is synchronous, so there `around` must answer at once. */
export function intercept(fs: FileSystem, around: Around): FileSystem {
  const now = <Value>(operation: Operation, run: () => Value) => around(operation, run) as Value;
  return {
    read: (path, from, bytesMax) => now({ name: 'read', path }, () => fs.read(path, from, bytesMax)),
    size: (path) => now({ name: 'size', path }, () => fs.size(path)),
    modifiedMs: (path) => now({ name: 'modifiedMs', path }, () => fs.modifiedMs(path)),
    version: (path) => now({ name: 'version', path }, () => fs.version(path)),
    mode: (path) => now({ name: 'mode', path }, () => fs.mode(path)),
    list: (path) => now({ name: 'list', path }, () => fs.list(path)),
    makeDir: (path) => now({ name: 'makeDir', path }, () => fs.makeDir(path)),
    create: async (path) => opened(path, await around({ name: 'create', path }, () => fs.create(path)), around),
    openEnd: async (path) => opened(path, await around({ name: 'openEnd', path }, () => fs.openEnd(path)), around),
    rename: async (path, to) => around({ name: 'rename', path, to }, () => fs.rename(path, to)),
    linkNew: async (path, to) => around({ name: 'linkNew', path, to }, () => fs.linkNew(path, to)),
    remove: async (path) => around({ name: 'remove', path }, () => fs.remove(path)),
    removeTree: async (path) => around({ name: 'removeTree', path }, () => fs.removeTree(path)),
    touch: async (path) => around({ name: 'touch', path }, () => fs.touch(path)),
    syncFile: async (path) => around({ name: 'syncFile', path }, () => fs.syncFile(path)),
    syncDir: async (path) => around({ name: 'syncDir', path }, () => fs.syncDir(path)),
  };
}

function opened(path: string, file: WritableFile, around: Around): WritableFile {
  return {
    write: async (bytes) => around({ name: 'write', path, bytes }, (exchanged) => file.write(exchanged ?? bytes)),
    sync: async () => around({ name: 'sync', path }, () => file.sync()),
    truncate: async (size) => around({ name: 'truncate', path }, () => file.truncate(size)),
    close: async () => around({ name: 'close', path }, () => file.close()),
  };
}
