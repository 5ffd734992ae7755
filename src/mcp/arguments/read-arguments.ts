import { err, ok, type Result } from 'neverthrow';
import { type ByKind, byKind } from '../../core/assert.ts';
import { isEmptyObject, isList, isObject, type JsonObject, type JsonValue } from '../../core/json/json-value.ts';
import { unwrapped } from '../../core/text/binary-text.ts';
import { nearest } from '../../core/text/spelling.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { openText } from '../message-limits.ts';
import {
  type Argument,
  type ArgumentProblem,
  type Arguments,
  argumentNamed,
  argumentPath,
  CALL_LIMITS,
  isCorrected,
  plainly,
  type ShapeName,
  shownArguments,
} from './argument.ts';

export type ArgumentRefusal = {
  readonly code: 'arguments_wrong';
  readonly problems: readonly ArgumentProblem[];
  /** The names of all arguments. */
  readonly takes: readonly string[];
  /** What could be read. */
  readonly read: JsonObject;
  /** The arguments as they were meant, if that is known for all of them. */
  readonly meant?: JsonObject;
};

/** Reads the arguments of a call, or reports everything that is wrong with them at once. */
export function readArguments(
  all: Arguments,
  sent: JsonObject,
  isSessionStartOn = false,
): Result<JsonObject, ArgumentRefusal> {
  const { value, problems } = readUnwrapped(all, sent);
  if (problems.length === 0) return ok(value);
  const meant = problems.every(isCorrected) ? { meant: value } : {};
  return err({
    code: 'arguments_wrong',
    problems,
    takes: Object.keys(shownArguments(all, isSessionStartOn)),
    read: value,
    ...meant,
  });
}

/** Names that agents put around all arguments. */
const WRAPPERS = ['arguments', 'args', 'input', 'params', 'parameters', 'payload', 'request', 'body', 'toolinput'];
/** Names that belong to a message around the arguments, not to the call. */
const AROUND_WRAPPERS = ['name', 'tool', 'toolname', 'method', 'jsonrpc', 'id', 'type'];
const WRAPPERS_MAX = 4;

/** Reads the arguments, without what an agent put around them: an argument that does not exist, perhaps twice. */
function readUnwrapped(all: Arguments, sent: JsonObject, depth = 0): FieldsReading {
  const name = Object.keys(sent).length > CALL_LIMITS.namesMax ? undefined : wrapperIn(all, sent);
  if (name === undefined || depth === WRAPPERS_MAX) return readFields(all, sent, '');
  const { [name]: value = null, ...others } = sent;
  const beside = Object.fromEntries(Object.entries(others).filter(([one]) => !isAround(all, one)));
  const isAlone = Object.keys(beside).length === 0;
  const inner = openJson(value);
  if (isObject(inner) && (isAlone || hasArguments(all, inner))) {
    const twice = Object.keys(inner).filter(
      (one) => Object.hasOwn(beside, one) && !isSame(inner[one] ?? null, beside[one] ?? null),
    );
    const read = readUnwrapped(all, { ...inner, ...beside }, depth + 1);
    const problems = twice.map((one) => ({ kind: 'twice' as const, name: `${name}.${one}`, meant: one }));
    return { value: read.value, problems: [...problems, ...read.problems] };
  }
  return inner !== undefined && !isAlone ? readFields(all, sent, '') : readAround(all, { name, value }, beside);
}

type Wrapper = { readonly name: string; readonly value: JsonValue };

/** What can be read around and in a wrapper that holds no object. Arguments that seem to be missing may be in its text. */
function readAround(all: Arguments, { name, value }: Wrapper, beside: JsonObject): FieldsReading {
  const opened = openText(value);
  if (opened.isOk())
    return { value: {}, problems: [...wrong(name, 'object', value).problems, ...readFields(all, {}, '').problems] };
  const read = readFields(all, { ...tokensIn(all, value), ...beside }, '');
  const fault = opened.error.kind === 'inexact_number' ? opened.error : { ...opened.error, name };
  return { value: read.value, problems: [fault, ...read.problems.filter(({ kind }) => kind !== 'missing')] };
}

/** The tokens in a text that cannot be read otherwise. */
function tokensIn(all: Arguments, value: JsonValue): JsonObject {
  const tokens = typeof value === 'string' ? (value.match(TOKEN) ?? []) : [];
  const slots = { st: 'stateToken', ack: 'ackToken', chk: 'checkpointToken' };
  const found = Object.entries(slots).flatMap(([start, slot]) => {
    const [token, ...more] = new Set(tokens.filter((one) => one.toLowerCase().startsWith(start)));
    return token === undefined || more.length > 0 || all[slot]?.kind !== 'token' ? [] : [[slot, token] as const];
  });
  return Object.fromEntries(found);
}

