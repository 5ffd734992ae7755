import { quote } from '../../json/json-value.ts';
import { SHOWN_VALUE_BYTES_MAX, SHOWN_VALUES_BYTES_MAX } from '../../log/budgets.ts';
import { type ContextValues, readPath } from '../../run/condition/context-values.ts';
import { TRUNCATION_MARKER, truncate, utf8Length } from '../../text/utf8.ts';

/** The beginning of the line with the next call. */
export const NEXT_CALL = 'Next call:';

/** Lines by which a reader recognises the engine's part of a reply. */
const OUR_LINE = /^(?=[^\S\r\n\u2028\u2029]*(?:-{3,}[^\S\r\n\u2028\u2029]*$|Next call:|Run [0-9a-z]{4} ·))/gm;

/**
 * Text from outside must not look like the engine's own: a note or a value may hold a whole old reply, with tokens that
 * are no longer valid. Lines that look like reserved ones become quotations.
 */
export function quoteReservedLines(text: string): string {
  return text.replaceAll(OUR_LINE, '> ');
}

/** The same for text inside one of the engine's lines. */
export function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}

/** A key or a dotted path in double braces. Anything else in braces is the author's own text. */
const PLACE = /\{\{[ \t]*([\p{L}\p{N}_$-]+(?:\.[\p{L}\p{N}_$-]+)*)[ \t]*\}\}/gu;

/** Fills texts with the values of one place in a run. */
export type ValueFiller = {
  readonly fill: (text: string) => string;
  /** The same for a text that must stay one line. */
  readonly fillLine: (text: string) => string;
  /** A value as JSON on one line, for values that no text asks for. */
  readonly show: (path: string) => string;
  /** Names that had no value so far, and those whose value was cut. */
  readonly unset: ReadonlySet<string>;
  readonly cut: ReadonlySet<string>;
};

/**
 * Values are put in once: braces inside a value stay what they are. All texts of a step share one filler, because they
 * share one budget: a short prompt could otherwise ask for the same long value a thousand times.
 */
export function valueFiller(values: ContextValues): ValueFiller {
  const unset = new Set<string>();
  const cut = new Set<string>();
  let bytesLeft = SHOWN_VALUES_BYTES_MAX;
  const shown = (path: string, form: 'text' | 'json') => {
    const value = readPath(values, path);
    if (value === undefined || value === null) {
      unset.add(path);
      return `[unset: ${path}]`;
    }
    const whole = form === 'text' && typeof value === 'string' ? value : quote(value);
    const bytesMax = Math.max(Math.min(SHOWN_VALUE_BYTES_MAX, bytesLeft), TRUNCATION_MARKER.length);
    const fitting = truncate(whole, bytesMax);
    if (fitting !== whole) cut.add(path);
    bytesLeft -= utf8Length(fitting);
    return fitting;
  };
  const put = (text: string) => text.replaceAll(PLACE, (_, path: string) => shown(path, 'text'));
  return {
    fill: (text) => eachLine(text, put),
    fillLine: (text) => oneLine(put(text)),
    show: (path) => oneLine(shown(path, 'json')),
    unset,
    cut,
  };
}

/** A placeholder never spans two lines, so a line without one is the author's alone and stays untouched. */
function eachLine(text: string, put: (line: string) => string): string {
  const lines = text.split('\n').map((line) => {
    const filled = put(line);
    return filled === line ? line : quoteReservedLines(filled);
  });
  return lines.join('\n');
}

/** Whether a text asks for a value, or for something inside it. */
export function asksFor(text: string, name: string): boolean {
  return [...text.matchAll(PLACE)].some(([, path = '']) => path === name || path.startsWith(`${name}.`));
}

/** A title without its values: an ellipsis in a heading reads better than braces. */
export function titleWithoutValues(title: string): string {
  return title.replaceAll(PLACE, '…');
}
