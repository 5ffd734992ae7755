import { err, ok, type Result } from 'neverthrow';
import { assert } from '../assert.ts';
import { encodeUtf8, utf8Length } from '../text/utf8.ts';

/** Deeper input is refused. Nothing we store comes near, and other readers must not overflow on it. */
export const JSON_DEPTH_MAX = 256;

export type JsonOffence =
  | 'nan'
  | 'infinity'
  | 'lone_surrogate'
  | 'undefined'
  | 'function'
  | 'symbol'
  | 'bigint'
  | 'date'
  | 'sparse_array'
  | 'not_plain_object'
  | 'too_deep';

/** Why a value is not strict JSON; `path` is the JSON pointer of the offence. */
export type JsonRefusal = { readonly code: 'not_json'; readonly offence: JsonOffence; readonly path: string };

/** RFC 8785 text of a value that is strictly JSON. Nothing is coerced or left out. */
export function canonicalJson(value: unknown): Result<string, JsonRefusal> {
  // What was read from our own files has its names in order, and the engine's writer is faster than ours.
  const text = isPlain(value, 0, true) ? JSON.stringify(value) : textOf(value, 0);
  if (text !== undefined) return ok(text);
  const path: (string | number)[] = [];
  const offence = offenceIn(value, path);
  assert(offence !== undefined, 'a value that cannot be written has an offence');
  return err({ code: 'not_json', offence, path: pointer(path) });
}

/** Whether a value is strictly JSON. */
export function isJson(value: unknown): boolean {
  return isPlain(value, 0, false);
}

/** The size of a JSON value in the log; 0 for what is not JSON. */
export function canonicalLength(value: unknown): number {
  return canonicalSize(value).unwrapOr(0);
}

/**
 * The bytes of the canonical text, without making it. The engine's own writer gives the same characters in another order
 * of keys, so it measures the same, and a large value is measured many times faster.
 */
export function canonicalSize(value: unknown): Result<number, JsonRefusal> {
  return isJson(value) ? ok(utf8Length(JSON.stringify(value))) : canonicalJson(value).map(utf8Length);
}

/** Whether a value is JSON as a parser makes it, and if asked, with the names of every object in canonical order. */
function isPlain(value: unknown, depth: number, isOrdered: boolean): boolean {
  switch (typeof value) {
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'string':
      return value.isWellFormed();
    case 'object':
      return value === null || (depth < JSON_DEPTH_MAX && isPlainNested(value, depth + 1, isOrdered));
    default:
      return false;
  }
}

function isPlainNested(value: object, depth: number, isOrdered: boolean): boolean {
  if (Array.isArray(value)) {
    if (!isPlainArray(value)) return false;
    for (let i = 0; i < value.length; i++) if (!isPlain(value[i], depth, isOrdered)) return false;
    return true;
  }
  const fields = value as Record<string, unknown>;
  const names = plainNames(fields);
  if (names === undefined) return false;
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    if (isOrdered && i > 0 && name < (names[i - 1] as string)) return false;
    if (!name.isWellFormed() || !isPlain(fields[name], depth, isOrdered)) return false;
  }
  return true;
}

/** The text of a value, or `undefined` if anything in it is not JSON; then the slow way finds out what and where. */
function textOf(value: unknown, depth: number): string | undefined {
  if (typeof value === 'string') return value.isWellFormed() ? JSON.stringify(value) : undefined;
  if (typeof value === 'number') return Number.isFinite(value) ? `${value}` : undefined;
  if (typeof value === 'boolean') return value ? 'true' : 'false';
  if (value === null) return 'null';
  if (typeof value !== 'object' || depth >= JSON_DEPTH_MAX) return undefined;
  return Array.isArray(value) ? arrayText(value, depth) : objectText(value as Record<string, unknown>, depth);
}

function arrayText(items: readonly unknown[], depth: number): string | undefined {
  if (!isPlainArray(items)) return undefined;
  let text = '[';
  for (let i = 0; i < items.length; i++) {
    const item = textOf(items[i], depth + 1);
    if (item === undefined) return undefined;
    text += i === 0 ? item : `,${item}`;
  }
  return `${text}]`;
}

