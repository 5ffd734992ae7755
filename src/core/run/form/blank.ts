import { isObject, type JsonObject, type JsonValue, parseJson, quote } from '../../json/json-value.ts';
import { cutAtWord } from '../../text/utf8.ts';
import { isPlainText } from '../../text/visible-text.ts';

/** A blank with its marker, in bytes. */
const BLANK_BYTES_MAX = 160;
const OPEN = '<fill: ';
const CLOSE = '>';
/** What fits between the marker and its end. */
const WORDS_BYTES_MAX = BLANK_BYTES_MAX - OPEN.length - CLOSE.length;

/** A place in an offered call that the agent must fill in. Sent back as it is, it counts as nothing. */
export function blank(words: string, bytesMax = WORDS_BYTES_MAX): string {
  const plain = words.replaceAll('<', '(').replaceAll('>', ')').replaceAll(/\s+/g, ' ').trim();
  return `${OPEN}${cutAtWord(plain, Math.min(bytesMax, WORDS_BYTES_MAX))}${CLOSE}`;
}

export const WORK_WORDS = 'what you did, what you found, what is open';
export const ANSWER_WORDS = 'what the user said, in their words';
export const PROGRESS_WORDS = 'your progress so far';
export const SAVED_WORDS = 'what is done, and what is open';
export const BESIDE_WORDS = 'notes asked for, or remove this field';
export const AGAIN_WORDS = 'the notes you sent, again';
/** The words of every blank for notes that no author wrote. */
export const NOTES_WORDS = [WORK_WORDS, ANSWER_WORDS, PROGRESS_WORDS, SAVED_WORDS, BESIDE_WORDS, AGAIN_WORDS];

/** A blank with these words to choose from. */
export function choiceBlank(choices: readonly JsonValue[]): string {
  const words = choices.map((choice) => (typeof choice === 'string' ? choice : quote(choice)));
  // One known value is not the only answer; with a single right answer no blank is offered.
  return blank(words.length === 1 ? `${words[0]}, or another value` : words.join(' | '));
}

/** Notes to fill in: a blank for each of these words, then lines with blanks of their own. */
export function notesForm(openings: readonly string[], lines: readonly string[]): string {
  return [...openings.map((words) => blank(words)), ...lines].join('\n');
}

const LESS = String.raw`(?:[<\uff1c]|&(?:amp;)*(?:lt|#0*60|#x0*3c);|\\+u003c|\\x3c|%3c)`;
const MORE = String.raw`(?:[>\uff1e]|&(?:amp;)*(?:gt|#0*62|#x0*3e);|\\+u003e|\\x3e|%3e)`;
const OPENED = `${LESS}fill:`;
/** The marker, also in the spellings of HTML and JSON. */
const MARKER = new RegExp(`${OPENED}(?:(?!${MORE}).){0,400}${MORE}`, 'i');
/** Alone on its line; quotation marks and marks of lists do not make it an answer. */
const WHOLE_MARKER = new RegExp(`^[\\s"'*_>-]*${MARKER.source}[\\s"'*_.,;]*$`, 'i');
/** A marker that was wrapped over lines of one paragraph. */
const WRAPPED = new RegExp(`${OPENED}(?:(?!${MORE}|${LESS}|\\n\\s*\\n)[^]){0,200}${MORE}`, 'gi');

