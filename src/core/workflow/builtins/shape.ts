import * as z from 'zod';
import { isObject, type JsonObject, type JsonValue, quote } from '../../json/json-value.ts';

/** Annotation of an enum whose values are taken in any case and with blanks around them. */
export const ANY_CASE = 'x-anyCase';
/** Annotation of a text with its limit in UTF-8, because `maxLength` counts characters. */
export const BYTES_MAX = 'x-bytesMax';

/**
 * A schema as plain data, in JSON Schema with the two annotations above. Declarations are zod; what is pinned, shown and
 * checked is this, so a run keeps the rules it was started with.
 */
export type Shape = JsonObject;

/** The data form of a declaration, its fields in the order in which they were declared. */
export function shapeOfSchema(schema: z.ZodType): Shape {
  const { $schema: _, ...shape } = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema }) => {
      delete jsonSchema.propertyNames;
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
      if (jsonSchema.additionalProperties !== false) delete jsonSchema.minProperties;
    },
  });
  return shape as Shape;
}

/** The same shape with every order that means nothing made one; values of an enum keep theirs, agents are shown it. */
export function inStableOrder(shape: Shape): Shape {
  return Object.fromEntries(
    Object.keys(shape)
      .sort()
      .map((key) => [key, stableValue(key, shape[key] ?? null)]),
  );
}

function stableValue(key: string, value: JsonValue): JsonValue {
  if (key === 'required' && Array.isArray(value)) return [...value].sort();
  if (Array.isArray(value)) return value.map((item: JsonValue) => (isObject(item) ? inStableOrder(item) : item));
  return isObject(value) ? inStableOrder(value) : value;
}

/** A part of a shape that is a shape itself. */
export function partOf(shape: Shape, key: string): Shape | undefined {
  const part = Object.hasOwn(shape, key) ? shape[key] : undefined;
  return isObject(part) ? part : undefined;
}

/** The variants of a shape; none for one that has just one form. */
export function variantsOf(shape: Shape): readonly Shape[] {
  const variants = shape['oneOf'] ?? shape['anyOf'];
  return Array.isArray(variants) ? variants.filter(isObject) : [];
}

/** The field that has one value of its own in every variant, with these values. */
export function selectorOf(
  variants: readonly Shape[],
): { readonly name: string; readonly values: readonly JsonValue[] } | undefined {
  for (const name of Object.keys(partOf(variants[0] ?? {}, 'properties') ?? {})) {
    const values = variants.map((variant) => partOf(partOf(variant, 'properties') ?? {}, name)?.['const']);
    const known = values.filter((value) => value !== undefined);
    if (new Set(known).size === variants.length) return { name, values: known };
  }
  return undefined;
}

/** The shape of a part of a value; the path is written `checks[0].name`. */
export function shapeAt(shape: Shape, path: string): Shape | undefined {
  let at: Shape | undefined = shape;
  for (const name of path.split(/[.[]/)) if (at !== undefined && name !== '') at = partNamed(at, name);
  return at;
}

function partNamed(shape: Shape, name: string): Shape | undefined {
  if (name.endsWith(']')) return inVariants(shape, (one) => partOf(one, 'items'));
  return inVariants(
    shape,
    (one) => partOf(partOf(one, 'properties') ?? {}, name) ?? partOf(one, 'additionalProperties'),
  );
}

/** Of several variants, all that have the part. */
function inVariants(shape: Shape, find: (variant: Shape) => Shape | undefined): Shape | undefined {
  const variants = variantsOf(shape);
  if (variants.length === 0) return find(shape);
  const found = variants.map((variant) => inVariants(variant, find)).filter((part) => part !== undefined);
  return found.length > 1 ? { anyOf: found } : found[0];
}

/** Whether a text is one of the values that a shape lists. */
export function isAllowedText(shape: Shape, text: string): boolean {
  const { enum: values, const: only } = shape;
  const isListed = Array.isArray(values) && values.some((value) => isSameText(value as JsonValue, text));
  return isListed || only === text || variantsOf(shape).some((variant) => isAllowedText(variant, text));
}

function isSameText(value: JsonValue, text: string): boolean {
  return typeof value === 'string' && value.toLowerCase() === text.toLowerCase();
}

/** What a value may be, in words for agents and authors. */
export function describeShape(shape: Shape): string {
  const variants = variantsOf(shape);
  if (variants.length > 0) return variants.map(describeShape).join(' or ');
  if (shape['const'] !== undefined) return plain(shape['const']);
  const values = shape['enum'];
  if (Array.isArray(values)) return values.map(plain).join(' | ');
  switch (shape['type']) {
    case 'string':
      return describeText(shape);
    case 'integer':
      return describeInteger(shape);
    case 'array':
      return describeList(shape);
    case 'object':
      return describeObject(shape);
    default:
      return 'any JSON';
  }
}

/** The fields of an object, in the order of the shape. */
export function fieldNames(shape: Shape): readonly string[] {
  return Object.keys(partOf(shape, 'properties') ?? {});
}

export function isRequired(shape: Shape, name: string): boolean {
  const required = shape['required'];
  return Array.isArray(required) && required.includes(name);
}

function plain(value: JsonValue): string {
  return typeof value === 'string' ? value : quote(value);
}

function describeText(shape: Shape): string {
  if (shape['format'] === 'id') return 'id of lower-case letters, digits, _ and -';
  const { minLength } = shape;
  const least = typeof minLength === 'number' && minLength > 1 ? `, at least ${minLength} characters` : '';
  const most = shape[BYTES_MAX] === undefined ? '' : `, at most ${plain(shape[BYTES_MAX])} bytes`;
  return `text${least}${most}`;
}

function describeInteger({ minimum, maximum }: Shape): string {
  const from = typeof minimum === 'number' ? ` from ${minimum}` : '';
  return `whole number${from}${typeof maximum === 'number' ? ` to ${maximum}` : ''}`;
}

function describeList(shape: Shape): string {
  const least = typeof shape['minItems'] === 'number' ? `, at least ${shape['minItems']}` : '';
  const most = typeof shape['maxItems'] === 'number' ? `, at most ${shape['maxItems']}` : '';
  return `list of ${describeShape(partOf(shape, 'items') ?? {})}${least}${most}`;
}

function describeObject(shape: Shape): string {
  const fields = fieldNames(shape).map((name) => {
    const field = partOf(partOf(shape, 'properties') ?? {}, name) ?? {};
    return `${name}${isRequired(shape, name) ? '' : '?'}: ${describeShape(field)}`;
  });
  const others = shape['additionalProperties'];
  const more = isObject(others) ? [Object.keys(others).length === 0 ? '…' : `any name: ${describeShape(others)}`] : [];
  const inside = [...fields, ...more];
  return inside.length === 1 && inside[0] === '…' ? 'object' : `{${inside.join(', ')}}`;
}
