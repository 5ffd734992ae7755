import { unreachable } from '../../assert.ts';
import { quote } from '../../json/json-value.ts';
import { utf8Length } from '../../text/utf8.ts';
import type { Diagnostics } from '../diagnostics/diagnostic.ts';
import { plainValue, type SourceNode, type SourceObject, type SourceText } from '../source/source-node.ts';
import {
  type Field,
  isChosen,
  type Kind,
  type KindData,
  type ObjectData,
  type Rule,
  type TextData,
  withoutFields,
} from './field.ts';
import { ARGUMENT_BYTES_MAX, LIST_MAX } from './limits.ts';
import { checkForm } from './read-names.ts';
import {
  asObject,
  checkKeys,
  checkUnique,
  choiceOf,
  field as fieldOf,
  type Reader,
  type ReadProblem,
  removeField,
  reportError,
  reportMissing,
  reportWarning,
  wrongType,
} from './reader.ts';

/** A value as its kind says, or `undefined` after a report of what is wrong with it. */
/** A value in a file, and how to call it in a report. */
export type Written = { readonly node: SourceNode; readonly what: string };

export function readValue<Value>(reader: Reader, kind: Kind<Value>, written: Written): Value | undefined {
  return readData(reader, kind.data, written) as Value | undefined;
}

function readData(reader: Reader, data: KindData, written: Written): unknown {
  const { node, what } = written;
  switch (data.kind) {
    case 'text':
      return readText(reader, data, written);
    case 'choice':
      return choiceOf(reader, node, { what, choices: data.choices });
    case 'flag':
      return node.kind === 'boolean' ? node.value : reportError(reader, node, notAFlag(what, node));
    case 'integer':
      return readInteger(reader, data, written);
    case 'numeric':
      return isNumeric(node) ? plainValue(node) : reportError(reader, node, wrongType(what, 'a number', node));
    case 'json':
      if (data.only === undefined || node.kind === data.only) return plainValue(node);
      return reportError(reader, node, wrongType(what, data.only === 'array' ? 'a list' : 'an object', node));
    case 'texts':
      return readTextMap(reader, node, what);
    case 'record': {
      const object = asObject(reader, node, what);
      return object && readRecord(reader, data, object);
    }
    case 'ignored':
      return undefined;
    case 'list':
      return readList(reader, data, written);
    case 'object': {
      if (node.kind === 'string') return reportError(reader, node, writtenAsText(data, node, what));
      const object = asObject(reader, node, what);
      return object && readFields(reader, data, object);
    }
    case 'variants':
      return readVariant(reader, data, written);
    case 'either': {
      const option = data.options.find((one) => isWrittenAs(one.data, node));
      if (option === undefined) return reportError(reader, node, fitsNone(data, what, node));
      return readData(reader, option.data, written);
    }
    case 'chosen': {
      const object = asObject(reader, node, what);
      const option = object && data.options.find(({ when }) => isChosen(when, object));
      return option && readData(reader, option.of.data, written);
    }
    case 'without':
      return readData(reader, data.of.data, { node: withoutFields(node, data.keys), what });
    case 'built': {
      const value = readData(reader, data.of.data, written);
      return value === undefined ? undefined : data.build(value as never, node, reader);
    }
    case 'special':
      return data.read(reader, node, what);
    case 'lazy':
      return readData(reader, data.of().data, written);
    default:
      return unreachable(data);
  }
}

function readText(reader: Reader, data: TextData, { node, what }: Written): string | undefined {
  if (node.kind !== 'string') return reportError(reader, node, wrongType(what, 'a text', node));
  const bytes = utf8Length(node.value);
  const { bytesMax, bytesMin } = data;
  if (bytes > bytesMax) {
    const message = `${what} has ${bytes} bytes; at most ${bytesMax} are allowed. Shorten it by ${bytes - bytesMax} bytes.`;
    return reportError(reader, node, { code: 'text_too_long', message });
  }
  if (bytes === 0 && bytesMin > 0) {
    return reportError(reader, node, { code: 'text_empty', message: `${what} is empty. Write a text.` });
  }
  if (bytes < bytesMin) {
    const message = `${what} has ${bytes} bytes. Write at least ${bytesMin}.`;
    return reportError(reader, node, { code: 'text_too_short', message });
  }
  // A text with half a character was reported when the file was parsed.
  if (!node.value.isWellFormed()) return undefined;
  return data.form === undefined ? node.value : checkForm(reader, node, { data, what });
}