function wrapperIn(all: Arguments, sent: JsonObject): string | undefined {
  return Object.keys(sent).find(
    (name) => WRAPPERS.includes(plainly(name)) && argumentNamed(name, all)?.isEquivalent !== true,
  );
}

function isAround(all: Arguments, name: string): boolean {
  return AROUND_WRAPPERS.includes(plainly(name)) && argumentNamed(name, all)?.isEquivalent !== true;
}

function hasArguments(all: Arguments, sent: JsonObject): boolean {
  return wrapperIn(all, sent) !== undefined || Object.keys(sent).some((name) => argumentNamed(name, all)?.isEquivalent);
}

type FieldsReading = { readonly value: JsonObject; readonly problems: readonly ArgumentProblem[] };

function readFields(all: Arguments, sent: JsonObject, prefix: string): FieldsReading {
  const sorted = sortByPlace(all, sent, prefix);
  const problems = [...sorted.problems];
  const values: { [name: string]: JsonValue } = {};
  for (const [name, one] of Object.entries(all)) {
    const reading = readOne(`${prefix}${name}`, one, sorted.placed.get(name) ?? {});
    problems.push(...reading.problems);
    if (reading.value !== undefined) values[name] = reading.value;
    // What was corrected to nothing is missing, too.
    else if (one.isRequired && reading.problems.every(isCorrected))
      problems.push({
        kind: 'missing',
        name: `${prefix}${name}`,
        ...(sorted.placed.has(name) ? { isEmpty: true } : {}),
      });
    if (one.kind === 'objects' && one.textsInto !== undefined && reading.texts !== undefined) {
      values[one.textsInto] = joined([values[one.textsInto], ...reading.texts]);
    }
  }
  return { value: withoutSpareTokens(all, values), problems };
}

/** The text argument comes before the list in its group, so its own text is never overwritten. */
function joined(texts: readonly (JsonValue | undefined)[]): string {
  return texts.filter((text) => typeof text === 'string' && text.trim() !== '').join('\n\n');
}

/** An empty token next to another one is ignored. */
function withoutSpareTokens(all: Arguments, values: JsonObject): JsonObject {
  const isToken = (name: string) => all[name]?.kind === 'token';
  const isOneSent = Object.entries(values).some(([name, value]) => isToken(name) && value !== '');
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !(isOneSent && isToken(name) && value === '')),
  );
}

/** What was sent for an argument, and for its fields outside of it. */
type Placed = { readonly own?: JsonValue; readonly fields?: { readonly [field: string]: JsonValue } };

type Sorted = { readonly placed: ReadonlyMap<string, Placed>; readonly problems: readonly ArgumentProblem[] };

function sortByPlace(all: Arguments, sent: JsonObject, prefix: string): Sorted {
  const placed = new Map<string, Placed>();
  const found = Object.keys(sent).length;
  if (found > CALL_LIMITS.namesMax) {
    for (const name of Object.keys(all)) if (Object.hasOwn(sent, name)) placed.set(name, { own: sent[name] ?? null });
    const name = prefix.replace(/\.$/, '');
    return { placed, problems: [{ kind: 'too_many', name, found, max: CALL_LIMITS.namesMax }] };
  }
  const problems: ArgumentProblem[] = [];
  for (const [written, value] of Object.entries(sent).filter(([, one]) => one !== null)) {
    const named = argumentNamed(written, all);
    const name = `${prefix}${written}`;
    if (named === undefined) {
      problems.push({ kind: 'unknown', name });
      continue;
    }
    const { place, isEquivalent } = named;
    const meant = `${prefix}${argumentPath(place)}`;
    const before = placed.get(place.name) ?? {};
    const known = place.field === undefined ? before.own : before.fields?.[place.field];
    if (known !== undefined && !isSame(known, value)) problems.push({ kind: 'twice', name, meant });
    else if (!isEquivalent) problems.push({ kind: 'unknown', name, meant });
    const now = place.field === undefined ? { own: value } : { fields: { ...before.fields, [place.field]: value } };
    placed.set(place.name, { ...before, ...now });
  }
  return { placed, problems };
}

