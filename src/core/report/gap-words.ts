import { TRUNCATION_MARKER } from '../text/utf8.ts';

/** The summary of a gap without the regular expressions that notes had to match; the author's message precedes each. */
export function gapText(summary: string): string {
  const isCut = summary.endsWith(TRUNCATION_MARKER);
  const text = isCut ? summary.slice(0, -TRUNCATION_MARKER.length) : summary;
  return `${text.replace(PATTERN, '')}${isCut ? '…' : ''}`;
}

/** Ends with the pattern, where the pattern was clipped, or with a summary that was cut inside it. */
const PATTERN = / \((?:or )?the notes must match \/(?:.*?(?:\/[a-z]*\)|…)(?=$|[\s.,;])|.*$)/gs;
