import * as z from 'zod';
import { canonicalLength } from '../../json/canonical-json.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import {
  ARTIFACT_BYTES_MAX,
  CONTENT_TYPE_LENGTH_MAX,
  CONTEXT_BYTES_MAX,
  CONTEXT_DEPTH_MAX,
  NOTE_BYTES_MAX,
} from '../budgets.ts';
import { jsonObjectSchema, textSchema } from '../document-schema.ts';
import { artifactDigestSchema, ContextId, OutputId } from '../ids.ts';
import { eventSchema, nodeScope } from './event-envelope.ts';

export const OUTPUT_CHANNELS = ['recap', 'artifact'] as const;
export type OutputChannel = (typeof OUTPUT_CHANNELS)[number];

const notesPayloadSchema = z.object({
  payloadKind: z.literal('notes'),
  notesMarkdown: textSchema(NOTE_BYTES_MAX),
});

/** A media type, with optional parameters; lower case, so that equal types are equal texts. */
const contentTypeSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(?:;[a-z0-9-]+=[a-z0-9_.+-]+)*$/)
  .max(CONTENT_TYPE_LENGTH_MAX);

/** The bytes of an artifact are in the artifact store; the event only names them. */
const artifactPayloadSchema = z.object({
  payloadKind: z.literal('artifact_ref'),
  sha256: artifactDigestSchema,
  contentType: contentTypeSchema,
  byteLength: z.int().min(0).max(ARTIFACT_BYTES_MAX),
});

/** What an agent sent. It is never edited: a correction is another output that supersedes it. */
export const nodeOutputAppendedSchema = eventSchema(
  'node_output_appended',
  nodeScope,
  z.discriminatedUnion('outputChannel', [
    z.object({
      outputId: OutputId.schema,
      supersedesOutputId: OutputId.schema.optional(),
      outputChannel: z.literal('recap'),
      payload: notesPayloadSchema,
    }),
    z.object({
      outputId: OutputId.schema,
      supersedesOutputId: OutputId.schema.optional(),
      outputChannel: z.literal('artifact'),
      payload: artifactPayloadSchema,
    }),
  ]),
);

/** Keys that would change the prototype of an object. They are refused in context at any depth. */
const RESERVED_KEYS = ['__proto__', 'constructor', 'prototype'] as const;

const contextDeltaSchema = jsonObjectSchema
  .refine((context) => Object.keys(context).length > 0, { error: 'must change something' })
  .refine((context) => reservedKeyIn(context) === undefined, {
    error: `must not use the keys ${RESERVED_KEYS.join(', ')}`,
  })
  .refine((context) => contextDepth(context) <= CONTEXT_DEPTH_MAX, {
    error: `must be at most ${CONTEXT_DEPTH_MAX} deep`,
  })
  .refine((context) => canonicalLength(context) <= CONTEXT_BYTES_MAX, {
    error: `must take at most ${CONTEXT_BYTES_MAX} bytes as canonical JSON`,
  });

/** What changed in the context of a node: keys override those of its ancestors, null removes a key. */
export const contextSetSchema = eventSchema(
  'context_set',
  nodeScope,
  z
    .object({
      contextId: ContextId.schema,
      context: contextDeltaSchema,
      /** `person`: answered on a channel that the agent's arguments cannot reach. */
      source: z.enum(['initial', 'agent_delta', 'person']),
    })
    .refine(({ source, context }) => source !== 'initial' || Object.values(context).every((it) => it !== null), {
      path: ['context'],
      error: 'the initial context cannot remove a key',
    }),
);

/** The first reserved key of a context, at any depth. */
export function reservedKeyIn(context: JsonObject): string | undefined {
  for (const object of objectsIn(context)) {
    const reserved = RESERVED_KEYS.find((key) => Object.hasOwn(object, key));
    if (reserved !== undefined) return reserved;
  }
  return undefined;
}

/** The nesting depth of a context. This terminates, because the context was already checked to be JSON. */
export function contextDepth(value: JsonValue): number {
  if (typeof value !== 'object' || value === null) return 0;
  return 1 + Object.values(value).reduce<number>((deepest, item) => Math.max(deepest, contextDepth(item)), 0);
}

function objectsIn(value: JsonValue): readonly object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(objectsIn)];
}
