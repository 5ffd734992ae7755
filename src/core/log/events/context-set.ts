import * as z from 'zod';
import { canonicalJson } from '../../json/canonical-json.ts';
import { utf8Length } from '../../json/utf8.ts';
import { CONTEXT_BYTES_MAX } from '../budgets.ts';
import { eventSchema, nodeScope } from '../event-envelope.ts';
import { ContextId } from '../ids.ts';
import { jsonObjectSchema } from '../text.ts';

/** Keys that would reach into an object's machinery; refused by name wherever context comes in. */
export const RESERVED_CONTEXT_KEYS = ['__proto__', 'constructor', 'prototype'] as const;

const contextDeltaSchema = jsonObjectSchema
  .refine((context) => !RESERVED_CONTEXT_KEYS.some((key) => Object.hasOwn(context, key)), {
    error: `must not use the keys ${RESERVED_CONTEXT_KEYS.join(', ')}`,
  })
  .refine((context) => utf8Length(canonicalJson(context).unwrapOr('')) <= CONTEXT_BYTES_MAX, {
    error: `must take at most ${CONTEXT_BYTES_MAX} bytes as canonical JSON`,
  });

/** What changed in the context of a node: keys replace those of its ancestors, null takes a key away. */
export const contextSetSchema = eventSchema(
  'context_set',
  nodeScope,
  z.object({
    contextId: ContextId.schema,
    context: contextDeltaSchema,
    source: z.enum(['initial', 'agent_delta']),
  }),
);
