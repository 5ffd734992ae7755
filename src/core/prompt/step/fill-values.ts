import { unreachable } from '../../assert.ts';
import { type JsonValue, quote } from '../../json/json-value.ts';
import { INLINE_VALUE_BYTES_MAX, SHOWN_VALUE_BYTES_MAX, SHOWN_VALUES_BYTES_MAX } from '../../log/budgets.ts';
import { type ContextValues, fillPlaces, pathsIn, readPath } from '../../run/condition/context-values.ts';
import { TRUNCATION_MARKER, truncate, utf8Length } from '../../text/utf8.ts';
import { hiddenCharacters, quoteReservedLines, RECORDED, visibleJson, visibleLine } from '../../text/visible-text.ts';
import { NOT_GIVEN } from '../../text/words.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';

/** Fills texts with the values of one place in a run. */
export type ValueFiller = {
  /** Without the names that mean something else in this text. */
  readonly fill: (text: string, except?: readonly string[]) => string;
  /** The same for a text that must stay one line. */
  readonly fillLine: (text: string) => string;
  /** The same as a whole in quotation marks; its values have none of their own. */
  readonly fillQuoted: (text: string) => string;
  /** On one line without quotation marks, for lists that people read. */
  readonly fillBare: (text: string) => string;
  /** A value as JSON on one line, for values that no text asks for. */
  readonly show: (path: string) => string;
  /** Values that have no room in the text, by name: they belong in the block of recorded text. */
  readonly apart: ReadonlyMap<string, string>;
  /** Names that had no value so far, and those whose value was cut. */
  readonly unset: ReadonlySet<string>;
  readonly cut: ReadonlySet<string>;
};

/** What surrounds a place: it decides how a value can stand there without being taken for the author's words. */
type Surroundings = 'text' | 'code' | 'quoted';

/**
 * Values are put in once: braces inside a value stay what they are. All texts of a step share one filler, because they
 * share one budget: a short prompt could otherwise ask for the same long value a thousand times.
 */
export function valueFiller(values: ContextValues, workflow?: Pick<CompiledWorkflow, 'arguments'>): ValueFiller {
  const optional = workflow?.arguments?.filter(({ isRequired }) => !isRequired).map(({ name }) => name) ?? [];
  const unset = new Set<string>();
  const cut = new Set<string>();
  const apart = new Map<string, string>();
  let bytesLeft = SHOWN_VALUES_BYTES_MAX;
  const setApart = (path: string, whole: string) => {
    if (!apart.has(path)) {
      const bytesMax = Math.max(Math.min(SHOWN_VALUE_BYTES_MAX, bytesLeft), TRUNCATION_MARKER.length);
      const fitting = truncate(whole, bytesMax);
      if (fitting !== whole) cut.add(path);
      bytesLeft -= utf8Length(fitting);
      apart.set(path, fitting);
    }
    return `[${path}: see "${RECORDED}" below]`;
  };
  const shown = (path: string, around: Surroundings) => {
    const value = readPath(values, path);
    if (value === undefined || value === null) {
      // As in a call of a routine that leaves it out.
      if (optional.includes(path)) return NOT_GIVEN;
      unset.add(path);
      return `[unset: ${path}]`;
    }
    const whole = typeof value === 'string' ? value : quote(value);
    const inline = utf8Length(whole) > INLINE_VALUE_BYTES_MAX ? undefined : inlineValue(value, around);
    if (inline === undefined || utf8Length(inline) > bytesLeft) return setApart(path, whole);
    bytesLeft -= utf8Length(inline);
    return inline;
  };
  const put: Put = (text, around, except = []) => {
    const isCode = around === undefined ? codeIn(text) : () => false;
    return fillPlaces(text, (path, place, at) => {
      if (except.includes(path)) return place;
      const isQuoted = text[at - 1] === '"' && text[at + place.length] === '"';
      return shown(path, around ?? (isCode(at) ? 'code' : isQuoted ? 'quoted' : 'text'));
    });
  };
  const fillBare = (text: string) => visibleLine(put(text, 'code'));
  return {
    fill: (text, except) => eachLine(text, (line, around) => put(line, around, except)),
    fillLine: (text) => visibleLine(put(text)),
    fillQuoted: (text) => quote(fillBare(text)),
    fillBare,
    show: (path) => shown(path, 'text'),
    apart,
    unset,
    cut,
  };
}

type Put = (text: string, around?: Surroundings, except?: readonly string[]) => string;

/** A short value as it stands in its place; `undefined` if it cannot stand there. */
function inlineValue(value: JsonValue, around: Surroundings): string | undefined {
  const isText = typeof value === 'string';
  const json = visibleJson(quote(value));
  switch (around) {
    case 'text':
      return json;
    case 'quoted':
      return isText ? json.slice(1, -1) : json;
    case 'code':
      return codeValue(isText ? value : json);
    default:
      return unreachable(around);
  }
}

/** In code a value stands as it is, so it must not end the code, begin a line or hide anything. */
function codeValue(text: string): string | undefined {
  const isPlain = !/[`\r\n]|~~~/.test(text) && hiddenCharacters(text).length === 0;
  return isPlain ? text : undefined;
}

/** Whether a place of a line is inside a code span. */
function codeIn(line: string): (at: number) => boolean {
  const spans: (readonly [number, number])[] = [];
  for (const span of line.matchAll(CODE_SPAN)) spans.push([span.index, span.index + span[0].length]);
  return (at) => spans.some(([from, to]) => from < at && at < to);
}

/** A run of backticks up to the next run of the same length. */
const CODE_SPAN = /(?<!`)(`+)(?!`)[^\n]*?(?<!`)\1(?!`)/g;

const FENCE = /^ {0,3}(`{3,}|~{3,})/;

/**
 * Fills line by line: a placeholder never spans two lines, and a line without one is the author's alone and stays
 * untouched. In a fenced block values are code.
 */
function eachLine(text: string, put: (line: string, around?: Surroundings) => string): string {
  let fence: string | undefined;
  const lines = text.split('\n').map((line) => {
    const mark = FENCE.exec(line)?.[1];
    const isMark = mark !== undefined && (fence === undefined || mark.startsWith(fence));
    const isFenced = fence !== undefined;
    if (isMark) fence = isFenced ? undefined : mark;
    const filled = put(line, isFenced && !isMark ? 'code' : undefined);
    return filled === line ? line : quoteReservedLines(filled);
  });
  return lines.join('\n');
}

/** Whether a text asks for a value, or for something inside it. */
export function asksFor(text: string, name: string): boolean {
  return pathsIn(text).some((path) => path === name || path.startsWith(`${name}.`));
}

/** A title without its values: an ellipsis in a heading reads better than braces. */
export function titleWithoutValues(title: string): string {
  return fillPlaces(title, () => '…');
}
