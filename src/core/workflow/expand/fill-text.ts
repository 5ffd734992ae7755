import { clip } from '../../text/utf8.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type { TextChange, TextUse } from '../format/field.ts';
import type { ExtensionPoint } from '../format/workflow-fields.ts';
import type { Bindings } from './expanded.ts';

/** What a text may grow to by what is put into it: four times the longest prompt, so that honest use never meets it. */
export const FILLED_LENGTH_MAX = 32_768;

/** `{{wr.bindings.slot}}`, or `{argument}`, but not the `{{name}}` of a context value. */
const PLACES = /\{\{\s*wr\.bindings\.([A-Za-z0-9_.-]+)\s*\}\}|(?<!\{)\{([A-Za-z_][A-Za-z0-9_]*)\}(?!\})/g;

/** What to put where; `undefined` leaves the place as it is. */
type FillIn = {
  readonly slot: (slotId: string) => string | undefined;
  readonly argument: (name: string) => string | undefined;
};

/**
 * Puts values into the open places of a text, in one pass: what is put in is not looked at again. A text that would
 * grow beyond all measure is `undefined`: a few short files could otherwise make one that fills the memory.
 */
export function fillText(text: string, fillIn: FillIn): string | undefined {
  if (!text.includes('{')) return text;
  let length = text.length;
  const filled = [...text.matchAll(PLACES)].map(([whole, slotId, name = '']) => {
    const value = (slotId === undefined ? fillIn.argument(name) : fillIn.slot(slotId)) ?? whole;
    length += value.length - whole.length;
    return value;
  });
  if (length > FILLED_LENGTH_MAX) return undefined;
  let next = 0;
  return text.replaceAll(PLACES, () => filled[next++] ?? '');
}

const MAY_BE_EMPTY: ReadonlySet<TextUse> = new Set(['argument', 'value', 'name']);
/** Braces in these may mean themselves. */
export const AS_IT_IS: ReadonlySet<TextUse> = new Set(['value', 'phrase', 'name']);
const RESERVED = /\{\{\s*wr\.[^}]*\}?\}?/g;

/** What is put into the texts of one file. */
type Filling = {
  readonly points: readonly ExtensionPoint[];
  /** What the workspace chose for extension points; the others have their defaults. */
  readonly bindings: Bindings;
  /** The value of an argument, or nothing where braces mean themselves. */
  readonly argument: (name: string, use: TextUse) => string | undefined;
};

/** A problem with a text; the caller that fills it knows the place. */
type Problem = Omit<CompilerFinding, 'at' | 'severity'>;
export type ReportTextProblem = (problem: Problem, where: { readonly at: string; readonly text: string }) => void;

/** Fills a text in one pass, and reports what would reach the agent as it stands. */
export function filler(filling: Filling, report: ReportTextProblem): TextChange['text'] {
  return (text, use, at) => {
    if (!text.includes('{')) return text;
    const where = { at, text };
    let isRight = true;
    const reportHere = (problem: Problem) => {
      isRight = false;
      report(problem, where);
    };
    const filled = use === 'name' ? text : filledText(text, use, { filling, report: reportHere });
    if (filled === undefined) reportHere(grownTooLong());
    const [left] = filled?.match(RESERVED) ?? [];
    if (left !== undefined) reportHere(placeholderLeft(left, use === 'name'));
    if (isRight && filled === '' && !MAY_BE_EMPTY.has(use)) reportHere(nothingLeft());
    // What was reported is taken out: it is not to be reported again where this text is put into another one.
    return left === undefined ? (filled ?? '') : (filled?.replaceAll(RESERVED, '') ?? '');
  };
}

function filledText(
  text: string,
  use: TextUse,
  { filling, report }: { readonly filling: Filling; readonly report: (problem: Problem) => void },
): string | undefined {
  const { points, bindings, argument } = filling;
  return fillText(text, {
    argument: (name) => argument(name, use),
    slot: (slotId) => {
      const declared = points.find((point) => point.slotId === slotId)?.default;
      if (declared !== undefined) return Object.hasOwn(bindings, slotId) ? (bindings[slotId] ?? declared) : declared;
      const message = `Unknown extension point "${slotId}". Declare it in "extensionPoints".`;
      const unknown = { name: slotId, known: points.map((point) => point.slotId) };
      report({ code: 'unknown_slot', message, unknown });
      return '';
    },
  });
}

