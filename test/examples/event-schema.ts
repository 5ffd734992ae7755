import * as z from 'zod';
import { type EventKind, sessionEventSchema } from '../../src/core/log/event.ts';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The JSON Schema of a kind of event, for tests to inspect. */
export function dataSchema(kind: EventKind): JsonSchema {
  const schema = sessionEventSchema.options.find((option) => option.shape.kind.value === kind);
  if (schema === undefined) throw new Error(`no schema of ${kind}`);
  return jsonSchema(schema.shape.data);
}

export function jsonSchema(schema: z.ZodType): JsonSchema {
  return z.toJSONSchema(schema, { unrepresentable: 'any' });
}

export function options(schema: JsonSchema): readonly JsonSchema[] {
  return (schema.oneOf ?? schema.anyOf ?? [schema]) as readonly JsonSchema[];
}

/** The field names of each option of a schema; optional ones end in a question mark. */
export function fieldsOf(schema: z.core.JSONSchema._JSONSchema): readonly string[] {
  return options(schema as JsonSchema).map(({ properties, required }) =>
    Object.keys(properties ?? {})
      .map((name) => (required?.includes(name) ? name : `${name}?`))
      .sort()
      .join(' '),
  );
}

export type ClosedSets = { readonly [field: string]: readonly unknown[] };

/** Every field of a schema whose value is from a list, with the whole list, so that a new member is noticed. */
export function closedSets(schema: JsonSchema, field = ''): ClosedSets {
  const sets: { [field: string]: readonly unknown[] } = {};
  for (const option of options(schema)) {
    for (const [name, members] of Object.entries(
      option === schema ? ownSets(schema, field) : closedSets(option, field),
    )) {
      sets[name] = [...new Set([...(sets[name] ?? []), ...members])];
    }
  }
  return sets;
}

function ownSets(schema: JsonSchema, field: string): ClosedSets {
  const own = schema.enum ?? (schema.const === undefined ? [] : [schema.const]);
  const inner = Object.entries(schema.properties ?? {}).map(
    ([name, property]) => [`${field}/${name}`, property] as const,
  );
  const items = schema.items === undefined ? [] : [[`${field}/*`, schema.items] as const];
  return Object.assign(
    own.length === 0 ? {} : { [field]: own },
    ...[...inner, ...items].map(([at, part]) => closedSets(part as JsonSchema, at)),
  );
}
