import { TRUNCATION_MARKER } from './utf8.ts';

/** A count with its noun: `1 step`, `3 steps`. */
export function plural(count: number, noun: string, many = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : many}`;
}

/** Alternatives in a sentence: `a`, `a or b`, `a, b or c`. */
export function orList(words: readonly string[]): string {
  return joined(words, 'or');
}

/** What a step asks for, in a sentence. Beside alternatives, each thing has its own "for". */
export function asksForWords(things: readonly string[]): string {
  return `asks for ${things.some((one) => one.includes(' or ')) ? things.join(', and for ') : andList(things)}`;
}

/** Things in a sentence: `a`, `a and b`, `a, b and c`. */
export function andList(words: readonly string[]): string {
  return joined(words, 'and');
}

function joined(words: readonly string[], last: 'or' | 'and'): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}

const SHOWN_MAX = 5;

/** The first few names and how many more there are: a list that fills the screen helps nobody. */
export function shortList(names: readonly string[], max = SHOWN_MAX): string {
  const more = names.length - max;
  return names.slice(0, max).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

/** Stands in texts for an argument that a call may leave out. */
export const NOT_GIVEN = '(not given)';

const UNITS = ['kB', 'MB', 'GB', 'TB'];

/** A size as people read it. */
export function sizeOf(bytes: number): string {
  let size = bytes;
  let unit = 'B';
  for (const next of UNITS) {
    if (size < 1_000) break;
    size /= 1_000;
    unit = next;
  }
  return `${unit === 'B' ? size : size.toFixed(1)} ${unit}`;
}

/** A word of a suggested command line that stays one word when it is pasted into a shell. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The summary of a gap without the regular expressions that notes had to match; the author's message precedes each. */
export function gapText(summary: string): string {
  const isCut = summary.endsWith(TRUNCATION_MARKER);
  const text = isCut ? summary.slice(0, -TRUNCATION_MARKER.length) : summary;
  return `${text.replace(NOTES_PATTERN, '')}${isCut ? '…' : ''}`;
}

/** Ends with the pattern, where the pattern was clipped, or with a summary that was cut inside it. */
const NOTES_PATTERN =
  / \((?:or |without that value, )?the notes must match \/(?:.*?(?:\/[a-z]*\)|\u2026)(?=$|[\s.,;])|.*$)/gs;

/**
 * Whether the address of a document leads out of where it belongs, as far as the text shows. A package keeps its
 * documents beside the folder of its workflows.
 */
export function leadsOutside({
  source,
  resolveFrom,
}: {
  readonly source: string;
  readonly resolveFrom: 'workspace' | 'package';
}): boolean {
  if (/^(?:[a-z][a-z0-9+.-]+:|[A-Za-z]:|[\\/~])/.test(source)) return true;
  let depth = resolveFrom === 'package' ? 1 : 0;
  for (const part of source.split(/[\\/]/)) {
    depth += part === '..' ? -1 : part === '.' || part === '' ? 0 : 1;
    if (depth < 0) return true;
  }
  return false;
}

/** The author of a session in a list, where `git` stands for: from the git settings, and nobody checked it. */
export function authorWords(author: string): string {
  return `git: ${authorName(author)}`;
}

/** The name in the git settings, or else the address. */
function authorName(author: string): string {
  const [, name = '', address = author] = /^(.*?) ?<(.*)>$/.exec(author) ?? [];
  return name === '' ? address : name;
}
