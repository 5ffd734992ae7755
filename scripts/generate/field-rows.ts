import type { JsonSchema } from './json-schemas.ts';
import { grouped } from './markdown.ts';

/** One line of a table of fields. */
export type FieldRow = { readonly path: string; readonly type: string; readonly presence: string };

/** The fields of an object, nested ones by their path, variants of a union with the value that selects them. */
export function fieldRows(schema: JsonSchema, prefix = ''): readonly FieldRow[] {
  const variants = objectVariants(schema);
  if (variants.length > 0) return variantRows(variants, prefix);
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    if (typeof field === 'boolean' || isNever(field)) return [];
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const row = { path, type: typeText(field), presence: required.has(name) ? 'always' : 'optional' };
    return [row, ...nestedRows(field, path)];
  });
}

function nestedRows(field: JsonSchema, path: string): readonly FieldRow[] {
  if (field.type === 'array' && typeof field.items === 'object' && !Array.isArray(field.items)) {
    return fieldRows(field.items, `${path}[]`);
  }
  return fieldRows(field, path);
}

function variantRows(variants: readonly JsonSchema[], prefix: string): readonly FieldRow[] {
  const selector = selectorOf(variants);
  const path = prefix === '' ? selector : `${prefix}.${selector}`;
  const values = variants.map((variant) => `\`${String(constOf(variant, selector))}\``);
  const lists = variants.map((variant) => fieldRows(variant, prefix).filter((row) => row.path !== path));
  const isShared = (row: FieldRow) => lists.every((list) => list.some((other) => isSame(row, other)));
  return [
    { path, type: `one of ${values.join(', ')}`, presence: 'always' },
    ...(lists[0] ?? []).filter(isShared),
    ...lists.flatMap((list, i) =>
      list
        .filter((row) => !isShared(row))
        .map((row) => ({ ...row, presence: conditional(row.presence, `\`${path}\` is ${values[i] ?? ''}`) })),
    ),
  ];
}

function conditional(presence: string, condition: string): string {
  if (presence === 'always') return `when ${condition}`;
  return presence === 'optional' ? `optional, when ${condition}` : `${presence} and ${condition}`;
}

function isSame(a: FieldRow, b: FieldRow): boolean {
  return a.path === b.path && a.type === b.type && a.presence === b.presence;
}

function objectVariants(schema: JsonSchema): readonly JsonSchema[] {
  const variants = (schema.oneOf ?? schema.anyOf ?? []).filter((variant) => typeof variant === 'object');
  return variants.length > 1 && variants.every((variant) => variant.properties !== undefined) ? variants : [];
}

/** The property that has one value of its own in each variant. */
function selectorOf(variants: readonly JsonSchema[]): string {
  const names = Object.keys(variants[0]?.properties ?? {});
  const selector = names.find((name) => {
    const values = variants.map((variant) => constOf(variant, name));
    return !values.includes(undefined) && new Set(values).size === variants.length;
  });
  if (selector === undefined) throw new Error(`no property selects the variant: ${names.join(', ')}`);
  return selector;
}

function constOf(variant: JsonSchema, name: string): unknown {
  const property = variant.properties?.[name];
  return typeof property === 'object' ? property.const : undefined;
}

function isNever(schema: JsonSchema): boolean {
  return typeof schema.not === 'object' && Object.keys(schema.not).length === 0;
}

function typeText(schema: JsonSchema): string {
  const rule = schema.description?.replace(/^must be (?:a )?/, '');
  const base = baseText(schema);
  if (rule === undefined) return base;
  return base === 'text' || base === 'JSON' || base === 'object' ? rule : `${base}; ${rule}`;
}

function baseText(schema: JsonSchema): string {
  if (schema.const !== undefined) return `\`${String(schema.const)}\``;
  if (schema.enum !== undefined) return `one of ${schema.enum.map((value) => `\`${String(value)}\``).join(', ')}`;
  if (objectVariants(schema).length > 0) return 'object, one of several shapes';
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined)
    return choices.map((choice) => (typeof choice === 'object' ? typeText(choice) : 'JSON')).join(' or ');
  switch (schema.type) {
    case 'string':
      return stringText(schema);
    case 'integer':
      return integerText(schema);
    case 'array':
      return listText(schema);
    case undefined:
      return 'JSON';
    default:
      return String(schema.type);
  }
}

function stringText({ pattern, minLength, maxLength }: JsonSchema): string {
  const prefix = pattern?.match(/^\^([a-z]+)_\[0-9a-hj/)?.[1];
  if (prefix !== undefined) return `id \`${prefix}_…\``;
  if (pattern === '^sha256:[0-9a-f]{64}$') return 'SHA-256 digest, `sha256:` and 64 hex digits';
  const length = maxLength === undefined ? '' : `, at most ${grouped(maxLength)} characters`;
  if (pattern !== undefined) return `text like \`${pattern}\`${length}`;
  return minLength === 1 && maxLength === undefined ? 'text' : `text${length}`;
}

function integerText({ minimum = 0, maximum = Number.MAX_SAFE_INTEGER }: JsonSchema): string {
  if (maximum === Number.MAX_SAFE_INTEGER) return `whole number from ${grouped(minimum)}`;
  return `whole number, ${grouped(minimum)} to ${grouped(maximum)}`;
}

function listText({ items, minItems, maxItems }: JsonSchema): string {
  const member = typeof items === 'object' && !Array.isArray(items) ? typeText(items) : 'JSON';
  const least = minItems === undefined ? '' : `, at least ${minItems}`;
  const most = maxItems === undefined ? '' : `, at most ${maxItems}`;
  return `list of ${member}${least}${most}`;
}