function readInteger(
  reader: Reader,
  { min, max }: Extract<KindData, { kind: 'integer' }>,
  { node, what }: Written,
): number | undefined {
  if (node.kind === 'number' && Number.isSafeInteger(node.value) && node.value >= min && node.value <= max) {
    return node.value;
  }
  const range = max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`;
  const problem = wrongType(what, `a whole number ${range}`, node);
  const isWritten = node.kind === 'string' && /^\d+$/.test(node.value);
  const edits = isWritten ? [{ ...node.span, text: String(Number(node.value)) }] : [];
  return reportError(reader, node, {
    ...problem,
    code: node.kind === 'number' ? 'wrong_value' : 'wrong_type',
    fix: isWritten ? { title: 'Remove the quotation marks', edits } : undefined,
  });
}

function fitsNone(
  { options, expected }: Extract<KindData, { kind: 'either' }>,
  what: string,
  node: SourceNode,
): ReadProblem {
  const isFlag = options.some((one) => one.data.kind === 'flag');
  return isFlag ? notAFlag(what, node, expected) : wrongType(what, expected, node);
}

function notAFlag(what: string, node: SourceNode, expected = 'true or false'): ReadProblem {
  const problem = wrongType(what, expected, node);
  const word = node.kind === 'string' ? FLAG_WORDS[node.value.trim().toLowerCase()] : undefined;
  if (word === undefined) return problem;
  return { ...problem, fix: { title: `Replace it with ${word}`, edits: [{ ...node.span, text: word }] } };
}

const FLAG_WORDS: { readonly [word: string]: 'true' | 'false' } = {
  true: 'true',
  yes: 'true',
  false: 'false',
  no: 'false',
};

/** A text in the place of an object: where the object is mostly one text, that is what was meant. */
function writtenAsText({ fields }: ObjectData, node: SourceText, what: string): ReadProblem {
  const [only, ...others] = Object.entries(fields).filter(([, { isNeeded }]) => isNeeded);
  const problem = wrongType(what, 'an object', node);
  if (only === undefined || others.length > 0 || only[1].kind.data.kind !== 'text') return problem;
  const text = `{ ${quote(only[0])}: ${quote(node.value)} }`;
  const fix = { title: `Replace it with ${text}`, edits: [{ ...node.span, text }] };
  return { ...problem, message: `${problem.message} Write ${text}.`, fix };
}

function isNumeric(node: SourceNode): boolean {
  if (node.kind === 'number') return true;
  return node.kind === 'string' && node.value.trim() !== '' && Number.isFinite(Number(node.value));
}

/** Numbers and truth values are taken as their text. */
function readTextMap(reader: Reader, node: SourceNode, what: string): { readonly [name: string]: string } {
  const object = asObject(reader, node, what);
  if (object === undefined) return {};
  const argument: TextData = { kind: 'text', bytesMax: ARGUMENT_BYTES_MAX, bytesMin: 0, use: 'argument' };
  const entries = [...object.fields.values()].flatMap(({ name, value }): [string, string][] => {
    if (value.kind === 'number' || value.kind === 'boolean') return [[name, String(value.value)]];
    const text = readText(reader, argument, { node: value, what: `"${name}"` });
    return text === undefined ? [] : [[name, text]];
  });
  return Object.fromEntries(entries);
}

function readRecord(reader: Reader, { of }: Extract<KindData, { kind: 'record' }>, { fields }: SourceObject) {
  return [...fields.values()].flatMap(({ name, value: node }) => {
    const value = readData(reader, of.data, { node, what: `"${name}"` });
    return value === undefined ? [] : [{ name, value }];
  });
}

type Named = { readonly at: string } & { readonly [name: string]: string };

function readList(
  reader: Reader,
  { of, min, max, unique }: Extract<KindData, { kind: 'list' }>,
  { node, what }: Written,
): readonly unknown[] | undefined {
  if (node.kind !== 'array') return reportError(reader, node, wrongType(what, 'a list', node));
  const { items } = node;
  if (items.length < min) {
    const entries = min === 1 ? 'one entry' : `${min} entries`;
    reportError(reader, node, {
      code: 'wrong_value',
      message: `${what} needs at least ${entries}. Add what is missing.`,
    });
  }
  if (items.length > max) {
    const message = `${what} has ${items.length} entries; at most ${max} are allowed. Remove some.`;
    if (max < LIST_MAX) reportError(reader, items[max] ?? node, { code: 'wrong_value', message });
    else reportError(reader, node, { code: 'too_many_values', message });
  }
  const read = items.slice(0, Math.max(max, LIST_MAX)).flatMap((item) => {
    const value = readData(reader, of.data, { node: item, what: `An entry of ${what}` });
    return value === undefined ? [] : [value];
  });
  if (unique !== undefined) checkUnique(read as unknown as Named[], unique, reader.findings);
  return read;
}

function readVariant(
  reader: Reader,
  { by, of }: Extract<KindData, { kind: 'variants' }>,
  { node, what }: Written,
): unknown {
  const object = asObject(reader, node, what);
  if (object === undefined) return undefined;
  const word = fieldOf(object, by);
  if (word === undefined) return reportMissing(reader, object, { name: by, known: [by] });
  const chosen = choiceOf(reader, word, { what: `"${by}"`, choices: Object.keys(of) });
  const variant = chosen === undefined ? undefined : of[chosen];
  return variant && readData(reader, variant.data, { node, what });
}

function isWrittenAs(data: KindData, node: SourceNode): boolean {
  switch (data.kind) {
    case 'text':
    case 'choice':
      return node.kind === 'string';
    case 'flag':
      return node.kind === 'boolean';
    case 'integer':
      return node.kind === 'number';
    case 'list':
      return node.kind === 'array';
    case 'json':
      return data.only === undefined || node.kind === data.only;
    case 'built':
      return isWrittenAs(data.of.data, node);
    case 'either':
      return data.options.some((one) => isWrittenAs(one.data, node));
    case 'lazy':
      return isWrittenAs(data.of().data, node);
    default:
      return node.kind === 'object';
  }
}

/** Without a required field there is no object. */
function readFields(reader: Reader, data: ObjectData, object: SourceObject): object | undefined {
  const keys = Object.keys(data.fields);
  const isExplained = data.rules.map((rule) => checkRule(reader, rule, object)).includes('keys_explained');
  if (!isExplained && data.isOpen !== true) checkKeys(reader, object, { keys, isClosed: data.isClosed });
  const read: [string, unknown][] = [];
  let isWhole = true;
  for (const [name, field] of Object.entries(data.fields)) {
    const value = readField(reader, field, { object, name, keys });
    if (value !== undefined) read.push([field.as ?? name, value]);
    else if (field.isNeeded) isWhole = false;
  }
  return isWhole ? { at: object.pointer, ...Object.fromEntries(read) } : undefined;
}

type Place = { readonly object: SourceObject; readonly name: string; readonly keys: readonly string[] };

function readField(reader: Reader, field: Field, { object, name, keys }: Place): unknown {
  const node = fieldOf(object, name);
  const { data } = field.kind;
  if (node === undefined) {
    if (field.isNeeded && field.whenMissing !== undefined) reportError(reader, object, field.whenMissing(object, keys));
    else if (field.isNeeded) reportMissing(reader, object, { name, known: keys });
    return field.otherwise;
  }
  if (field.unused !== undefined) {
    const nameSpan = object.fields.get(name)?.nameSpan ?? node.span;
    const message = `"${name}" ${field.unused} and is ignored. Remove it, or change the loop.`;
    const fix = removeField(object, name);
    reportWarning(reader, { pointer: node.pointer, span: nameSpan }, { code: 'setting_unused', message, fix });
  }
  const value = readData(field.isLabel === true ? forLabels(reader) : reader, data, { node, what: `"${name}"` });
  // `null` is a value: a condition may compare with it.
  return value === undefined ? field.otherwise : value;
}

/** No run depends on a label, so nothing about it keeps a workflow from being used. */
function forLabels(reader: Reader): Reader {
  const { diagnostics } = reader;
  const softened: Diagnostics = {
    ...diagnostics,
    isFull: () => diagnostics.isFull('warning'),
    count: () => diagnostics.count('warning'),
    add: (found) =>
      diagnostics.add({
        ...found,
        severity: 'warning',
        message: `${found.message} It is ignored; the workflow works without it.`,
      }),
  };
  return { ...reader, diagnostics: softened };
}

function checkRule(reader: Reader, rule: Rule, object: SourceObject): 'keys_explained' | undefined {
  const { fields } = object;
  if ('when' in rule) {
    if (isChosen({ is: rule.when }, object) && !fields.has(rule.needs)) reportError(reader, object, rule.problem);
    return undefined;
  }
  if ('filled' in rule) {
    if (!rule.filled.some((name) => holdsSomething(fieldOf(object, name)))) reportError(reader, object, rule.problem);
    return undefined;
  }
  const [, ...others] = rule.of.filter((name) => fields.has(name));
  const isNone = !rule.of.some((name) => fields.has(name));
  if (isNone && rule.none !== undefined) {
    const { stray, ...problem } = rule.none(object);
    const found = stray === undefined ? undefined : fields.get(stray);
    const place = found === undefined ? object : { pointer: found.value.pointer, span: found.nameSpan };
    reportError(reader, place, problem);
    return found === undefined ? undefined : 'keys_explained';
  }
  if (rule.more === undefined) return undefined;
  for (const name of others) {
    const extra = fields.get(name);
    if (extra === undefined) continue;
    const place = { pointer: extra.value.pointer, span: extra.nameSpan };
    reportError(reader, place, { code: rule.more.code, message: rule.more.message(name) });
  }
  return undefined;
}

function holdsSomething(node: SourceNode | undefined): boolean {
  if (node?.kind === 'array') return node.items.some(holdsSomething);
  return node?.kind === 'object' ? node.fields.size > 0 : node !== undefined;
}
