import { type DiskState, pathsOf } from './simulated-disk.ts';

/** Tells which disks are the same to a program that never looks into some of the files. */
export type Fingerprints = { of(state: DiskState): string };

export function fingerprints(isLookedInto: (path: string) => boolean): Fingerprints {
  const byBytes = new WeakMap<Uint8Array, number>();
  const byText = new Map<string, number>();
  const idOf = (bytes: Uint8Array) => {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
    const id = byText.get(text) ?? byText.size;
    byText.set(text, id);
    byBytes.set(bytes, id);
    return id;
  };
  return {
    of: (state) =>
      [...pathsOf(state)]
        .filter(([path]) => isLookedInto(path))
        .map(
          ([path, inode]) =>
            `${path} ${inode.kind === 'dir' ? '' : (byBytes.get(inode.current) ?? idOf(inode.current))}`,
        )
        .sort()
        .join('\n'),
  };
}
