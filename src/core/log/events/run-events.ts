import * as z from 'zod';
import { autonomySchema, preferencesSchema, riskPolicySchema } from '../autonomy.ts';
import {
  APPROVERS_MAX,
  OBSERVATION_LABEL_BYTES_MAX,
  OBSERVATION_PATH_BYTES_MAX,
  WORKFLOW_SOURCE_REF_BYTES_MAX,
} from '../budgets.ts';
import { nonBlankSchema, textSchema } from '../document-schema.ts';
import {
  fingerprintSchema,
  PreferenceChangeId,
  plainDigestSchema,
  RunId,
  workflowHashSchema,
  workflowIdSchema,
} from '../ids.ts';
import { eventSchema, nodeScope, noScope, runScope } from './event-envelope.ts';

/** Marks that a session exists. Everything else about it is derived from other events. */
export const sessionCreatedSchema = eventSchema('session_created', noScope, z.object({}));

/** The kind of source of a workflow. A git source is `remote`. */
export const WORKFLOW_SOURCE_KINDS = ['bundled', 'user', 'project', 'remote', 'plugin'] as const;
export type WorkflowSourceKind = (typeof WORKFLOW_SOURCE_KINDS)[number];

/** Starts a run and pins its workflow: the run uses the pinned hash, not what the source contains today. */
export const runStartedSchema = eventSchema(
  'run_started',
  runScope,
  z.object({
    workflowId: workflowIdSchema,
    workflowHash: workflowHashSchema,
    workflowSourceKind: z.enum(WORKFLOW_SOURCE_KINDS),
    workflowSourceRef: nonBlankSchema(WORKFLOW_SOURCE_REF_BYTES_MAX),
    /** The commit of a git source. */
    workflowSourceCommit: z
      .string()
      .regex(/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/)
      .optional(),
    /** Digest of the source file, to see later whether the source has changed. */
    sourceHash: plainDigestSchema.optional(),
    /** The keys whose signatures counted when the run started, if it may need any. A later key opens no gate of this run. */
    approvers: z.array(fingerprintSchema).max(APPROVERS_MAX).optional(),
  }),
);

export const OBSERVATION_KEYS = ['git_branch', 'git_head_sha', 'repo_root_hash', 'repo_root', 'repo_remote'] as const;
export type ObservationKey = (typeof OBSERVATION_KEYS)[number];

const shortString = z.object({ type: z.literal('short_string'), value: textSchema(OBSERVATION_LABEL_BYTES_MAX) });
const gitSha1 = z.object({ type: z.literal('git_sha1'), value: z.string().regex(/^[0-9a-f]{40}$/) });
const sha256 = z.object({ type: z.literal('sha256'), value: plainDigestSchema });
const path = z.object({ type: z.literal('path'), value: textSchema(OBSERVATION_PATH_BYTES_MAX) });

const confidence = z.enum(['low', 'med', 'high']);

/** An observation. Each key has one type of value, because a value that is searched for must have one spelling. */
export const observationSchema = z.discriminatedUnion('key', [
  z.object({ key: z.literal('git_branch'), value: shortString, confidence }),
  // A commit may have either length.
  z.object({ key: z.literal('git_head_sha'), value: z.discriminatedUnion('type', [gitSha1, sha256]), confidence }),
  z.object({ key: z.literal('repo_root_hash'), value: sha256, confidence }),
  // With a run, the folder in which that run was started, where it is not the workspace of the session.
  z.object({ key: z.literal('repo_root'), value: path, confidence, ofRun: RunId.schema.optional() }),
  // Where the repository was cloned from, as HOST/OWNER/NAME: the same on every machine.
  z.object({ key: z.literal('repo_remote'), value: path, confidence }),
]);
export type ObservationData = z.infer<typeof observationSchema>;
export type ObservationValue = ObservationData['value'];

/** The workspace of the run, so that a later chat can find the run. Reports hide `repo_root`. */
export const observationRecordedSchema = eventSchema('observation_recorded', noScope, observationSchema);

const preferenceDeltaSchema = z.discriminatedUnion('key', [
  z.object({ key: z.literal('autonomy'), value: autonomySchema }),
  z.object({ key: z.literal('riskPolicy'), value: riskPolicySchema }),
]);

/** The preferences exceed what the workflow recommends. This warns and never blocks. */
const preferenceWarningSchema = z.object({
  code: z.enum(['exceeds_recommended_autonomy', 'exceeds_recommended_risk_policy']),
  recommended: z.string().min(1),
  effective: z.string().min(1),
});

/** Who set preferences. A mode in a tool call is the agent's; an older `user` without `by` counts as the agent's too. */
const PREFERENCE_SOURCES = ['user', 'workflow_recommendation', 'system', 'agent', 'policy', 'environment'] as const;

/** A change of preferences at a node, and the preferences after it. */
export const preferencesChangedSchema = eventSchema(
  'preferences_changed',
  nodeScope,
  z
    .looseObject({
      changeId: PreferenceChangeId.schema,
      source: z.enum(PREFERENCE_SOURCES),
      delta: z
        .array(preferenceDeltaSchema)
        .min(1)
        .refine((delta) => new Set(delta.map(({ key }) => key)).size === delta.length, {
          error: 'a key may change only once',
        }),
      effective: preferencesSchema,
      warnings: z.array(preferenceWarningSchema).optional(),
    })
    .refine(({ delta, effective }) => delta.every(({ key, value }) => effective[key] === value), {
      error: 'the effective preferences must contain the delta',
    }),
);
