import * as z from 'zod';
import { WORKFLOW_SOURCE_REF_BYTES_MAX } from '../budgets.ts';
import { nonBlankSchema } from '../field-schemas.ts';
import { plainDigestSchema, workflowHashSchema, workflowIdSchema } from '../ids.ts';
import { eventSchema, runScope } from './event-envelope.ts';

/** Where a workflow came from. A git source is `remote`. */
export const WORKFLOW_SOURCE_KINDS = ['bundled', 'user', 'project', 'remote', 'plugin'] as const;
export type WorkflowSourceKind = (typeof WORKFLOW_SOURCE_KINDS)[number];

/** Opens a run and pins what it executes: the hash decides, never what the source holds today. */
export const runStartedSchema = eventSchema(
  'run_started',
  runScope,
  z.object({
    workflowId: workflowIdSchema,
    workflowHash: workflowHashSchema,
    workflowSourceKind: z.enum(WORKFLOW_SOURCE_KINDS),
    workflowSourceRef: nonBlankSchema(WORKFLOW_SOURCE_REF_BYTES_MAX),
    /** Digest of the source file; a later comparison tells whether the source has changed. */
    sourceHash: plainDigestSchema.optional(),
  }),
);
