import type { JsonValue } from '../../json/json-value.ts';
import type { SourceNode, SourceText } from '../source/source-node.ts';
import {
  changedText,
  isChosen,
  type Kind,
  type KindData,
  type ObjectData,
  type TextChange,
  type TextData,
  withoutFields,
} from './field.ts';

const PLACE_KEYS = ['at', 'idAt', 'callAt', 'loopIdAt'];

type Tree = { readonly [key: string]: unknown };

/** The same part of a syntax tree with its texts, names and places changed, by the table that it was read with. */
export function mapTexts<Value>(kind: Kind<Value>, value: Value, change: TextChange): Value {
  return mapped(kind.data, value, change) as Value;
}

function mapped(data: KindData, value: unknown, change: TextChange): unknown {
  if (value === undefined) return value;
  switch (data.kind) {
    case 'text':
      return typeof value === 'string' ? changedText({ data }, value, change) : value;
    case 'json':
    case 'texts':
      return mapJson(value as JsonValue, (text) =>
        data.use === 'never' ? text : change.text(text, data.use, change.at ?? ''),
      );
    case 'list':
      return (value as readonly unknown[]).map((item) => mapped(data.of.data, item, change));
    case 'object':
      return mapObject(data, value as Tree, change);
    case 'variants':
      return mapVariant(data, value as Tree, change);
    case 'either': {
      const option = data.options.find((one) => isLike(one.data, value));
      return option === undefined ? value : mapped(option.data, value, change);
    }
    case 'built':
    case 'special':
      if (data.map !== undefined) return data.map(value as never, change);
      return data.kind === 'built' ? mapped(data.of.data, value, change) : value;
    case 'without':
      return mapped(data.of.data, value, change);
    case 'lazy':
      return mapped(data.of().data, value, change);
    default:
      return value;
  }
}

/** Also for trees that hold the fields of several tables: what a table does not have is left as it is. */
export function mapObject(data: ObjectData, value: Tree, change: TextChange): Tree {
  const inside = typeof value['at'] === 'string' ? { ...change, at: value['at'] } : change;
  const places = PLACE_KEYS.flatMap((key) => {
    const place = value[key];
    return typeof place === 'string' ? [[key, change.place(place, key)]] : [];
  });
  const fields = Object.entries(data.fields).flatMap(([name, field]) => {
    const key = field.as ?? name;
    return value[key] === undefined ? [] : [[key, mapped(field.kind.data, value[key], inside)]];
  });
  return { ...value, ...Object.fromEntries(places), ...Object.fromEntries(fields) };
}

function mapVariant(data: Extract<KindData, { kind: 'variants' }>, value: Tree, change: TextChange): unknown {
  for (const [word, { data: variant }] of Object.entries(data.of)) {
    const inner = unwrapped(variant);
    const key = inner.kind === 'object' ? (inner.fields[data.by]?.as ?? data.by) : data.by;
    if (value[key] === word) return mapped(variant, value, change);
  }
  return value;
}

function unwrapped(data: KindData): KindData {
  return data.kind === 'built' ? unwrapped(data.of.data) : data;
}

function isLike(data: KindData, value: unknown): boolean {
  switch (data.kind) {
    case 'built':
      return data.map === undefined ? isLike(data.of.data, value) : typeof value === 'object';
    case 'text':
      return typeof value === 'string';
    case 'list':
      return Array.isArray(value);
    case 'json':
      return data.only !== 'array' || Array.isArray(value);
    case 'object':
    case 'variants':
    case 'chosen':
    case 'special':
    case 'lazy':
      return typeof value === 'object' && !Array.isArray(value);
    default:
      return false;
  }
}

function mapJson(value: JsonValue, change: (text: string) => string): JsonValue {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((item: JsonValue) => mapJson(item, change));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mapJson(inner, change)]));
}

/** What a text of a file is for: the table says so where it may stand, and nothing is known of other texts. */
export type VisitText = (text: SourceText, data: Pick<TextData, 'use' | 'names' | 'refersTo'>) => void;

/** Every text of a file that the table knows, right or wrong. */
export function visitTexts({ data }: Kind, node: SourceNode, visit: VisitText): void {
  switch (data.kind) {
    case 'text':
      if (node.kind === 'string') visit(node, data);
      return;
    case 'ignored':
      if (node.kind === 'string') visit(node, { use: 'never', ...data });
      return;
    case 'json':
    case 'texts':
      visitJson(node, (text) => visit(text, { use: data.use }));
      return;
    case 'list':
      if (node.kind === 'array') for (const item of node.items) visitTexts(data.of, item, visit);
      return;
    case 'record':
      if (node.kind === 'object') for (const { value } of node.fields.values()) visitTexts(data.of, value, visit);
      return;
    case 'object':
      if (node.kind !== 'object') return;
      for (const [name, field] of Object.entries(data.fields)) {
        const inner = node.fields.get(name);
        if (inner !== undefined) visitTexts(field.kind, inner.value, visit);
      }
      return;
    case 'either':
      for (const option of data.options) visitTexts(option, node, visit);
      return;
    case 'variants': {
      const word = node.kind === 'object' ? node.fields.get(data.by)?.value : undefined;
      const variant = word?.kind === 'string' ? data.of[word.value] : undefined;
      if (variant !== undefined) visitTexts(variant, node, visit);
      return;
    }
    case 'chosen': {
      const option = data.options.find(({ when }) => node.kind === 'object' && isChosen(when, node));
      if (option !== undefined) visitTexts(option.of, node, visit);
      return;
    }
    case 'built':
      visitTexts(data.of, node, visit);
      return;
    case 'without':
      visitTexts(data.of, withoutFields(node, data.keys), visit);
      return;
    case 'special':
      for (const kind of data.fits()) visitTexts(kind, node, visit);
      return;
    case 'lazy':
      visitTexts(data.of(), node, visit);
      return;
    default:
      return;
  }
}

function visitJson(node: SourceNode, visit: (text: SourceText) => void): void {
  if (node.kind === 'string') visit(node);
  else if (node.kind === 'array') for (const item of node.items) visitJson(item, visit);
  else if (node.kind === 'object') for (const { value } of node.fields.values()) visitJson(value, visit);
}
