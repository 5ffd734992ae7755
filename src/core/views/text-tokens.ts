import { TRUNCATION_MARKER } from '../json/truncate.ts';

/**
 * The words by which text is found, each once, in order. Text and query go through this same function; what is no
 * such word after normalisation is not searchable at all.
 */
export function textTokens(text: string): readonly string[] {
  const normal = text.replaceAll(TRUNCATION_MARKER, '\n').normalize('NFKC').toLowerCase();
  return [...new Set(normal.match(/[a-z0-9_-]+/g))].sort();
}
