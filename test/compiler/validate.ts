import type { Json } from './json-leaves.ts';

export type Schema = { readonly [keyword: string]: unknown };

type JsonObject = { readonly [key: string]: Json };

/** A validator for the few keywords that the published schema uses; any other keyword is an error of the test. */
export function violations(value: Json, schema: Schema, place: Place = { root: schema, at: '' }): readonly string[] {
  return Object.entries(schema).flatMap(([keyword, rule]) => {
    const check = CHECKS[keyword];
    if (check === undefined) throw new Error(`unknown keyword ${keyword}`);
    return check({ value, rule, schema, ...place });
  });
}

/** The schema that references lead into, and where the value stands. */
type Place = { readonly root: Schema; readonly at: string };

type Check = (checked: {
  readonly value: Json;
  readonly rule: unknown;
  readonly schema: Schema;
  readonly root: Schema;
  readonly at: string;
}) => readonly string[];

const nothing: Check = () => [];
const when = (isWrong: boolean, at: string, what: string) => (isWrong ? [`${at}: ${what}`] : []);
const isObject = (value: Json): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const CHECKS: { readonly [keyword: string]: Check } = {
  $schema: nothing,
  $id: nothing,
  $defs: nothing,
  title: nothing,
  patternProperties: nothing,
  type: ({ value, rule, at }) => {
    const kinds = [rule].flat();
    const kind = Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
    const isInteger = kinds.includes('integer') && Number.isInteger(value);
    return when(!kinds.includes(kind) && !isInteger, at, `is ${kind}, not ${kinds.join(' or ')}`);
  },
  enum: ({ value, rule, at }) => when(!(rule as readonly Json[]).includes(value), at, 'is no such word'),
  pattern: ({ value, rule, at }) =>
    when(typeof value === 'string' && !new RegExp(rule as string, 'u').test(value), at, `does not match ${rule}`),
  minLength: ({ value, rule, at }) =>
    when(typeof value === 'string' && value.length < Number(rule), at, 'is too short'),
  maxLength: ({ value, rule, at }) =>
    when(typeof value === 'string' && [...value].length > Number(rule), at, 'is too long'),
  minItems: ({ value, rule, at }) => when(Array.isArray(value) && value.length < Number(rule), at, 'has too few'),
  maxItems: ({ value, rule, at }) => when(Array.isArray(value) && value.length > Number(rule), at, 'has too many'),
  minProperties: ({ value, rule, at }) =>
    when(isObject(value) && Object.keys(value).length < Number(rule), at, 'has too few keys'),
  minimum: ({ value, rule, at }) => when(typeof value === 'number' && value < Number(rule), at, 'is too small'),
  maximum: ({ value, rule, at }) => when(typeof value === 'number' && value > Number(rule), at, 'is too large'),
  required: ({ value, rule, at }) =>
    isObject(value) ? (rule as readonly string[]).flatMap((key) => when(!(key in value), at, `lacks ${key}`)) : [],
  items: ({ value, rule, root, at }) =>
    Array.isArray(value)
      ? value.flatMap((item: Json, i) => violations(item, rule as Schema, { root, at: `${at}/${i}` }))
      : [],
  properties: ({ value, rule, root, at }) =>
    isObject(value)
      ? Object.entries(rule as { [key: string]: Schema }).flatMap(([key, inner]) =>
          value[key] === undefined ? [] : violations(value[key], inner, { root, at: `${at}/${key}` }),
        )
      : [],
  additionalProperties: ({ value, rule, schema, root, at }) => {
    if (!isObject(value)) return [];
    const known = Object.keys((schema['properties'] as object | undefined) ?? {});
    const others = Object.keys(value).filter((key) => !known.includes(key) && !key.startsWith('$'));
    if (rule === false) return others.map((key) => `${at}/${key}: is unknown`);
    return others.flatMap((key) => violations(value[key] ?? null, rule as Schema, { root, at: `${at}/${key}` }));
  },
  $ref: ({ value, rule, root, at }) => {
    const name = String(rule).replace('#/$defs/', '');
    return violations(value, (root['$defs'] as { [name: string]: Schema })[name] ?? {}, { root, at });
  },
  allOf: ({ value, rule, root, at }) =>
    (rule as readonly Schema[]).flatMap((one) => violations(value, one, { root, at })),
  anyOf: ({ value, rule, root, at }) => {
    const tries = (rule as readonly Schema[]).map((one) => violations(value, one, { root, at }));
    return tries.some((found) => found.length === 0) ? [] : [`${at}: fits nothing`, ...(tries[0] ?? [])];
  },
  oneOf: ({ value, rule, root, at }) => {
    const fits = (rule as readonly Schema[]).filter((one) => violations(value, one, { root, at }).length === 0);
    return when(fits.length !== 1, at, `fits ${fits.length} of the choices`);
  },
};