function objectText(fields: Record<string, unknown>, depth: number): string | undefined {
  const names = plainNames(fields);
  if (names === undefined) return undefined;
  // The default sort compares UTF-16 code units, which is the order that RFC 8785 requires.
  names.sort();
  let text = '{';
  for (let i = 0; i < names.length; i++) {
    const name = names[i] as string;
    const field = textOf(fields[name], depth + 1);
    if (field === undefined || !name.isWellFormed()) return undefined;
    text += `${i === 0 ? '' : ','}${JSON.stringify(name)}:${field}`;
  }
  return `${text}}`;
}

/** An array with holes or with extra properties has a different number of keys than items. */
function isPlainArray(items: readonly unknown[]): boolean {
  return Object.getPrototypeOf(items) === Array.prototype && Reflect.ownKeys(items).length === items.length + 1;
}

/** The names of an object that has only plain fields. */
function plainNames(fields: Record<string, unknown>): string[] | undefined {
  const prototype = Object.getPrototypeOf(fields);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  const names = Reflect.ownKeys(fields);
  return names.every((name) => typeof name === 'string') ? (names as string[]) : undefined;
}

/** The first thing in a value that is not JSON; the path then leads to it. */
function offenceIn(value: unknown, path: (string | number)[]): JsonOffence | undefined {
  if (value === null) return undefined;
  switch (typeof value) {
    case 'boolean':
      return undefined;
    case 'number':
      return Number.isNaN(value) ? 'nan' : Number.isFinite(value) ? undefined : 'infinity';
    case 'string':
      return value.isWellFormed() ? undefined : 'lone_surrogate';
    case 'object':
      return offenceBelow(value, path);
    default:
      return typeof value as JsonOffence;
  }
}

function offenceBelow(value: object, path: (string | number)[]): JsonOffence | undefined {
  if (path.length >= JSON_DEPTH_MAX) return 'too_deep';
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype) return 'not_plain_object';
    if (!isPlainArray(value)) return 'sparse_array';
    // A hole and an extra property together have the right number of keys.
    const end = value.findIndex((_, i) => !Object.hasOwn(value, i));
    const whole = end === -1 ? value : value.slice(0, end);
    return offenceAmong(whole.entries(), path) ?? (end === -1 ? undefined : 'sparse_array');
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    return Object.prototype.toString.call(value) === '[object Date]' ? 'date' : 'not_plain_object';
  }
  const fields = value as Record<string, unknown>;
  const names = plainNames(fields);
  if (names === undefined) return 'symbol';
  return offenceAmong(
    names.sort().map((name) => [name, fields[name]] as const),
    path,
  );
}

function offenceAmong(
  entries: Iterable<readonly [string | number, unknown]>,
  path: (string | number)[],
): JsonOffence | undefined {
  for (const [key, value] of entries) {
    path.push(key);
    const offence = typeof key === 'string' && !key.isWellFormed() ? 'lone_surrogate' : offenceIn(value, path);
    if (offence !== undefined) return offence;
    path.pop();
  }
  return undefined;
}

/** Well-formed even if a key is not, because the refusal itself is sent as JSON. */
function pointer(path: readonly (string | number)[]): string {
  const parts = path.map((key) => String(key).replaceAll('~', '~0').replaceAll('/', '~1'));
  return parts.map((part) => `/${part.toWellFormed()}`).join('');
}

declare const canonical: unique symbol;

/** Bytes that may be hashed. Only this module makes them, so no other string or bytes can be hashed by mistake. */
export type CanonicalBytes = Uint8Array & { readonly [canonical]: true };

/** SHA-256 as `sha256:` and 64 hex digits. */
export type Sha256Digest = `sha256:${string}`;

/** The hash function, which the caller passes in: core contains no cryptography. */
export type Sha256 = (bytes: CanonicalBytes) => Sha256Digest;

