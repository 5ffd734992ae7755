import type { ManifestPosition } from '../read-manifest.ts';

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
