/** Long runs of characters that keys consist of. */
const STRETCH = /[A-Za-z0-9+/_-]{24,}={0,2}/g;
const SEGMENT = /[A-Za-z0-9+_-]{24,}={0,2}/g;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const HEX = /^[0-9a-f]+$/i;
const COMMIT_LENGTH = 40;
const HEX_MIN = 32;
/** Digests have a label: ours are `sha256:…`, those of packages `sha512-…`. */
const DIGEST_LABEL = /^sha(?:1|256|384|512)[-_]/i;
const DIGEST_BEFORE = /sha(?:1|256|384|512):$/i;
const DIGEST_BEFORE_LENGTH = 7;

/** Ranges `[from, to)` that look random. Digests, commits and UUIDs are not secrets. */
export function findRandomText(text: string): readonly (readonly [number, number])[] {
  const found: (readonly [number, number])[] = [];
  for (const { 0: stretch, index } of text.matchAll(STRETCH)) {
    if (DIGEST_BEFORE.test(text.slice(Math.max(0, index - DIGEST_BEFORE_LENGTH), index))) continue;
    // Base64 contains slashes too. In a path, which consists of words, one segment may still be a key.
    const parts = isRandom(stretch) ? [[stretch, 0] as const] : randomSegments(stretch);
    for (const [part, at] of parts) found.push([index + at, index + at + part.length]);
  }
  return found;
}

function randomSegments(stretch: string): readonly (readonly [string, number])[] {
  return [...stretch.matchAll(SEGMENT)].flatMap(({ 0: segment, index }) =>
    isRandom(segment) ? [[segment, index] as const] : [],
  );
}

function isRandom(text: string): boolean {
  if (DIGEST_LABEL.test(text) || UUID.test(text)) return false;
  const bare = text.replace(/=+$/, '');
  if (HEX.test(bare) && /[a-f]/i.test(bare) && /[0-9]/.test(bare)) {
    return bare.length >= HEX_MIN && !(bare.length === COMMIT_LENGTH && bare === bare.toLowerCase());
  }
  const { digits, upper, lower, changes, distinct, longestWord } = measure(bare);
  const letters = upper + lower;
  if (letters === 0) return false;
  if (longestWord >= 24 && digits >= 4 && digits < longestWord * 0.8) return true;
  if (digits >= 2 && changes / (bare.length - 1) >= 0.27) return true;
  return distinct >= 21 && upper >= letters * 0.3 && lower >= letters * 0.3;
}

type Measures = {
  readonly digits: number;
  readonly upper: number;
  readonly lower: number;
  /** Changes between digits and letters, or lower and upper case; the capital at the start of a word does not count. */
  readonly changes: number;
  readonly distinct: number;
  /** The longest part without a separator. */
  readonly longestWord: number;
};

/** Classes of characters: separators, digits, upper case, lower case. */
type Sort = 0 | 1 | 2 | 3;
const [SEPARATOR, DIGIT, UPPER, LOWER]: readonly [Sort, Sort, Sort, Sort] = [0, 1, 2, 3];

function measure(text: string): Measures {
  const counts = [0, 0, 0, 0];
  const seen = new Set<number>();
  let changes = 0;
  let word = 0;
  let longestWord = 0;
  let before: Sort = SEPARATOR;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const sort = sortOf(code);
    seen.add(code);
    counts[sort] = (counts[sort] ?? 0) + 1;
    const isSame = sort === before || (before === UPPER && sort === LOWER);
    if (!isSame && sort !== SEPARATOR && before !== SEPARATOR) changes += 1;
    word = sort === SEPARATOR ? 0 : word + 1;
    longestWord = Math.max(longestWord, word);
    before = sort;
  }
  const [, digits = 0, upper = 0, lower = 0] = counts;
  return { digits, upper, lower, changes, distinct: seen.size, longestWord };
}

function sortOf(code: number): Sort {
  if (code >= 48 && code <= 57) return DIGIT;
  if (code >= 65 && code <= 90) return UPPER;
  return code >= 97 && code <= 122 ? LOWER : SEPARATOR;
}
