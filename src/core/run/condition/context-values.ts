import type { JsonObject, JsonValue } from '../../json/json-value.ts';

const INDEX = /^(?:0|[1-9][0-9]*)$/;

/** What conditions and prompts can see. Loop variables hide context values of the same name. */
export type ContextValues = { readonly context: JsonObject; readonly loopVariables: JsonObject };

/**
 * The value at a key or a dotted path; `undefined` where there is none. Only what was put in counts: nothing that
 * objects inherit, no length of a list. Lists are entered by index.
 */
export function readPath({ context, loopVariables }: ContextValues, path: string): JsonValue | undefined {
  const [first = '', ...rest] = path.split('.');
  const values = Object.hasOwn(loopVariables, path) || Object.hasOwn(loopVariables, first) ? loopVariables : context;
  if (Object.hasOwn(values, path)) return values[path];
  let value = own(values, first);
  for (const part of rest) value = own(value, part);
  return value;
}

function own(value: JsonValue | undefined, key: string): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (isList(value)) return INDEX.test(key) ? value[Number(key)] : undefined;
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}
