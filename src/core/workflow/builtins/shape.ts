import * as z from 'zod';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';

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

export function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