/** What may not be empty as it is written may not become so. */
function nothingLeft(): Problem {
  const message = 'What is filled in here is empty, so nothing is left. Fill in a text, or write one around it.';
  return { code: 'text_empty', message };
}

function placeholderLeft(left: string, isName: boolean): Problem {
  const message = isName
    ? `${left} would stay as written: nothing is filled into names of context values and patterns. Remove it.`
    : `The agent would see ${left} as written: only {{wr.bindings.…}} is filled in while compiling. Remove it.`;
  return { code: 'placeholder_left', message };
}

/** Reported where a text would not stop growing. */
export function grownTooLong(): Problem {
  const message = `With everything filled in, this text would have more than ${FILLED_LENGTH_MAX} characters. Shorten it or what is filled in.`;
  return { code: 'text_too_long', message };
}

/** A context value in double braces, as prompts have them. What is filled while compiling is not meant. */
export const PLACE = /\{\{[ \t]*(?!wr\.)[\p{L}\p{N}_$-]+(?:\.[\p{L}\p{N}_$-]+)*[ \t]*\}\}/u;

/**
 * Double braces that hold something else than the name of a value. Those of other languages are left alone: `${{…}}` of
 * build services, and `{{.…}}` of command line tools.
 */
const UNSUPPORTED = /(?<![{$])\{\{(?![ \t]*(?:wr\.|\.))[^{}\n]*\}\}/g;

/** What is wrong with the double braces of a text that an agent reads, in words; `undefined` if nothing is. */
export function unsupportedIn(text: string, isKnown: (place: string) => boolean = () => false): string | undefined {
  const wrong = text.match(UNSUPPORTED)?.find((one) => !PLACE.test(one) && !isKnown(one));
  if (wrong !== undefined) return unsupportedPlace(wrong);
  const open = text.split('\n').flatMap((line) => unclosedIn(line) ?? [])[0];
  if (open === undefined) return undefined;
  return `The agent would see ${clip(open.written, 80)} as written, because a brace is missing. Write {{${clip(open.name, 80)}}}.`;
}

/** One brace too few before or after a name. A line whose braces match is left alone: it may be JSON. */
function unclosedIn(line: string): { readonly written: string; readonly name: string } | undefined {
  const missing = (line.match(/\{/g)?.length ?? 0) - (line.match(/\}/g)?.length ?? 0);
  if (missing === 0) return undefined;
  const [written, name] = (missing > 0 ? UNCLOSED : UNOPENED).exec(line) ?? [];
  return written === undefined || name === undefined ? undefined : { written, name };
}

const UNCLOSED =
  /(?<![{$])\{\{[ \t]*((?!wr\.)[\p{L}_$][\p{L}\p{N}_$-]*(?:\.[\p{L}\p{N}_$-]+)*)[ \t]*(?:\}(?!\})|$|(?=[\s.,;:!?)]))/u;
const UNOPENED = /(?<!\{)\{[ \t]*([\p{L}_$][\p{L}\p{N}_$-]*(?:\.[\p{L}\p{N}_$-]+)*)[ \t]*\}\}(?!\})/u;

function unsupportedPlace(place: string): string {
  const seen = `The agent would see ${clip(place, 80)} as written.`;
  if (/^\{\{[ \t]*(?:[#/^!>&]|if\b|else\b|each\b|end)/.test(place)) {
    return `${seen} Blocks are not supported: put the text into "promptFragments" with a "when", or use a loop.`;
  }
  const [name = 'name'] = place.match(/[\p{L}_$][\p{L}\p{N}_$-]*(?:\.[\p{L}\p{N}_$-]+)*/u) ?? [];
  return `${seen} Only the name of a value is supported, without operators or filters. Write {{${clip(name, 80)}}}.`;
}
