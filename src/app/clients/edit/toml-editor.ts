import { err, ok, type Result } from 'neverthrow';
import type { JsonValue } from '../../../core/json/json-value.ts';
import type { FileTrouble, ParseToml } from '../../ports/machine.ts';
import type { Edited, EntryEditor, EntryPlace } from './entry-editor.ts';

type Table = { readonly [key: string]: unknown };

/** Edits TOML. It is parsed only to read it; a table is appended, or its lines are removed or replaced. */
export function tomlEditor(parse: ParseToml): EntryEditor {
  const read = (text: string, place: EntryPlace): Result<Table, FileTrouble> =>
    parse(text).andThen((table) => {
      const isSound = table[place.key] === undefined || isTable(table[place.key]);
      return isSound ? ok(table) : err({ line: lineOfKey(text, place), problem: `"${place.key}" is not a table` });
    });
  const edited = (before: string, place: EntryPlace, entry: JsonValue | undefined): Edited =>
    read(before, place).match(
      (table) => {
        const after = withEntry(before, place, entry);
        const isDone = read(after, place).match(
          (changed) =>
            restOf(changed, place) === restOf(table, place) &&
            (entryIn(changed, place) === undefined) === (entry === undefined),
          () => false,
        );
        return isDone ? { text: after } : { trouble: unusual(before, table, place) };
      },
      (trouble) => ({ trouble }),
    );
  return {
    find: (text, place) =>
      read(text, place).match(
        (table) => ({ entry: entryIn(table, place) }),
        (trouble) => ({ trouble }),
      ),
    put: edited,
    remove: (text, place) => edited(text, place, undefined),
  };
}

function isTable(value: unknown): value is Table {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}

function entryIn(table: Table, { key, name }: EntryPlace): unknown {
  const servers = table[key];
  return isTable(servers) ? servers[name] : undefined;
}

/** Everything except our entry, for comparison. */
function restOf(table: Table, { key, name }: EntryPlace): string {
  const without = (from: unknown, left: string) =>
    isTable(from) ? Object.entries(from).filter(([word]) => word !== left) : [];
  return JSON.stringify([without(table, key), without(table[key], name)]);
}

/** A table in another notation, such as inline, cannot be removed or extended by whole lines. */
function unusual(text: string, table: Table, place: EntryPlace): FileTrouble {
  return entryIn(table, place) === undefined
    ? {
        line: lineOfKey(text, place),
        problem: `"${place.key}" is written in a notation that cannot be extended by a table`,
      }
    : {
        line: lineOfEntry(text, place),
        problem: `"${place.name}" is not written as a separate table. Change it by hand`,
      };
}

function lineOfKey(text: string, { key }: EntryPlace): number {
  const keyed = new RegExp(`^\\s*\\[*\\s*${written(key)}\\s*[\\].=]`);
  return Math.max(1, text.split('\n').findIndex((line) => keyed.test(line)) + 1);
}

function lineOfEntry(text: string, place: EntryPlace): number {
  const [key, name] = [written(place.key), written(place.name)];
  const whole = new RegExp(`^\\s*\\[*\\s*${key}\\s*\\.\\s*${name}\\s*[\\].=]`);
  const header = new RegExp(`^\\s*\\[\\s*${key}\\s*\\]`);
  const inside = new RegExp(`^\\s*${name}\\s*[.=]`);
  let isInside = false;
  const found = text.split('\n').findIndex((line) => {
    if (/^\s*\[/.test(line)) isInside = header.test(line);
    return whole.test(line) || (isInside && inside.test(line));
  });
  return found < 0 ? lineOfKey(text, place) : found + 1;
}

/** A part of a key, bare or quoted. */
function written(part: string): string {
  return `(?:${part}|"${part}"|'${part}')`;
}

function withEntry(text: string, place: EntryPlace, entry: JsonValue | undefined): string {
  const { head, tail } = withoutTable(text, place);
  if (entry === undefined) return `${head}${tail ?? ''}`;
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  const lines = tableLines(`${place.key}.${place.name}`, entry as { readonly [key: string]: JsonValue });
  const table = `${lines.join(eol)}${eol}`;
  if (tail !== undefined) return `${head}${table}${tail}`;
  return head.trim() === '' ? table : `${head.replace(/\s+$/, '')}${eol}${eol}${table}`;
}

type Around = {
  readonly head: string /** `undefined` when there is no such table. */;
  readonly tail: string | undefined;
};

/**
 * Headers are `[a.b]`, `["a"."b"]` and the same with spaces; those of inner tables start with it. Comments and empty
 * lines before another table, or at the end, are not ours.
 */
function withoutTable(text: string, { key, name }: EntryPlace): Around {
  const ours = new RegExp(`^\\s*\\[\\s*${written(key)}\\s*\\.\\s*${written(name)}\\s*[\\].]`);
  const kept: string[] = [];
  let [start, isOurs, held]: [number | undefined, boolean, string[]] = [undefined, false, []];
  for (const line of text.split(/(?<=\n)/)) {
    if (/^\s*\[/.test(line)) {
      isOurs = ours.test(line);
      if (isOurs) start ??= kept.length;
      else kept.push(...held.splice(0));
    }
    if (!isOurs) kept.push(line);
    else if (/^\s*(?:#|$)/.test(line)) held.push(line);
    else held = [];
  }
  if (held.join('').trim() !== '') kept.push(...held);
  return { head: kept.slice(0, start).join(''), tail: start === undefined ? undefined : kept.slice(start).join('') };
}

function tableLines(header: string, table: { readonly [key: string]: JsonValue }): readonly string[] {
  const plain = Object.entries(table).filter(([, value]) => !isTable(value));
  const inner = Object.entries(table).filter(([, value]) => isTable(value));
  return [
    `[${header}]`,
    ...plain.map(([key, value]) => `${key} = ${valueText(value)}`),
    ...inner.flatMap(([key, value]) => [
      '',
      ...tableLines(`${header}.${key}`, value as { readonly [key: string]: JsonValue }),
    ]),
  ];
}

/** JSON strings are valid TOML strings, and so are lists of them. */
function valueText(value: JsonValue): string {
  return Array.isArray(value) ? `[${value.map((item) => JSON.stringify(item)).join(', ')}]` : JSON.stringify(value);
}
