import { TRUNCATION_MARKER } from './utf8.ts';

/** The words of a query, each once. A text matches if it contains all of them, in any case and anywhere in a word. */
export function searchWords(query: string): readonly string[] {
  return [...new Set(normal(query).split(/\s+/))].filter((word) => word !== '');
}

/** The words that a text contains. */
export function wordsIn(text: string, words: readonly string[]): readonly string[] {
  const searched = normal(text);
  return words.filter((word) => searched.includes(word));
}

/** About this many characters are shown before the match, and twice as many after it. */
const BEFORE_LENGTH = 60;

/** One line of a text around the first word that it contains. */
export function snippetOf(text: string, words: readonly string[], before: number = BEFORE_LENGTH): string {
  const at = placeOf(text, words);
  const [start, end] = [Math.max(0, at - before), at + 2 * before];
  // Half a surrogate pair at either end would not be valid text.
  const line = text.slice(start, end).toWellFormed().replaceAll('\ufffd', '').replaceAll(/\s+/g, ' ').trim();
  return `${start > 0 ? '…' : ''}${line}${end < text.length ? '…' : ''}`;
}

/** Where the first of the words is in the text as it was written. Normalizing may change the lengths of its parts. */
function placeOf(text: string, words: readonly string[]): number {
  const whole = normal(text);
  const parts = whole.length === text.length ? [] : [...text.matchAll(/\P{M}\p{M}*|\p{M}+/gsu)];
  const searched = parts.length === 0 ? whole : parts.map(([part]) => normal(part)).join('');
  const places = words.map((word) => searched.indexOf(word)).filter((at) => at >= 0);
  const at = places.length === 0 ? 0 : Math.min(...places);
  let passed = 0;
  for (const { 0: part, index } of parts) {
    passed += normal(part).length;
    if (passed > at) return index;
  }
  return parts.length === 0 ? at : 0;
}

function normal(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}

/**
 * The searchable words of a text, each once, in order. Text and query both go through this function; anything that is
 * not such a word after normalization cannot be searched for. A hyphen or an underscore separates words like a space, so
 * `--json` is found as "json", and "login-timeout" has both words of "login timeout".
 */
export function textTokens(text: string): readonly string[] {
  const normal = text.replaceAll(TRUNCATION_MARKER, '\n').normalize('NFKC').toLowerCase();
  // A pattern for all scripts takes long to prepare, and most texts need none.
  if (!/[^\0-\x7f]/.test(normal)) return [...new Set(normal.match(/[a-z0-9]+/g))].sort();
  const words = normal.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...new Set(words.flatMap(tokensOf))].sort();
}

const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** Scripts without spaces between words are searched by characters and by pairs of them. */
function tokensOf(word: string): readonly string[] {
  if (!/[^\p{ASCII}]/u.test(word)) return [word];
  const runs = word.match(UNSPACED);
  if (runs === null) return [word];
  const others = word.split(UNSPACED).filter((part) => part !== '');
  return [...others, ...runs.flatMap(pairsOf)];
}

function pairsOf(run: string): readonly string[] {
  const characters = [...run];
  return characters.flatMap((one, i) => [one, ...(i === 0 ? [] : [`${characters[i - 1]}${one}`])]);
}

const CODE_LENGTH = 3;
const CODE_LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/**
 * Words as codes of three characters, sorted: small enough to keep for every session. About one word in 262,144 has the
 * code of another, so a match must be checked against the words themselves.
 */
export function wordCodes(words: readonly string[]): string {
  return [...new Set(words.map(wordCode))].sort().join('');
}

export function wordCode(word: string): string {
  // FNV-1a, folded from 32 to 18 bits.
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  const bits = (hash >>> 14) ^ (hash & 0x3fff);
  return `${CODE_LETTERS[bits >>> 12]}${CODE_LETTERS[(bits >>> 6) & 63]}${CODE_LETTERS[bits & 63]}`;
}

/** Whether codes contain a code. */
export function hasWordCode(codes: string, code: string): boolean {
  let at = codes.indexOf(code);
  // Three characters that belong to two codes are not one of them.
  while (at >= 0 && at % CODE_LENGTH !== 0) at = codes.indexOf(code, at + 1);
  return at >= 0;
}