export const SHA256_DIGEST_PATTERN = /^sha256:[0-9a-f]{64}$/;

/** The hex digits of a digest, for file names and dedupe keys, where a colon is not always allowed. */
export function digestHex(digest: string): string {
  return digest.slice('sha256:'.length);
}

export function canonicalBytes(value: unknown): Result<CanonicalBytes, JsonRefusal> {
  return canonicalJson(value).map(brand);
}

/** The canonical bytes of what we made ourselves, which is JSON. */
export function ownJsonBytes(value: unknown): CanonicalBytes {
  const bytes = canonicalBytes(value);
  assert(bytes.isOk(), 'what we made is JSON');
  return bytes.value;
}

/** A value with the text that it was parsed from, and the bytes of that text. */
export type ParsedJson = { readonly value: unknown; readonly text: string; readonly bytes: Uint8Array };

/** The lines of lists that were parsed from canonical JSON. Nobody changes such a list. */
const linesOfParsed = new WeakMap<readonly unknown[], CanonicalBytes>();

/**
 * The values of a list. If all of them were parsed from canonical JSON, its lines are made of the bytes that are there:
 * comparing a text takes a fraction of the time that writing, encoding and collecting another one takes.
 */
export function parsedList(parsed: readonly ParsedJson[]): {
  readonly values: readonly unknown[];
  readonly isCanonical: boolean;
} {
  const values = parsed.map(({ value }) => value);
  const isCanonical = parsed.every(isCanonicalText);
  if (isCanonical) linesOfParsed.set(values, asLines(parsed));
  return { values, isCanonical };
}

const NEWLINE = 0x0a;

function asLines(parsed: readonly ParsedJson[]): CanonicalBytes {
  const lines = new Uint8Array(parsed.reduce((sum, { bytes }) => sum + bytes.length + 1, 0));
  let at = 0;
  for (const { bytes } of parsed) {
    lines.set(bytes, at);
    at += bytes.length + 1;
    lines[at - 1] = NEWLINE;
  }
  return lines as CanonicalBytes;
}

/** Whether a text in well-formed Unicode is the canonical JSON of the value that was parsed from it. */
export function isCanonicalText({ text, value }: Pick<ParsedJson, 'text' | 'value'>): boolean {
  // Only an escape can make a lone surrogate of such a text. Names that are numbers have an order of their own.
  const isPlainText = !text.includes('\\ud') && hasNamesInOrder(value);
  return (isPlainText ? JSON.stringify(value) : canonicalJson(value).unwrapOr(undefined)) === text;
}

function hasNamesInOrder(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(hasNamesInOrder);
  let before = '';
  for (const name in value) {
    if (name < before || !hasNamesInOrder((value as Record<string, unknown>)[name])) return false;
    before = name;
  }
  return true;
}

/** One JSON value per line, each ending in a newline: the bytes of a segment file. */
export function canonicalLines(values: readonly unknown[]): Result<CanonicalBytes, JsonRefusal> {
  const known = linesOfParsed.get(values);
  if (known !== undefined) return ok(known);
  let text = '';
  for (const value of values) {
    const line = canonicalJson(value);
    if (line.isErr()) return line.map(brand);
    text += `${line.value}\n`;
  }
  return ok(brand(text));
}

/** A value together with the digest before it, so that neither can be replaced unnoticed. */
export function linkedBytes(previous: Sha256Digest, value: unknown): Result<CanonicalBytes, JsonRefusal> {
  return canonicalJson(value).map((text) => brand(`${previous}\n${text}`));
}

/** The start of the hash chain of a session. */
export function genesisBytes(sessionId: string): CanonicalBytes {
  return brand(`workrail:${sessionId}`);
}

/** A text as it is, to recognise digests of it that other programs wrote. Nothing of ours is named by such a digest. */
export function bareTextBytes(text: string): CanonicalBytes {
  return brand(text);
}

function brand(text: string): CanonicalBytes {
  return encodeUtf8(text) as CanonicalBytes;
}
