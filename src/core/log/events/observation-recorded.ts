import * as z from 'zod';
import { OBSERVATION_LABEL_BYTES_MAX, OBSERVATION_PATH_BYTES_MAX } from '../budgets.ts';
import { eventSchema, noScope } from '../event-envelope.ts';
import { plainDigestSchema } from '../ids.ts';
import { textSchema } from '../text.ts';

export const OBSERVATION_KEYS = ['git_branch', 'git_head_sha', 'repo_root_hash', 'repo_root'] as const;
export type ObservationKey = (typeof OBSERVATION_KEYS)[number];

export const observationValueSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('short_string'), value: textSchema(OBSERVATION_LABEL_BYTES_MAX) }),
  z.object({ type: z.literal('git_sha1'), value: z.string().regex(/^[0-9a-f]{40}$/) }),
  z.object({ type: z.literal('sha256'), value: plainDigestSchema }),
  z.object({ type: z.literal('path'), value: textSchema(OBSERVATION_PATH_BYTES_MAX) }),
]);
export type ObservationValue = z.infer<typeof observationValueSchema>;

/** Where the work takes place, so that a later chat can find it. `repo_root` may be absolute; reports hide it. */
export const observationRecordedSchema = eventSchema(
  'observation_recorded',
  noScope,
  z.object({
    key: z.enum(OBSERVATION_KEYS),
    value: observationValueSchema,
    confidence: z.enum(['low', 'med', 'high']),
  }),
);