/** A text whose markers stand on one line each, without characters that cannot be seen. */
function unwrapped(text: string): string {
  const seen = isPlainText(text) ? text : text.replaceAll(/[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu, '');
  return FILL.test(seen) ? seen.replaceAll(WRAPPED, (marker) => marker.replaceAll(/\s+/g, ' ')) : seen;
}

/** Part of every marker. Nearly all texts end here. */
const FILL = /fill:/i;

/** The words of every blank in a text. */
export function blankWords(text: string): readonly string[] {
  return [...text.matchAll(WORDS)].map(([, words = '']) => words.trim());
}

const WORDS = new RegExp(`${OPENED}((?:(?!${MORE}).){0,400})${MORE}`, 'gi');

/** A text without its blanks: what an agent sends that deletes them and fills in nothing. */
export function withoutBlanks(text: string): string {
  return text.replaceAll(new RegExp(MARKER.source, 'gi'), '');
}

/** A text with the words of its blanks in the place of the blanks. */
export function withWordsOnly(text: string): string {
  return text.replaceAll(WORDS, (_, words: string) => words.trim());
}

/** Lines of notes that hold a blank, outside code. */
export function unfilledLines(notes: string): readonly string[] {
  const text = unwrapped(notes);
  // Nearly all notes end here.
  if (!MARKER.test(text)) return [];
  return linesOutsideCode(text).filter((line) => MARKER.test(line));
}

/** A text field that is a blank as a whole, or has a line that is one, outside code. */
export function isBlankField(field: string): boolean {
  const text = unwrapped(field);
  if (!FILL.test(text)) return false;
  if (/^\s*[[{]/.test(text) && MARKER.test(text)) {
    const value = parseJson(text);
    if (value.isOk()) return textsIn(value.value).some((one) => isBlankField(one.text));
  }
  const hasBlankLine = text.length > OPEN.length && text.split('\n').some((line) => WHOLE_MARKER.test(line));
  if (!hasBlankLine || !/[`~]/.test(text)) return hasBlankLine;
  return linesOutsideCode(text).some((line) => WHOLE_MARKER.test(line));
}

/** Every text in a value with its path, outermost first. */
export function textsIn(value: JsonValue, path = ''): readonly { readonly path: string; readonly text: string }[] {
  if (typeof value === 'string') return [{ path, text: value }];
  if (Array.isArray(value)) return value.flatMap((item: JsonValue, i) => textsIn(item, `${path}[${i}]`));
  if (!isObject(value)) return [];
  return Object.entries(value as JsonObject).flatMap(([key, item]) =>
    // A name may be a blank too.
    [
      ...(isBlankField(key) ? [{ path, text: key }] : []),
      ...textsIn(item ?? null, path === '' ? key : `${path}.${key}`),
    ],
  );
}

/** The lines of a Markdown text without fenced blocks and code spans. */
function linesOutsideCode(text: string): readonly string[] {
  const lines: string[] = [];
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}(?=[^`]*$)|~{3,})/.exec(line)?.[1];
    if (fence === undefined && mark !== undefined) fence = mark;
    else if (fence === undefined) lines.push(line);
    else if (mark?.startsWith(fence) === true && line.trim() === mark) fence = undefined;
  }
  // A fence that never ends is not one: what follows it is read again as text.
  if (fence !== undefined) return withoutSpans(text).split('\n');
  return withoutSpans(lines.join('\n')).split('\n');
}

const CODE = '``';

/** In one pass, whatever was sent: a run of backticks is closed by the next run of the same length in its paragraph. */
function withoutSpans(text: string): string {
  return (
    text
      // Items of lists and headings are paragraphs too.
      .split(/(\n\s*\n|\n(?= {0,3}(?:[-*+]|\d{1,9}[.)]|#{1,6})\s))/)
      .map((paragraph) => {
        const runs = [...paragraph.matchAll(/`+/g)].map(({ 0: run, index }) => ({
          length: run.length,
          index,
          // A single backtick after a backslash opens nothing.
          opens: run.length > 1 || paragraph[index - 1] !== '\\',
        }));
        const next = new Map<number, number>();
        const closing = runs.map(() => -1);
        for (let i = runs.length - 1; i >= 0; i--) {
          const { length } = runs[i] ?? { length: 0 };
          closing[i] = next.get(length) ?? -1;
          next.set(length, i);
        }
        let kept = '';
        let at = 0;
        for (let i = 0; i < runs.length; i++) {
          const end = runs[closing[i] ?? -1];
          const start = runs[i];
          if (end === undefined || start?.opens !== true) continue;
          // Something stays in its place: a blank beside code is not a line of its own.
          kept += `${paragraph.slice(at, start.index)}${CODE}`;
          at = end.index + end.length;
          i = closing[i] ?? i;
        }
        return kept + paragraph.slice(at);
      })
      .join('')
  );
}

/** How to send what is offered: its blanks have to be filled in first, or removed where the step does not need them. */
export function sendWords(offered: JsonObject, mayLeaveOut = false): string {
  const hasBlank = textsIn(offered).some(({ text }) => blankWords(text).length > 0);
  if (!hasBlank) return 'send';
  return `fill in every \`<fill: …>\`${mayLeaveOut ? ', or remove it if it is optional,' : ''} and send`;
}
