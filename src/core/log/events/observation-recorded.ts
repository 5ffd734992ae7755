import * as z from 'zod';
import { OBSERVATION_LABEL_BYTES_MAX, OBSERVATION_PATH_BYTES_MAX } from '../budgets.ts';
import { textSchema } from '../field-schemas.ts';
import { plainDigestSchema } from '../ids.ts';
import { eventSchema, noScope } from './event-envelope.ts';

export const OBSERVATION_KEYS = ['git_branch', 'git_head_sha', 'repo_root_hash', 'repo_root'] as const;
export type ObservationKey = (typeof OBSERVATION_KEYS)[number];

const shortString = z.object({ type: z.literal('short_string'), value: textSchema(OBSERVATION_LABEL_BYTES_MAX) });
const gitSha1 = z.object({ type: z.literal('git_sha1'), value: z.string().regex(/^[0-9a-f]{40}$/) });
const sha256 = z.object({ type: z.literal('sha256'), value: plainDigestSchema });
const path = z.object({ type: z.literal('path'), value: textSchema(OBSERVATION_PATH_BYTES_MAX) });

const confidence = z.enum(['low', 'med', 'high']);

/** What was seen, each key with a value of its own type: what is looked up by value must not be written in two ways. */
export const observationSchema = z.discriminatedUnion('key', [
  z.object({ key: z.literal('git_branch'), value: shortString, confidence }),
  // A repository has commits of either length.
  z.object({ key: z.literal('git_head_sha'), value: z.discriminatedUnion('type', [gitSha1, sha256]), confidence }),
  z.object({ key: z.literal('repo_root_hash'), value: sha256, confidence }),
  z.object({ key: z.literal('repo_root'), value: path, confidence }),
]);
export type WorkspaceObservation = z.infer<typeof observationSchema>;
export type ObservationValue = WorkspaceObservation['value'];

/** Where the work takes place, so that a later chat can find it. `repo_root` may be absolute; reports hide it. */
export const observationRecordedSchema = eventSchema('observation_recorded', noScope, observationSchema);
