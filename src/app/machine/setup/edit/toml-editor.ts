import type { Result } from 'neverthrow';
import type { JsonValue } from '../../../../core/json/json-value.ts';
import type { Edited, EntryEditor, EntryPlace, FileTrouble } from './edited-file.ts';

/** Reads TOML; the library throws, so it is handed in. */
export type ParseToml = (text: string) => Result<{ readonly [key: string]: unknown }, FileTrouble>;

/** TOML. It is only ever parsed to look; a table is appended or its lines are cut out. */
export function tomlEditor(parse: ParseToml): EntryEditor {
  const edited = (text: string, place: EntryPlace, edit: () => string): Edited =>
    parse(text).match(
      () => checked(parse, { before: text, after: edit() }, place),
      (trouble) => ({ trouble }),
    );
  return {
    find: (text, place) =>
      parse(text).match(
        (table) => ({ entry: tableIn(tableIn(table, place.key), place.name) }),
        (trouble) => ({ trouble }),
      ),
    put: (text, place, entry) =>
      edited(text, place, () => {
        const body = withoutTable(text, place);
        const eol = text.includes('\r\n') ? '\r\n' : '\n';
        const start = body.trim() === '' ? '' : `${body.replace(/\s+$/, '')}${eol}${eol}`;
        const lines = tableLines(`${place.key}.${place.name}`, entry as { readonly [key: string]: JsonValue });
        return `${start}${lines.join(eol)}${eol}`;
      }),
    remove: (text, place) => edited(text, place, () => withoutTable(text, place)),
  };
}

function tableIn(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as { readonly [key: string]: unknown })[key] : undefined;
}

/** A table that was written in another way, such as inline, cannot be cut out or added to by whole lines. */
function checked(
  parse: ParseToml,
  { before, after }: { readonly before: string; readonly after: string },
  place: EntryPlace,
): Edited {
  if (parse(after).isOk()) return { text: after };
  const line = before.split('\n').findIndex((words) => words.includes(place.key)) + 1;
  return {
    trouble: { line: Math.max(1, line), problem: `"${place.key}" is written in a way that no table can be added to` },
  };
}

/** Headers are `[a.b]`, `["a"."b"]` and the same with spaces; those of the tables inside begin with it. */
function withoutTable(text: string, { key, name }: EntryPlace): string {
  const word = (part: string) => `(?:${part}|"${part}"|'${part}')`;
  const ours = new RegExp(`^\\s*\\[\\s*${word(key)}\\s*\\.\\s*${word(name)}\\s*[\\].]`);
  let isOurs = false;
  return text
    .split(/(?<=\n)/)
    .filter((line) => {
      if (/^\s*\[/.test(line)) isOurs = ours.test(line);
      return !isOurs;
    })
    .join('');
}

function tableLines(header: string, table: { readonly [key: string]: JsonValue }): readonly string[] {
  const isTable = (value: JsonValue | undefined) =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
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

/** Strings of JSON are strings of TOML, and so are lists of them. */
function valueText(value: JsonValue): string {
  return Array.isArray(value) ? `[${value.map((item) => JSON.stringify(item)).join(', ')}]` : JSON.stringify(value);
}
