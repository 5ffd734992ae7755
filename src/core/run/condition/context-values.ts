import { isList, type JsonObject, type JsonValue, ownValue } from '../../json/json-value.ts';

const INDEX = /^(?:0|[1-9][0-9]*)$/;

/** Anything in double braces that may be a path. */
const PLACE = /\{\{[ \t]*([^\s{}]+)[ \t]*\}\}/g;
/** Patterns for letters of any script take long to prepare, so plain names are recognised without them. */
const PLAIN_PATH = /^[\w$-]+(?:\.[\w$-]+)*$/;
const PATH = /^[\p{L}\p{N}_$-]+(?:\.[\p{L}\p{N}_$-]+)*$/u;

function isPath(text: string): boolean {
  return PLAIN_PATH.test(text) || PATH.test(text);
}

/** Replaces each key or dotted path in double braces. Anything else in braces is the author's own text. */
export function fillPlaces(text: string, fill: (path: string, place: string, at: number) => string): string {
  return text.replaceAll(PLACE, (place, path: string, at: number) => (isPath(path) ? fill(path, place, at) : place));
}

/** The keys and dotted paths that a text has in double braces, in order. */
export function pathsIn(text: string): readonly string[] {
  return [...text.matchAll(PLACE)].map(([, path = '']) => path).filter(isPath);
}

/** What conditions and prompts can see. Loop variables hide context values of the same name. */
export type ContextValues = { readonly context: JsonObject; readonly loopVariables: JsonObject };

/**
 * The value at a key or a dotted path; `undefined` where there is none. Only own values count: nothing that objects
 * inherit, and not the length of a list. List items are read by index.
 */
export function readPath({ context, loopVariables }: ContextValues, path: string): JsonValue | undefined {
  const [first = '', ...rest] = path.split('.');
  const values = Object.hasOwn(loopVariables, path) || Object.hasOwn(loopVariables, first) ? loopVariables : context;
  if (Object.hasOwn(values, path)) return values[path];
  let value = own(values, first);
  for (const part of rest) value = own(value, part);
  return value;
}

function own(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isList(value)) return INDEX.test(key) ? value[Number(key)] : undefined;
  return ownValue(value, key);
}

/** `undefined` means that a value is missing; null means the same. */
type Compared = JsonValue | undefined;

const WORDS = new Map<boolean, readonly string[]>([
  [true, ['TRUE', '1', 'YES']],
  [false, ['FALSE', '0', 'NO']],
]);

/**
 * Equality that forgives how agents write values. Each pair of types is compared by the rule for the stricter of the
 * two, so the order of the sides does not matter; two texts stay texts: "1" is not "yes".
 */
export function lenientEquals(a: Compared, b: Compared): boolean {
  if (isMissing(a) || isMissing(b)) return isMissing(a) && isMissing(b);
  if (typeof a === 'object' || typeof b === 'object') return structuresEqual(a, b);
  if (typeof a === 'boolean') return equalsBoolean(a, b);
  if (typeof b === 'boolean') return equalsBoolean(b, a);
  if (typeof a === 'string' && typeof b === 'string') return foldText(a) === foldText(b);
  return numberOf(a) !== undefined && numberOf(a) === numberOf(b);
}

/** A text as comparisons see it. Lower case comes first, because some capitals have no capital of their own. */
export function foldText(text: string): string {
  return text.trim().toLowerCase().toUpperCase();
}

/** The number that a value is or spells. */
export function numberOf(value: Compared): number | undefined {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || value.trim() === '') return undefined;
  const number = Number(value);
  return Number.isFinite(number) ? number : undefined;
}

function isMissing(value: Compared): value is null | undefined {
  return value === null || value === undefined;
}

function equalsBoolean(flag: boolean, other: boolean | number | string): boolean {
  return (WORDS.get(flag) ?? []).includes(foldText(String(other)));
}

function structuresEqual(a: JsonValue, b: JsonValue): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (isList(a) || isList(b)) {
    return isList(a) && isList(b) && a.length === b.length && a.every((item, i) => lenientEquals(item, b[i]));
  }
  const keys = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...keys].every((key) => lenientEquals(ownValue(a, key), ownValue(b, key)));
}
