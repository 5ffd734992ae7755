/** A document with one field changed. */
export type FieldChange = {
  /** JSON pointer of the field. */
  readonly path: string;
  /** The same with `*` instead of list positions, so that rules can name it. */
  readonly field: string;
  readonly what: string;
  readonly document: unknown;
};

export type FieldRules = {
  /** Free JSON, of which nothing inside is checked. */
  readonly opaque: readonly string[];
  /** Fields that hold any JSON. */
  readonly free?: readonly string[];
  /** Fields that may be null instead. */
  readonly nullable: readonly string[];
  /** Texts with any content and their byte limits; `Infinity` if only the size of a plan limits them. */
  readonly texts: { readonly [field: string]: number };
  /** Texts that may be empty. */
  readonly emptyTexts: readonly string[];
};

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** The document once without each of its fields. */
export function removals(document: unknown, rules: FieldRules): readonly FieldChange[] {
  return fieldsOf(document as Json, rules)
    .filter(({ key }) => typeof key === 'string')
    .map(({ path, field }) => ({ path, field, what: 'removed', document: without(document as Json, path) }));
}

/** The document with every field once of each wrong type and once with each kind of wrong value. */
export function replacements(document: unknown, rules: FieldRules): readonly FieldChange[] {
  return fieldsOf(document as Json, rules).flatMap(({ path, field, value }) =>
    [...wrongTypes(field, value, rules), ...wrongValues(field, value, rules)].map((wrong) => ({
      path,
      field,
      what: `= ${String(JSON.stringify(wrong)).slice(0, 40)}`,
      document: withValue(document as Json, path, wrong),
    })),
  );
}

/** The document with another value at a path. */
export function withValue(document: unknown, path: string, value: unknown): unknown {
  const copy = structuredClone(document) as Json;
  const { holder, key } = locate(copy, path);
  holder[key] = value as Json;
  return copy;
}

/** The document without the field at a path. */
export function without(document: unknown, path: string): unknown {
  const copy = structuredClone(document) as Json;
  const { holder, key } = locate(copy, path);
  delete holder[key];
  return copy;
}

/** Every value at a field, which may contain `*`. */
export function valuesAt(document: unknown, field: string, rules: FieldRules): readonly unknown[] {
  return fieldsOf(document as Json, rules)
    .filter((one) => one.field === field)
    .map(({ value }) => value);
}

type Field = { readonly path: string; readonly field: string; readonly key: string | number; readonly value: Json };

function fieldsOf(value: Json, rules: FieldRules, path = ''): readonly Field[] {
  if (typeof value !== 'object' || value === null) return [];
  const entries: readonly (readonly [string | number, Json])[] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([key, item]) => {
    const at = `${path}/${key}`;
    const field = at.replaceAll(/\/\d+(?=\/|$)/g, '/*');
    const inner = rules.opaque.includes(field) ? [] : fieldsOf(item, rules, at);
    return [{ path: at, field, key, value: item }, ...inner];
  });
}

function wrongTypes(field: string, value: Json, rules: FieldRules): readonly unknown[] {
  if (rules.free?.includes(field)) return [];
  const others: readonly unknown[] = [null, true, 7, 'text', [], {}];
  const legal = [
    typeName(value),
    ...(rules.nullable.includes(field) ? ['null'] : []),
    ...(rules.texts[field] === undefined ? [] : ['string']),
  ];
  return others.filter((other) => !legal.includes(typeName(other)));
}

function wrongValues(field: string, value: Json, rules: FieldRules): readonly unknown[] {
  if (typeof value === 'number') return [-1, 0.5, 2 ** 53];
  if (typeof value !== 'string' || rules.free?.includes(field)) return [];
  const bytesMax = rules.texts[field];
  if (bytesMax === undefined)
    return ['Not A Member!', '', `${value} `, value.toUpperCase()].filter((it) => it !== value);
  const empty = rules.emptyTexts.includes(field) ? [] : [''];
  // Two bytes each: half as many characters as the budget has bytes, and one more.
  return bytesMax === Number.POSITIVE_INFINITY ? empty : [...empty, 'é'.repeat(bytesMax / 2 + 1), 'lone \ud800'];
}

function typeName(value: unknown): string {
  return value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
}

function locate(document: Json, path: string): { readonly holder: { [key: string]: Json }; readonly key: string } {
  const keys = path.split('/').slice(1);
  const key = keys.pop() ?? '';
  const holder = keys.reduce((at, next) => (at as { [key: string]: Json })[next] as Json, document);
  return { holder: holder as { [key: string]: Json }, key };
}
