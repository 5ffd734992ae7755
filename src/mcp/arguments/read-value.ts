import { Result } from 'neverthrow';
import { unreachable } from '../../core/assert.ts';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { nearest } from '../../core/text/spelling.ts';
import { unwrapped } from '../../core/token/normalise-token.ts';
import type { Argument } from './argument.ts';
import { plainly } from './argument-names.ts';
import { type ArgumentProblem, isMended, type ShapeName } from './argument-problem.ts';

/** What became of a value: itself, what was meant by it, or neither. Nothing at all counts as not sent. */
export type ArgumentReading = {
  readonly value?: JsonValue;
  readonly problems: readonly ArgumentProblem[];
  /** Texts that belong into the argument beside it. */
  readonly texts?: readonly string[];
};

/** An argument that holds no further ones. */
export type Leaf = Exclude<Argument, { readonly kind: 'group' }>;

const ABSENT: ArgumentReading = { problems: [] };

/** Reads one argument. What can only be meant in one way and is merely written as text is taken as it is. */
export function readArgument(name: string, one: Leaf, sent: JsonValue): ArgumentReading {
  const isBlank = sent === null || (typeof sent === 'string' && sent.trim() === '');
  // The token that a call is about must not get lost: that it is empty is what has to be said.
  if (isBlank) return one.kind === 'token' && one.slot !== 'attachTo' ? taken('') : ABSENT;
  switch (one.kind) {
    case 'text':
      return readText(name, sent);
    case 'token':
      return readToken(name, sent);
    case 'choice':
      return readChoice(name, one, sent);
    case 'texts':
      return readTexts(name, sent);
    case 'object':
      return unlessEmpty(readObject(name, sent));
    case 'objects':
      return unlessEmpty(readObjects(name, one, sent));
    default:
      return unreachable(one);
  }
}

/** Some clients fill in every argument; what holds nothing loses nothing by being left out. */
function unlessEmpty(reading: ArgumentReading): ArgumentReading {
  const { value, ...rest } = reading;
  return value !== undefined && Object.keys(value ?? {}).length === 0 ? rest : reading;
}

function taken(value: JsonValue): ArgumentReading {
  return { value, problems: [] };
}

function wrong(name: string, wanted: ShapeName, sent: JsonValue): ArgumentReading {
  return { problems: [{ kind: 'wrong_shape', name, wanted, found: shapeNameOf(sent), isMended: false }] };
}

function mended(
  name: string,
  wanted: ShapeName,
  to: { readonly sent: JsonValue; readonly value: JsonValue },
): ArgumentReading {
  const { sent, value } = to;
  return { value, problems: [{ kind: 'wrong_shape', name, wanted, found: shapeNameOf(sent), isMended: true }] };
}

function readText(name: string, sent: JsonValue): ArgumentReading {
  if (typeof sent === 'string') return taken(sent);
  if (typeof sent === 'number') return mended(name, 'text', { sent, value: String(sent) });
  const isLines = isList(sent) && sent.every((line) => typeof line === 'string');
  const lines = isLines ? sent.join('\n') : '';
  return lines.trim() === '' ? wrong(name, 'text', sent) : mended(name, 'text', { sent, value: lines });
}

const TOKEN = /(?<![0-9a-z])(?:st|ack|chk)(?:_[0-9a-z]{48}(?![0-9a-z])|\.v1\.[\w-]+\.[\w-]{43}(?![\w-]))/gi;

/** A token with words around it is found; what holds none, or several, is judged as it stands. */
function readToken(name: string, sent: JsonValue): ArgumentReading {
  const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
  const [found, ...more] = new Set(text.match(TOKEN) ?? []);
  const isOne = found !== undefined && more.length === 0;
  if (typeof sent !== 'string') {
    return isOne ? mended(name, 'token', { sent, value: found }) : wrong(name, 'token', sent);
  }
  if (!isOne || unwrapped(text) === found) return taken(sent);
  return { value: found, problems: [{ kind: 'words_around_token', name }] };
}

function readChoice(
  name: string,
  { values, synonyms = {} }: Leaf & { kind: 'choice' },
  sent: JsonValue,
): ArgumentReading {
  if (typeof sent !== 'string') return wrong(name, 'text', sent);
  if (values.includes(sent)) return taken(sent);
  const word = plainly(sent);
  const meant =
    values.find((value) => plainly(value) === word) ??
    Object.entries(synonyms).find(([synonym]) => plainly(synonym) === word)?.[1] ??
    nearest(sent, values);
  const problem = { kind: 'no_choice', name, found: sent, values } as const;
  return meant === undefined ? { problems: [problem] } : { value: meant, problems: [{ ...problem, meant }] };
}

function readTexts(name: string, sent: JsonValue): ArgumentReading {
  if (typeof sent === 'string') {
    const opened = openJson(sent);
    return isList(opened) ? readTexts(name, opened) : taken(sent.split(/[\s,]+/).filter((word) => word !== ''));
  }
  const isTexts = isList(sent) && sent.every((item) => typeof item === 'string');
  return isTexts ? taken(sent) : wrong(name, 'list of texts', sent);
}

function readObject(name: string, sent: JsonValue): ArgumentReading {
  const opened = openJson(sent);
  if (opened === undefined) return { problems: [{ kind: 'broken_json', name }] };
  return isObject(opened) ? taken(opened) : wrong(name, 'object', sent);
}

function readObjects(name: string, { textsInto }: Leaf & { kind: 'objects' }, sent: JsonValue): ArgumentReading {
  const opened = openJson(sent);
  if (opened === undefined) return { problems: [{ kind: 'broken_json', name }] };
  if (isObject(opened)) return taken([opened]);
  if (typeof opened === 'string' && textsInto !== undefined) return text(name, textsInto, opened);
  if (!isList(opened)) return wrong(name, 'list of objects', sent);
  const items = opened.map((item, i) => {
    const one = openJson(item);
    const isText = typeof one === 'string' && textsInto !== undefined;
    return isText ? text(`${name}[${i}]`, textsInto, one) : readObject(`${name}[${i}]`, item);
  });
  const problems = items.flatMap((item) => item.problems);
  const value = items.flatMap((item) => (item.value === undefined ? [] : [item.value]));
  const texts = items.flatMap((item) => item.texts ?? []);
  return { ...(problems.every(isMended) ? { value } : {}), problems, ...(texts.length === 0 ? {} : { texts }) };
}

function text(name: string, textsInto: string, said: string): ArgumentReading {
  const meant = [...name.split('.').slice(0, -1), textsInto].join('.');
  return { problems: [{ kind: 'misplaced', name, meant }], texts: [said] };
}

const parseJson = Result.fromThrowable((text: string): JsonValue => JSON.parse(text));
const NESTED_TEXTS_MAX = 2;

/** A value that was sent as text, maybe twice over; `undefined` when it only looks like one. */
export function openJson(sent: JsonValue): JsonValue | undefined {
  let value = sent;
  for (let i = 0; i < NESTED_TEXTS_MAX && typeof value === 'string'; i++) {
    const text = value.trim();
    if (!/^[[{"]/.test(text)) return value;
    const parsed = parseJson(text);
    if (parsed.isErr()) return text.startsWith('"') ? value : undefined;
    value = parsed.value;
  }
  return value;
}

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: JsonValue | undefined): value is readonly JsonValue[] {
  return Array.isArray(value);
}

export function shapeNameOf(value: JsonValue): ShapeName {
  if (isList(value)) return 'list';
  if (isObject(value)) return 'object';
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text';
}
