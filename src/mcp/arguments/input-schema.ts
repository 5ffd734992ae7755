import { unreachable } from '../../core/assert.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import type { Argument, Arguments } from './argument.ts';

/**
 * What clients are told of a tool's arguments. It does not forbid others: a client that checks would keep from us what
 * we can mend, and the agent would never hear what it meant.
 */
export function inputSchema(all: Arguments): JsonObject & { readonly type: 'object' } {
  const required = Object.entries(all).filter(([, { isRequired }]) => isRequired);
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(all).map(([name, one]) => [name, argumentSchema(one)])),
    ...(required.length === 0 ? {} : { required: required.map(([name]) => name) }),
  };
}

function argumentSchema(one: Argument): JsonObject {
  const { about: description } = one;
  switch (one.kind) {
    case 'text':
    case 'token':
      return { type: 'string', description };
    case 'choice':
      return { type: 'string', enum: one.values, description };
    case 'texts':
      return { type: 'array', items: { type: 'string' }, description };
    case 'object':
      return { type: 'object', description };
    case 'objects':
      return { type: 'array', items: { type: 'object' }, description };
    case 'group':
      return { ...inputSchema(one.fields), description };
    default:
      return unreachable(one);
  }
}
