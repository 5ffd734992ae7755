import type { FileSystem, WritableFile } from '../../../src/adapters/file-store/disk/disk.ts';
import { nodeFileSystem } from '../../../src/adapters/file-store/disk/node-file-system.ts';

type Operation = keyof FileSystem | keyof WritableFile;

export type CountingFileSystem = {
  readonly fs: FileSystem;
  /** How often each operation was done since the last time this was asked, and how many bytes were read. */
  taken(): { readonly operations: { readonly [name in Operation]?: number }; readonly bytesRead: number };
};

/** The real file system, which counts. Flushing is counted and left out: it would take nearly all the time. */
export function countingFileSystem(): CountingFileSystem {
  let operations: { [name in Operation]?: number } = {};
  let bytesRead = 0;
  const count = (name: Operation) => {
    operations[name] = (operations[name] ?? 0) + 1;
  };
  const counted = countingEach(count);
  return {
    fs: {
      ...counted,
      read: (path, from) => {
        const bytes = counted.read(path, from);
        bytesRead += bytes?.length ?? 0;
        return bytes;
      },
      create: async (path) => countingFile(await counted.create(path), count),
      openEnd: async (path) => countingFile(await counted.openEnd(path), count),
      syncDir: async () => count('syncDir'),
    },
    taken: () => {
      const seen = { operations, bytesRead };
      operations = {};
      bytesRead = 0;
      return seen;
    },
  };
}

function countingEach(count: (name: Operation) => void): FileSystem {
  const operations = Object.entries(nodeFileSystem).map(([name, operation]) => {
    const counted = (...args: readonly unknown[]) => {
      count(name as keyof FileSystem);
      return (operation as (...args: readonly unknown[]) => unknown)(...args);
    };
    return [name, counted];
  });
  return Object.fromEntries(operations);
}

function countingFile(file: WritableFile, count: (name: Operation) => void): WritableFile {
  return {
    write: (bytes) => {
      count('write');
      return file.write(bytes);
    },
    truncate: (size) => {
      count('truncate');
      return file.truncate(size);
    },
    close: () => {
      count('close');
      return file.close();
    },
    sync: async () => count('sync'),
  };
}
