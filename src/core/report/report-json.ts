import { readableJson } from '../json/readable-json.ts';
import { escapedCharacter, HARMFUL_CHARACTERS } from '../spelling/harmful-characters.ts';
import type { Report } from './report.ts';

/** A report as JSON. What is unseen or changes the direction of text is an escape, so that no screen obeys it. */
export function reportJson(report: Report): string {
  // Line breaks are our own layout: those of texts are escapes already.
  const escaped = (character: string) => (character === '\n' ? character : escapedCharacter(character));
  return `${readableJson(report).replaceAll(HARMFUL_CHARACTERS, escaped)}\n`;
}
