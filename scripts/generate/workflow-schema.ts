import { features } from '../../src/core/workflow/builtins/features.ts';
import type { Kind, KindData, ObjectData, Rule, TextData, When } from '../../src/core/workflow/format/field.ts';
import { ARGUMENT_BYTES_MAX, TEXT_FORMS } from '../../src/core/workflow/format/limits.ts';
import { workflow } from '../../src/core/workflow/format/workflow-fields.ts';

export type Schema = { readonly [keyword: string]: unknown };

/** What editors show while a workflow is written. It is made from the field tables that the compiler reads by. */
export function workflowSchema(): Schema {
  const defs = new Map<string, Schema>();
  const root = objectSchema(workflow.data, { defs, extra: [] });
  const sorted = [...defs].sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    $id: 'workflow.schema.json',
    title: 'A workflow file, in either spelling',
    ...root,
    $defs: { ...Object.fromEntries(sorted), something: SOMETHING },
  };
}

type Context = {
  /** Takes every object that has a name. */
  readonly defs: Map<string, Schema>;
  /** Keys that belong to the object around and are not looked at. */
  readonly extra: readonly string[];
};

function schemaOf({ data }: Kind, context: Context): Schema {
  switch (data.kind) {
    case 'text':
      return textSchema(data);
    case 'choice':
      return { enum: data.choices };
    case 'flag':
      return { type: 'boolean' };
    case 'integer': {
      const { min: minimum, max } = data;
      return { type: 'integer', minimum, ...(max === Number.MAX_SAFE_INTEGER ? {} : { maximum: max }) };
    }
    case 'numeric':
      return { anyOf: [{ type: 'number' }, { type: 'string', pattern: NUMERIC }] };
    case 'json':
      return data.only === undefined ? {} : { type: data.only };
    case 'texts':
      return { type: 'object', additionalProperties: SHORT_TEXT };
    case 'record':
      return { type: 'object', additionalProperties: schemaOf(data.of, context) };
    case 'ignored':
      return {};
    case 'list': {
      const { min, max } = data;
      const limits = { ...(min === 0 ? {} : { minItems: min }), ...(Number.isFinite(max) ? { maxItems: max } : {}) };
      return { type: 'array', items: schemaOf(data.of, { ...context, extra: [] }), ...limits };
    }
    case 'object':
      return context.extra.length > 0
        ? objectSchema(data, context)
        : referTo(data.name, context, () => objectSchema(data, context));
    case 'variants':
      return variantsSchema(data, context);
    case 'either':
      return { anyOf: data.options.map((one) => schemaOf(one, context)) };
    case 'chosen':
      return { type: 'object', ...chosenSchema(data.options, context) };
    case 'without':
      return schemaOf(data.of, { ...context, extra: data.keys });
    case 'built':
      return schemaOf(data.of, context);
    case 'special': {
      const [only, ...others] = data.fits().map((one) => schemaOf(one, context));
      return others.length === 0 ? { ...only } : { allOf: [only, ...others] };
    }
    case 'lazy':
      return data.name === ''
        ? schemaOf(data.of(), context)
        : referTo(data.name, context, () => schemaOf(data.of(), context));
  }
}

function referTo(name: string, { defs }: Context, make: () => Schema): Schema {
  if (!defs.has(name)) {
    defs.set(name, {});
    defs.set(name, make());
  }
  return { $ref: `#/$defs/${name}` };
}

const NUMERIC =
  '^\\s*(?:[+-]?(?:\\d+\\.?\\d*|\\.\\d+)(?:[eE][+-]?\\d+)?|0[xX][\\da-fA-F]+|0[oO][0-7]+|0[bB][01]+)\\s*$';
const SHORT_TEXT: Schema = {
  anyOf: [{ type: ['number', 'boolean'] }, { type: 'string', maxLength: ARGUMENT_BYTES_MAX }],
};
/** What is not an empty list or object. */
const SOMETHING: Schema = {
  anyOf: [
    { type: ['string', 'number', 'boolean', 'null'] },
    { type: 'array', contains: { $ref: '#/$defs/something' } },
    { type: 'object', minProperties: 1 },
  ],
};

