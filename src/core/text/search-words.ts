import { TRUNCATION_MARKER } from './utf8.ts';

/** The words of a query, each once: a text is found when it holds all of them, in any case and anywhere in a word. */
export function searchWords(query: string): readonly string[] {
  return [...new Set(normal(query).split(/\s+/))].filter((word) => word !== '');
}

/** Those of the words that a text holds. */
export function wordsIn(text: string, words: readonly string[]): readonly string[] {
  const searched = normal(text);
  return words.filter((word) => searched.includes(word));
}

/** About this much is shown before what was found, and twice as much from there on. */
const BEFORE_LENGTH = 60;

/** One line of a text around the first of the words that it holds. */
export function snippetOf(text: string, words: readonly string[], before: number = BEFORE_LENGTH): string {
  const lower = normal(text);
  // Normalising may change lengths; then positions in the one mean nothing in the other.
  const shown = lower.length === text.length ? text : lower;
  const places = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0);
  const at = places.length === 0 ? 0 : Math.min(...places);
  const [start, end] = [Math.max(0, at - before), at + 2 * before];
  // Half a character at either end would be no text any more.
  const line = shown.slice(start, end).toWellFormed().replaceAll('\ufffd', '').replaceAll(/\s+/g, ' ').trim();
  return `${start > 0 ? '…' : ''}${line}${end < shown.length ? '…' : ''}`;
}

function normal(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/**
 * The words by which text is found, each once, in order. Text and query go through this same function; what is no
 * such word after normalisation is not searchable at all.
 */
export function textTokens(text: string): readonly string[] {
  const normal = text.replaceAll(TRUNCATION_MARKER, '\n').normalize('NFKC').toLowerCase();
  return [...new Set(normal.match(/[a-z0-9_-]+/g))].sort();
}
