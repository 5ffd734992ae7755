import { EXAMPLE_NOTES_BYTES_MAX } from '../log/budgets.ts';
import { evaluateCondition, type Facts } from '../run/condition/evaluate-condition.ts';
import { evaluateCriteria } from '../run/condition/evaluate-criteria.ts';
import { criteriaBullets } from '../run/requirements/describe-criteria.ts';
import { truncate } from '../text/utf8.ts';
import { type Criteria, type CriteriaRule, foldCriteria } from '../workflow/compiled/criteria.ts';
import type { CompilePattern } from '../workflow/pattern.ts';

/** A longer sample would help nobody. */
const SAMPLE_LENGTH_MAX = 512;
/** Characters to try for a class: plain ones first, because people read the sample. */
const ASCII = Array.from({ length: 95 }, (_, i) => String.fromCodePoint(0x20 + i));
const TRIED = [...'a1A-', ...ASCII, '\n', '\t', 'é', '€'];

/** An author's pattern and the engine that checks the sample. */
export type SampledPattern = {
  readonly pattern: string;
  readonly flags: string;
  readonly compilePattern: CompilePattern;
};

/** A short text that matches a pattern; `undefined` where none is found by reading it from left to right. */
export function samplePattern(sampled: SampledPattern): string | undefined {
  const compiled = sampled.compilePattern(sampled.pattern, sampled.flags);
  if (compiled.isErr()) return undefined;
  const cursor: Cursor = { ...sampled, at: 0 };
  const sample = alternatives(cursor);
  if (sample === undefined || cursor.at < sampled.pattern.length) return undefined;
  return compiled.value.test(sample) ? sample : undefined;
}

type Cursor = SampledPattern & { at: number };

/** The first alternative is used; the others are read only to get past them. */
function alternatives(cursor: Cursor): string | undefined {
  const first = sequence(cursor);
  while (cursor.pattern[cursor.at] === '|') {
    cursor.at += 1;
    sequence(cursor);
  }
  return first;
}

function sequence(cursor: Cursor): string | undefined {
  let text: string | undefined = '';
  while (cursor.at < cursor.pattern.length && !'|)'.includes(cursor.pattern[cursor.at] ?? '')) {
    const one = atom(cursor);
    const times = repetition(cursor);
    if (one === undefined || text === undefined) text = times === 0 ? text : undefined;
    else text = text.length + one.length * times > SAMPLE_LENGTH_MAX ? undefined : text + one.repeat(times);
  }
  return text;
}

function atom(cursor: Cursor): string | undefined {
  const found = ATOM.exec(cursor.pattern.slice(cursor.at))?.[0] ?? '';
  cursor.at += found.length;
  if (found.startsWith('(')) return group(cursor, found);
  if (ZERO_WIDTH.test(found)) return '';
  if (found === '.' || (found.length > 1 && '[\\'.includes(found.charAt(0)))) return member(cursor, found);
  return found;
}

/** A group head, a class, an escape, or one character. */
const ATOM =
  /^(?:\((?:\?(?:P?<[A-Za-z_]\w*>|[a-zA-Z-]*[:)]))?|\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\\(?:[pPxu]\{[^}]*\}|x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|[\s\S])|[\s\S])/u;
const ZERO_WIDTH = /^(?:\^|\$|\\[bBAzZ])$/;

function group(cursor: Cursor, head: string): string | undefined {
  // Flags without a group of their own, like `(?i)`.
  if (head.endsWith(')')) return '';
  const inside = alternatives(cursor);
  cursor.at += 1;
  return inside;
}

/** The smallest number of repetitions. */
function repetition(cursor: Cursor): number {
  const found = /^(?:[*+?]|\{(\d+)(?:,\d*)?\})\??/.exec(cursor.pattern.slice(cursor.at));
  if (found === null) return 1;
  cursor.at += found[0].length;
  if (found[1] !== undefined) return Number(found[1]);
  return found[0].startsWith('+') ? 1 : 0;
}

/** A character that matches this class or escape. */
function member({ compilePattern, flags }: Cursor, source: string): string | undefined {
  const compiled = compilePattern(`^(?:${source})$`, flags);
  if (compiled.isErr()) return undefined;
  // Most escapes stand for the character itself.
  const own = source.startsWith('\\') ? [source.slice(1)] : [];
  return [...own, ...TRIED].find((character) => compiled.value.test(character));
}

