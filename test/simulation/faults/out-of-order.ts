import type { FileSystem, WritableFile } from '../../../src/adapters/file-store/disk/disk.ts';
import { intercept, type Operation } from '../disk/intercept.ts';

const CONTENT = /\/(?:snapshots|artifacts|events)\b/;

/** Puts off what is done to content until the manifest is flushed, and says meanwhile that it is done. */
export function contentLast(fs: FileSystem): FileSystem {
  const late: (() => Promise<unknown>)[] = [];
  const postpone = async (task: () => Promise<unknown>) => {
    late.push(task);
  };
  const catchUp = async () => {
    for (let task = late.shift(); task !== undefined; task = late.shift()) await task();
  };
  const either =
    <Arguments extends readonly [string, ...string[]]>(act: (...names: Arguments) => Promise<void>) =>
    (...names: Arguments) =>
      CONTENT.test(names[0]) ? postpone(() => act(...names)) : act(...names);
  return {
    ...fs,
    rename: either(fs.rename),
    touch: either(fs.touch),
    syncDir: either(fs.syncDir),
    create: async (path) => (CONTENT.test(path) ? lateFile(() => fs.create(path), postpone) : fs.create(path)),
    openEnd: async (path) => {
      const file = await fs.openEnd(path);
      return { ...file, sync: () => file.sync().then(catchUp) };
    },
  };
}

function lateFile(
  create: () => Promise<WritableFile>,
  postpone: (task: () => Promise<unknown>) => Promise<void>,
): WritableFile {
  let file: Promise<WritableFile> | undefined;
  const made = () => {
    file ??= create();
    return file;
  };
  return {
    write: (bytes) => postpone(async () => (await made()).write(bytes)),
    sync: () => postpone(async () => (await made()).sync()),
    truncate: (size) => postpone(async () => (await made()).truncate(size)),
    close: () => postpone(async () => (await made()).close()),
  };
}

/** Flushes a manifest only when the next call comes, and says at once that it is flushed. */
export function manifestFlushedLate(fs: FileSystem): FileSystem {
  const late: (() => unknown)[] = [];
  const isManifestSync = ({ name, path }: Operation) => name === 'sync' && path.endsWith('manifest.jsonl');
  return intercept(fs, (operation, run) => {
    if (isManifestSync(operation)) {
      late.push(run);
      return Promise.resolve() as Promise<never>;
    }
    if (operation.name === 'makeDir') for (const task of late.splice(0)) task();
    return run();
  });
}
