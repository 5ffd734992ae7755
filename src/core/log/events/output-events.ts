import * as z from 'zod';
import { ARTIFACT_BYTES_MAX, CONTENT_TYPE_LENGTH_MAX, NOTE_BYTES_MAX } from '../budgets.ts';
import { textSchema } from '../field-schemas.ts';
import { artifactDigestSchema, OutputId } from '../ids.ts';
import { eventSchema, nodeScope } from './event-envelope.ts';

export const OUTPUT_CHANNELS = ['recap', 'artifact'] as const;
export type OutputChannel = (typeof OUTPUT_CHANNELS)[number];

const notesPayloadSchema = z.object({
  payloadKind: z.literal('notes'),
  notesMarkdown: textSchema(NOTE_BYTES_MAX),
});

/** A media type as it is usually written, with parameters if need be; lower case, so that equal types are equal texts. */
const contentTypeSchema = z
  .string()
  .regex(/^[a-z0-9][a-z0-9!#$&^_.+-]*\/[a-z0-9][a-z0-9!#$&^_.+-]*(?:;[a-z0-9-]+=[a-z0-9_.+-]+)*$/)
  .max(CONTENT_TYPE_LENGTH_MAX);

/** The bytes of an artifact lie in the artifact store; the event only names them. */
const artifactPayloadSchema = z.object({
  payloadKind: z.literal('artifact_ref'),
  sha256: artifactDigestSchema,
  contentType: contentTypeSchema,
  byteLength: z.int().min(0).max(ARTIFACT_BYTES_MAX),
});

/** What an agent handed in. Never edited: a correction is a further output that supersedes. */
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