/** Limits are bytes, and a character has one to four of them: no text that the compiler accepts is refused here. */
function textSchema({ bytesMax, bytesMin, form, known }: TextData): Schema {
  if (known !== undefined) return { enum: known };
  const pattern = form === undefined ? {} : { pattern: TEXT_FORMS[form].source };
  const text = { type: 'string', maxLength: bytesMax, ...pattern };
  if (bytesMin < 2) return bytesMin === 0 ? text : { ...text, minLength: 1 };
  const short = { minLength: Math.ceil(bytesMin / 4), pattern: '[^\\u0000-\\u007f]' };
  return { ...text, anyOf: [{ minLength: bytesMin }, short] };
}

function objectSchema(data: ObjectData, context: Context): Schema {
  const { name, fields, isClosed, rules } = data;
  const inside = { ...context, extra: [] };
  const properties = Object.entries(fields).map(([key, field]) => {
    const schema = name === 'feature' && key === 'config' ? {} : schemaOf(field.kind, inside);
    // A label that is wrong is a warning, so the schema only says how it should be.
    return [key, { description: field.says, ...(field.isLabel === true ? { anyOf: [schema, {}] } : schema) }];
  });
  const required = Object.entries(fields).flatMap(([key, { isNeeded }]) => (isNeeded ? [key] : []));
  const constraints = [...rules.map(ruleSchema), ...(name === 'feature' ? [featureSettings()] : [])];
  return {
    type: 'object',
    properties: Object.fromEntries([...properties, ...context.extra.map((key) => [key, {}])]),
    ...(required.length === 0 ? {} : { required }),
    // Keys that begin with "$" are for editors everywhere.
    ...(isClosed ? { patternProperties: { '^\\$': {} }, additionalProperties: false } : {}),
    ...(constraints.length > 1 ? { allOf: constraints } : constraints[0]),
  };
}

/** What may be set depends on the feature. */
function featureSettings(): Schema {
  const shapes = features.all.flatMap(({ featureId, config }) =>
    config === undefined ? [] : [{ properties: { id: { const: featureId }, config: config.shape } }],
  );
  return { anyOf: [{ not: { required: ['config'] } }, ...shapes] };
}

function ruleSchema(rule: Rule): Schema {
  if ('when' in rule) return implies(whenSchema({ is: rule.when }), { required: [rule.needs] });
  if ('filled' in rule) {
    const something = { $ref: '#/$defs/something' };
    return { anyOf: rule.filled.map((key) => ({ required: [key], properties: { [key]: something } })) };
  }
  const each = rule.of.map((key) => ({ required: [key] }));
  if (rule.more === undefined) return { anyOf: each };
  return { oneOf: rule.none === undefined ? [...each, { not: { anyOf: each } }] : each };
}

function variantsSchema({ by, of }: Extract<KindData, { kind: 'variants' }>, context: Context): Schema {
  return {
    type: 'object',
    properties: { [by]: { enum: Object.keys(of) } },
    required: [by],
    allOf: Object.entries(of).map(([word, kind]) => implies(whenSchema({ is: [by, word] }), schemaOf(kind, context))),
  };
}

type Options = Extract<KindData, { kind: 'chosen' }>['options'];

function chosenSchema([first, ...others]: Options, context: Context): Schema {
  if (first === undefined) return {};
  if (first.when === undefined) return schemaOf(first.of, context);
  const { has, ...rest } = first.when;
  const looked = has?.filter((key) => !context.extra.includes(key));
  // Keys of the object around are not looked at, so an option that goes by them alone is never chosen.
  if (has !== undefined && looked?.length === 0) return chosenSchema(others, context);
  const when = { ...rest, ...(looked === undefined ? {} : { has: looked }) };
  const chosen = schemaOf(first.of, context);
  return { ...implies(whenSchema(when, context.extra), chosen), else: chosenSchema(others, context) };
}

function whenSchema({ has, is, isEmpty }: When, extra: readonly string[] = []): Schema {
  const parts = [
    ...(has === undefined
      ? []
      : [has.length === 1 ? { required: has } : { anyOf: has.map((key) => ({ required: [key] })) }]),
    ...(is === undefined ? [] : [{ properties: { [is[0]]: { const: is[1] } }, required: [is[0]] }]),
    ...(isEmpty === undefined ? [] : [extra.length === 0 ? { maxProperties: 0 } : { propertyNames: { enum: extra } }]),
  ];
  return parts.length === 1 ? { ...parts[0] } : { allOf: parts };
}

function implies(condition: Schema, consequence: Schema): Schema {
  return Object.fromEntries([
    ['if', condition],
    ['then', consequence],
  ]);
}
