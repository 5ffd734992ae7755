import { truncate } from '../../json/truncate.ts';
import { EXAMPLE_NOTES_BYTES_MAX } from '../../log/budgets.ts';
import type { Criteria, CriteriaRule } from '../../workflow/compiled/criteria.ts';
import { evaluateCondition, type Facts } from '../condition/evaluate-condition.ts';
import { evaluateCriteria } from '../condition/evaluate-criteria.ts';
import { samplePattern } from './criteria/sample-pattern.ts';
import { criteriaBullets } from './describe-criteria.ts';

/** Of criteria with alternatives the first few are tried. */
const CHOICES = [0, 1, 2];
/** What fills a text up to its length: plain words, something that hardly any rule forbids, or nothing. */
const FILLERS = ['And so on. ', 'x', '7', ''];

/**
 * Notes that begin with the opening and meet the criteria. Where a rule cannot be met by putting pieces together, the
 * notes name what is asked for instead.
 */
export function exampleNotes(opening: string, criteria: Criteria | undefined, facts: Facts): string {
  if (criteria === undefined) return opening;
  for (const choice of CHOICES) {
    const wish = wishOf(criteria, { facts, choice, isNegated: false }) ?? NOTHING;
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
type Wishing = { readonly facts: Facts; readonly choice: number; readonly isNegated: boolean };

const NOTHING: Wish = { pieces: [], min: 0, max: Number.POSITIVE_INFINITY };

/** `undefined` where nothing counts. */
function wishOf(criteria: Criteria, wishing: Wishing): Wish | undefined {
  switch (criteria.kind) {
    case 'not':
      return wishOf(criteria.criteria, { ...wishing, isNegated: !wishing.isNegated });
    case 'and':
    case 'or': {
      const wishes = criteria.criteria.map((one) => wishOf(one, wishing)).filter((wish) => wish !== undefined);
      const isOneEnough = (criteria.kind === 'or') !== wishing.isNegated;
      return isOneEnough ? wishes[wishing.choice % wishes.length] : together(wishes);
    }
    case 'schema':
      return undefined;
    default:
      if (criteria.when !== undefined && !evaluateCondition(criteria.when, wishing.facts)) return undefined;
      return wishOfRule(criteria, wishing);
  }
}

function together(wishes: readonly Wish[]): Wish | undefined {
  if (wishes.length === 0) return undefined;
  return {
    pieces: wishes.flatMap(({ pieces }) => pieces),
    min: Math.max(...wishes.map(({ min }) => min)),
    max: Math.min(...wishes.map(({ max }) => max)),
  };
}

function wishOfRule(rule: Exclude<CriteriaRule, { kind: 'schema' }>, { facts, isNegated }: Wishing): Wish {
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

/** The pieces in their places, and as much of the filler between them as the lengths ask for and leave room for. */
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