function readOne(name: string, one: Argument, { own, fields }: Placed): ArgumentReading {
  if (one.kind !== 'group') return own === undefined ? { problems: [] } : readArgument(name, one, own);
  if (own === undefined && fields === undefined) return { problems: [] };
  const group = own === undefined ? { value: {}, problems: [] } : openGroup(name, one.fields, own);
  const twice = Object.entries(fields ?? {}).filter(([field, value]) => !isSame(group.value[field] ?? value, value));
  const read = readFields(one.fields, { ...group.value, ...fields }, `${name}.`);
  const isEmpty = Object.keys(read.value).length === 0;
  return {
    ...(isEmpty ? {} : { value: read.value }),
    problems: [
      ...group.problems,
      ...twice.map(([field]) => ({ kind: 'twice' as const, name: field, meant: `${name}.${field}` })),
      ...read.problems,
    ],
  };
}

/** A value sent as a group may be the content of one of its fields. */
function openGroup(name: string, fields: Arguments, sent: JsonValue): FieldsReading {
  const opened = openJson(sent);
  if (opened === undefined) return { value: {}, problems: [brokenJson(name, sent)] };
  const isOneOfMany = isObject(opened) && typeof opened['kind'] === 'string' && !hasAny(fields, opened);
  if (isObject(opened) && !isOneOfMany) return { value: opened, problems: [] };
  const isText = typeof opened === 'string';
  const field = isText || isOneOfMany || isList(opened) ? fieldOf(fields, isText ? 'text' : 'objects') : undefined;
  if (field !== undefined) {
    return { value: { [field]: opened }, problems: [{ kind: 'misplaced', name, meant: `${name}.${field}` }] };
  }
  const problem = {
    kind: 'wrong_shape',
    name,
    wanted: 'object',
    found: shapeNameOf(opened),
    isCorrected: false,
  } as const;
  return { value: {}, problems: [problem] };
}

function hasAny(fields: Arguments, sent: JsonObject): boolean {
  return Object.keys(sent).some((written) => Object.hasOwn(fields, written));
}

function fieldOf(fields: Arguments, kind: Argument['kind']): string | undefined {
  return Object.entries(fields).find(([, one]) => one.kind === kind)?.[0];
}

function isSame(a: JsonValue, b: JsonValue): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** The value that was sent, what was meant by it, or neither. An empty value counts as not sent. */
type ArgumentReading = {
  readonly value?: JsonValue;
  readonly problems: readonly ArgumentProblem[];
  /** Texts that belong in another argument. */
  readonly texts?: readonly string[];
};

/** An argument that is not a group. */
export type Leaf = Exclude<Argument, { readonly kind: 'group' }>;

const ABSENT: ArgumentReading = { problems: [] };

/** Reads one argument. A value that was only wrapped in text is accepted. */
function readArgument(name: string, one: Leaf, sent: JsonValue): ArgumentReading {
  const isBlank = sent === null || (typeof sent === 'string' && sent.trim() === '');
  // An empty token must be reported, because the call is about it.
  if (isBlank) return one.kind === 'token' && one.slot !== 'attachTo' ? taken('') : ABSENT;
  return byKind(READERS, one, name, sent);
}

const READERS: ByKind<Leaf, ArgumentReading, [name: string, sent: JsonValue]> = {
  text: ({ isProse }, name, sent) => (isProse ? undefined : tooLong(name, sent)) ?? readText(name, sent),
  token: (_, name, sent) => readToken(name, sent),
  choice: (one, name, sent) => tooLong(name, sent) ?? readChoice(name, one, sent),
  flag: (_, name, sent) => readFlag(name, sent),
  texts: (_, name, sent) => tooLong(name, sent) ?? tooMany(name, sent) ?? readTexts(name, sent),
  object: (_, name, sent) => unlessEmpty(readObject(name, sent)),
  objects: (one, name, sent) => unlessEmpty(readObjects(name, one, sent)),
};

function tooLong(name: string, sent: JsonValue): ArgumentReading | undefined {
  const { wordBytesMax: bytesMax } = CALL_LIMITS;
  if (typeof sent !== 'string' || utf8Length(sent) <= bytesMax) return undefined;
  return { problems: [{ kind: 'too_long', name, bytes: utf8Length(sent), bytesMax }] };
}

function tooMany(name: string, sent: JsonValue): ArgumentReading | undefined {
  const { itemsMax: max } = CALL_LIMITS;
  if (!isList(sent) || sent.length <= max) return undefined;
  return { problems: [{ kind: 'too_many', name, found: sent.length, max }] };
}

/** Some clients fill in every argument, so empty values are ignored. */
function unlessEmpty(reading: ArgumentReading): ArgumentReading {
  const { value, ...rest } = reading;
  return value !== undefined && isEmptyObject(Object(value ?? {})) ? rest : reading;
}

