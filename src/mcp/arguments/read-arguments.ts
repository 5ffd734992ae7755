import { err, ok, type Result } from 'neverthrow';
import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import type { Argument, Arguments } from './argument.ts';
import { argumentNamed, argumentPath } from './argument-names.ts';
import { type ArgumentProblem, isMended } from './argument-problem.ts';
import { type ArgumentReading, isList, isObject, openJson, readArgument, shapeNameOf } from './read-value.ts';

export type ArgumentRefusal = {
  readonly code: 'arguments_wrong';
  readonly problems: readonly ArgumentProblem[];
  /** The names that there are. */
  readonly takes: readonly string[];
  /** What could be read. */
  readonly read: JsonObject;
  /** The arguments as they were meant, where all of that is known. */
  readonly meant?: JsonObject;
};

/** Reads the arguments of a call, or tells everything that is wrong with them at once. */
export function readArguments(all: Arguments, sent: JsonObject): Result<JsonObject, ArgumentRefusal> {
  const { value, problems } = readFields(all, sent, '');
  if (problems.length === 0) return ok(value);
  const meant = problems.every(isMended) ? { meant: value } : {};
  return err({ code: 'arguments_wrong', problems, takes: Object.keys(all), read: value, ...meant });
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
    else if (one.isRequired && reading.problems.length === 0)
      problems.push({ kind: 'missing', name: `${prefix}${name}` });
    if (one.kind === 'objects' && one.textsInto !== undefined && reading.texts !== undefined) {
      values[one.textsInto] = joined([values[one.textsInto], ...reading.texts]);
    }
  }
  return { value: withoutSpareTokens(all, values), problems };
}

/** The group lists what texts are taken for before what they were sent as, so that nothing is said over. */
function joined(texts: readonly (JsonValue | undefined)[]): string {
  return texts.filter((text) => typeof text === 'string' && text.trim() !== '').join('\n\n');
}

/** An empty token beside another one says nothing. */
function withoutSpareTokens(all: Arguments, values: JsonObject): JsonObject {
  const isToken = (name: string) => all[name]?.kind === 'token';
  const isOneSent = Object.entries(values).some(([name, value]) => isToken(name) && value !== '');
  return Object.fromEntries(
    Object.entries(values).filter(([name, value]) => !(isOneSent && isToken(name) && value === '')),
  );
}

/** What was sent for an argument, and what was sent for its fields outside of it. */
type Placed = { readonly own?: JsonValue; readonly fields?: { readonly [field: string]: JsonValue } };

type Sorted = { readonly placed: ReadonlyMap<string, Placed>; readonly problems: readonly ArgumentProblem[] };

function sortByPlace(all: Arguments, sent: JsonObject, prefix: string): Sorted {
  const placed = new Map<string, Placed>();
  const problems: ArgumentProblem[] = [];
  for (const [written, value] of Object.entries(sent).filter(([, one]) => one !== null)) {
    const named = argumentNamed(written, all);
    const name = `${prefix}${written}`;
    if (named === undefined) {
      problems.push({ kind: 'unknown', name });
      continue;
    }
    const { place, isAsGood } = named;
    const meant = `${prefix}${argumentPath(place)}`;
    const before = placed.get(place.name) ?? {};
    const known = place.field === undefined ? before.own : before.fields?.[place.field];
    if (known !== undefined && !isSame(known, value)) problems.push({ kind: 'twice', name, meant });
    else if (!isAsGood) problems.push({ kind: 'unknown', name, meant });
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

/** What was sent in the place of a group may be the content of one of its fields. */
function openGroup(name: string, fields: Arguments, sent: JsonValue): FieldsReading {
  const opened = openJson(sent);
  if (opened === undefined) return { value: {}, problems: [{ kind: 'broken_json', name }] };
  const isOneOfMany = isObject(opened) && typeof opened['kind'] === 'string' && !hasAny(fields, opened);
  if (isObject(opened) && !isOneOfMany) return { value: opened, problems: [] };
  const isText = typeof opened === 'string';
  const field = isText || isOneOfMany || isList(opened) ? fieldOf(fields, isText ? 'text' : 'objects') : undefined;
  if (field !== undefined) {
    return { value: { [field]: opened }, problems: [{ kind: 'misplaced', name, meant: `${name}.${field}` }] };
  }
  const problem = { kind: 'wrong_shape', name, wanted: 'object', found: shapeNameOf(opened), isMended: false } as const;
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