/** How many alternatives of criteria are tried. */
const CHOICES = [0, 1, 2];
/** Text that fills notes up to their length: plain words, something that hardly any rule forbids, or nothing. */
const FILLERS = ['And more of it. ', 'x', '7', ''];

/**
 * Notes that begin with the opening and meet the criteria. Where no combination of pieces meets them, the notes list the
 * rules instead.
 */
export function sampleNotes(opening: string, criteria: Criteria | undefined, facts: Facts): string {
  if (criteria === undefined) return opening;
  for (const choice of CHOICES) {
    const wish = wishOf(criteria, facts, choice) ?? NOTHING;
    for (const filler of [`${opening} `, ...FILLERS]) {
      const notes = compose(wish, filler);
      if (notes.trim() !== '' && evaluateCriteria(criteria, notes, facts).length === 0) return notes;
    }
  }
  return truncate([opening, ...criteriaBullets(criteria, facts)].join('\n'), EXAMPLE_NOTES_BYTES_MAX);
}

/** What notes should hold. */
type Wish = { readonly pieces: readonly Piece[]; readonly min: number; readonly max: number };
type Piece = { readonly text: string; readonly place: 'first' | 'anywhere' | 'last' };

const NOTHING: Wish = { pieces: [], min: 0, max: Number.POSITIVE_INFINITY };

/** `undefined` where no rule counts. */
function wishOf(criteria: Criteria, facts: Facts, choice: number): Wish | undefined {
  return foldCriteria<(isNegated: boolean) => Wish | undefined>(criteria, {
    rule: (rule) => (isNegated) => {
      if (rule.kind === 'schema' || (rule.when !== undefined && !evaluateCondition(rule.when, facts))) return undefined;
      return wishOfRule(rule, facts, isNegated);
    },
    not: (part) => (isNegated) => part(!isNegated),
    join: (kind, parts) => (isNegated) => {
      const wishes = parts.map((part) => part(isNegated)).filter((wish) => wish !== undefined);
      const isOneEnough = (kind === 'or') !== isNegated;
      return isOneEnough ? wishes[choice % wishes.length] : together(wishes);
    },
  })(false);
}

function together(wishes: readonly Wish[]): Wish | undefined {
  if (wishes.length === 0) return undefined;
  return {
    pieces: wishes.flatMap(({ pieces }) => pieces),
    min: Math.max(...wishes.map(({ min }) => min)),
    max: Math.min(...wishes.map(({ max }) => max)),
  };
}

function wishOfRule(rule: Exclude<CriteriaRule, { kind: 'schema' }>, facts: Facts, isNegated: boolean): Wish {
  if (rule.kind === 'length') {
    const { min = 0, max = Number.POSITIVE_INFINITY } = rule;
    if (!isNegated) return { pieces: [], min, max };
    return min > 0 ? { pieces: [], min: 0, max: min - 1 } : { ...NOTHING, min: max + 1 };
  }
  if (isNegated) return NOTHING;
  if (rule.kind === 'contains') return { ...NOTHING, pieces: [{ text: rule.value, place: 'anywhere' }] };
  const text = samplePattern({ ...rule, compilePattern: facts.compilePattern });
  if (text === undefined) return NOTHING;
  const place = /^(?:\(\?[a-z]+\))?\^|^\\A/.test(rule.pattern)
    ? 'first'
    : /[^\\]\$$/.test(rule.pattern)
      ? 'last'
      : 'anywhere';
  return { ...NOTHING, pieces: [{ text, place }] };
}

/** The pieces in their places, with as much filler between them as the length rules need and allow. */
function compose({ pieces, min, max }: Wish, filler: string): string {
  if (min > EXAMPLE_NOTES_BYTES_MAX) return '';
  const inPlace = (place: Piece['place']) => pieces.filter((piece) => piece.place === place).map(({ text }) => text);
  const join = (between: string) =>
    [...inPlace('first'), between, ...inPlace('anywhere'), ...inPlace('last')].filter((text) => text !== '').join('\n');
  const bare = [...join('')].length;
  const seam = bare === 0 ? 0 : 1;
  const room = max - bare - seam;
  const wanted = Math.min(Math.max(filler.trimEnd().length, min - bare - seam), room);
  if (wanted <= 0 || filler === '') return join('');
  const gap = filler.length - filler.trimEnd().length;
  const whole = filler.repeat(Math.ceil((wanted + gap) / filler.length)).trimEnd();
  // A sentence is cut only where there is no room for all of it.
  return join(whole.length <= room ? whole : whole.slice(0, wanted));
}