function taken(value: JsonValue): ArgumentReading {
  return { value, problems: [] };
}

function wrong(name: string, wanted: ShapeName, sent: JsonValue): ArgumentReading {
  return { problems: [{ kind: 'wrong_shape', name, wanted, found: shapeNameOf(sent), isCorrected: false }] };
}

function corrected(
  name: string,
  wanted: ShapeName,
  to: { readonly sent: JsonValue; readonly value: JsonValue },
): ArgumentReading {
  const { sent, value } = to;
  return { value, problems: [{ kind: 'wrong_shape', name, wanted, found: shapeNameOf(sent), isCorrected: true }] };
}

function readText(name: string, sent: JsonValue): ArgumentReading {
  if (typeof sent === 'string') return taken(sent);
  if (typeof sent === 'number') return corrected(name, 'text', { sent, value: String(sent) });
  const isLines = isList(sent) && sent.every((line) => typeof line === 'string');
  const lines = isLines ? sent.join('\n') : '';
  return lines.trim() === '' ? wrong(name, 'text', sent) : corrected(name, 'text', { sent, value: lines });
}

const TOKEN = /(?<![0-9a-z])(?:st|ack|chk)(?:_[0-9a-z]{48}(?![0-9a-z])|\.v1\.[\w-]+\.[\w-]{43}(?![\w-]))/gi;

/** Finds the token in surrounding text; text with no token, or with several, is left as it is. */
function readToken(name: string, sent: JsonValue): ArgumentReading {
  const text = typeof sent === 'string' ? sent : JSON.stringify(sent);
  const [found, ...more] = new Set(text.match(TOKEN) ?? []);
  const isOne = found !== undefined && more.length === 0;
  if (typeof sent !== 'string') {
    return isOne ? corrected(name, 'token', { sent, value: found }) : wrong(name, 'token', sent);
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

function readFlag(name: string, sent: JsonValue): ArgumentReading {
  if (typeof sent === 'boolean') return taken(sent);
  const word = typeof sent === 'string' ? plainly(sent) : '';
  return word === 'true' || word === 'false' ? taken(word === 'true') : wrong(name, 'boolean', sent);
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
  if (opened === undefined) return { problems: [brokenJson(name, sent)] };
  return isObject(opened) ? taken(opened) : wrong(name, 'object', sent);
}

function readObjects(name: string, { textsInto }: Leaf & { kind: 'objects' }, sent: JsonValue): ArgumentReading {
  const opened = openJson(sent);
  if (opened === undefined) return { problems: [brokenJson(name, sent)] };
  if (isObject(opened)) return taken([opened]);
  if (typeof opened === 'string' && textsInto !== undefined) return text(name, textsInto, opened);
  if (!isList(opened)) return wrong(name, 'list of objects', sent);
  const excess = tooMany(name, opened);
  if (excess !== undefined) return excess;
  const items = opened.map((item, i) => {
    const one = openJson(item);
    const isText = typeof one === 'string' && textsInto !== undefined;
    return isText ? text(`${name}[${i}]`, textsInto, one) : readObject(`${name}[${i}]`, item);
  });
  const problems = items.flatMap((item) => item.problems);
  const value = items.flatMap((item) => (item.value === undefined ? [] : [item.value]));
  const texts = items.flatMap((item) => item.texts ?? []);
  return { ...(problems.every(isCorrected) ? { value } : {}), problems, ...(texts.length === 0 ? {} : { texts }) };
}

function text(name: string, textsInto: string, said: string): ArgumentReading {
  const meant = [...name.split('.').slice(0, -1), textsInto].join('.');
  return { problems: [{ kind: 'misplaced', name, meant }], texts: [said] };
}

/** The value of JSON text, or the text itself; `undefined` if the JSON cannot be read. */
function openJson(sent: JsonValue): JsonValue | undefined {
  return openText(sent).unwrapOr(undefined);
}

/** Why JSON text cannot be read. A number is named with the path to it. */
function brokenJson(name: string, sent: JsonValue): ArgumentProblem {
  const opened = openText(sent);
  if (opened.isOk()) return { kind: 'broken_json', name };
  const fault = opened.error;
  if (fault.kind === 'broken_json') return { ...fault, name };
  return { ...fault, name: `${name}${fault.name.startsWith('[') || name === '' ? '' : '.'}${fault.name}` };
}

function shapeNameOf(value: JsonValue): ShapeName {
  if (isList(value)) return 'list';
  if (isObject(value)) return 'object';
  return typeof value === 'number' ? 'number' : typeof value === 'boolean' ? 'boolean' : 'text';
}
