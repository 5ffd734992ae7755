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

const SEGMENT = /^(\d+)-\d+\.jsonl$/;

/** A half-written file, which its writer removes or renames unless it is killed. */
export const LEFT_BY_A_CRASH = /^\..+\.tmp$/;

/** Names in the folder of segments that a killed writer left: half-written files, and segments nobody attested. */
export function leftByWriters(names: readonly string[], attested: ReadonlySet<string>): readonly string[] {
  return names.filter((name) => LEFT_BY_A_CRASH.test(name) || (SEGMENT.test(name) && !attested.has(`events/${name}`)));
}

/**
 * Whether segments that nobody attests must stay, by the names in the session's folder. An acknowledged append whose
 * record was damaged looks like an interrupted one; its segment is then the only copy of its events.
 */
export function mayHoldEvents(names: readonly string[]): boolean {
  return names.some((name) => name.startsWith('manifest.jsonl.torn-'));
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
    const [, first] = SEGMENT.exec(name) ?? [];
    return first !== undefined && Number(first) > nextEventIndex;
  });
}
