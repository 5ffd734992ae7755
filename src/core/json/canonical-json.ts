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
  const writer: Writer = { text: '', path: [], offence: undefined };
  if (write(writer, value)) return ok(writer.text);
  return err({ code: 'not_json', offence: writer.offence ?? 'undefined', path: pointer(writer.path) });
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
  return isStrict(value, 0) ? ok(utf8Length(JSON.stringify(value))) : canonicalJson(value).map(utf8Length);
}

/** Whether a value is JSON as a parser makes it. Only then do both writers agree. */
function isStrict(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case 'boolean':
      return true;
    case 'number':
      return Number.isFinite(value);
    case 'string':
      return value.isWellFormed();
    case 'object':
      return value === null || (depth < JSON_DEPTH_MAX && isStrictNested(value, depth + 1));
    default:
      return false;
  }
}

function isStrictNested(value: object, depth: number): boolean {
  if (Array.isArray(value)) {
    if (Object.getPrototypeOf(value) !== Array.prototype || Object.keys(value).length !== value.length) return false;
    for (const item of value) if (!isStrict(item, depth)) return false;
    return true;
  }
  const prototype = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) return false;
  const fields = value as Record<string, unknown>;
  const names = Reflect.ownKeys(fields);
  return names.every((name) => typeof name === 'string' && name.isWellFormed() && isStrict(fields[name], depth));
}

type Writer = { text: string; readonly path: (string | number)[]; offence: JsonOffence | undefined };

function write(writer: Writer, value: unknown): boolean {
  if (value === null) return put(writer, 'null');
  switch (typeof value) {
    case 'boolean':
      return put(writer, value ? 'true' : 'false');
    case 'number':
      return writeNumber(writer, value);
    case 'string':
      return writeString(writer, value);
    case 'object':
      return writeNested(writer, value);
    default:
      return refuse(writer, typeof value as JsonOffence);
  }
}

function writeNumber(writer: Writer, value: number): boolean {
  if (Number.isNaN(value)) return refuse(writer, 'nan');
  if (!Number.isFinite(value)) return refuse(writer, 'infinity');
  return put(writer, JSON.stringify(value));
}

function writeString(writer: Writer, value: string): boolean {
  if (!value.isWellFormed()) return refuse(writer, 'lone_surrogate');
  return put(writer, JSON.stringify(value));
}

function writeNested(writer: Writer, value: object): boolean {
  if (writer.path.length >= JSON_DEPTH_MAX) return refuse(writer, 'too_deep');
  if (Array.isArray(value)) return writeArray(writer, value);
  const prototype = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null)
    return writeObject(writer, value as Record<string, unknown>);
  const isDate = Object.prototype.toString.call(value) === '[object Date]';
  return refuse(writer, isDate ? 'date' : 'not_plain_object');
}

function writeArray(writer: Writer, items: readonly unknown[]): boolean {
  if (Object.getPrototypeOf(items) !== Array.prototype) return refuse(writer, 'not_plain_object');
  // An array with holes or with extra properties has a different number of keys than items.
  if (Reflect.ownKeys(items).length !== items.length + 1) return refuse(writer, 'sparse_array');
  writer.text += '[';
  for (let i = 0; i < items.length; i++) {
    if (!Object.hasOwn(items, i)) return refuse(writer, 'sparse_array');
    if (i > 0) writer.text += ',';
    if (!writeAt(writer, i, items[i])) return false;
  }
  return put(writer, ']');
}

function writeObject(writer: Writer, fields: Record<string, unknown>): boolean {
  const names = Reflect.ownKeys(fields);
  if (names.some((name) => typeof name === 'symbol')) return refuse(writer, 'symbol');
  writer.text += '{';
  let isFirst = true;
  // The default sort compares UTF-16 code units, which is the order that RFC 8785 requires.
  for (const name of (names as string[]).sort()) {
    if (!isFirst) writer.text += ',';
    isFirst = false;
    writer.path.push(name);
    const isNamed = writeString(writer, name);
    if (!isNamed) return false;
    writer.path.pop();
    writer.text += ':';
    if (!writeAt(writer, name, fields[name])) return false;
  }
  return put(writer, '}');
}

function writeAt(writer: Writer, key: string | number, value: unknown): boolean {
  writer.path.push(key);
  if (!write(writer, value)) return false;
  writer.path.pop();
  return true;
}

function put(writer: Writer, text: string): boolean {
  writer.text += text;
  return true;
}

function refuse(writer: Writer, offence: JsonOffence): boolean {
  writer.offence = offence;
  return false;
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

/** One JSON value per line, each ending in a newline: the bytes of a segment file. */
export function canonicalLines(values: readonly unknown[]): Result<CanonicalBytes, JsonRefusal> {
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

function brand(text: string): CanonicalBytes {
  return encodeUtf8(text) as CanonicalBytes;
}
