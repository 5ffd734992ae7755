import type { ManifestPosition } from './read-manifest.ts';

const NEWLINE = 0x0a;

/** One line of a file, without its newline. A last line without one was cut off. */
export type StoredLine = {
  readonly bytes: Uint8Array;
  readonly offset: number;
  readonly end: number;
  readonly isWhole: boolean;
};

/** Splits bytes that start at an offset of their file. */
export function splitLines(bytes: Uint8Array, offset: number): readonly StoredLine[] {
  const lines: StoredLine[] = [];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(NEWLINE, start);
    const isWhole = newline >= 0;
    const stop = isWhole ? newline : bytes.length;
    const end = isWhole ? newline + 1 : bytes.length;
    lines.push({ bytes: bytes.subarray(start, stop), offset: offset + start, end: offset + end, isWhole });
    start = end;
  }
  return lines;
}

/**
 * Whether a manifest was longer than it is. A segment is written only once the manifest attests all events before it,
 * so one that begins behind the next event cannot come from an append that was cut off.
 */
export function isCutShort(
  { nextEventIndex }: Pick<ManifestPosition, 'nextEventIndex'>,
  segmentNames: readonly string[],
): boolean {
  return segmentNames.some((name) => {
    const [, first] = /^(\d+)-\d+\.jsonl$/.exec(name) ?? [];
    return first !== undefined && Number(first) > nextEventIndex;
  });
}
