import { err, type Result } from 'neverthrow';
import * as z from 'zod';
import { autonomySchema, riskPolicySchema } from '../../log/autonomy.ts';
import { contractRefSchema } from '../../log/blockers.ts';
import { jsonObjectSchema, jsonValueSchema, parseDocument, type SchemaRefusal } from '../../log/document-schema.ts';
import { conditionIdSchema, loopIdSchema, stepIdSchema, workflowIdSchema } from '../../log/ids.ts';
import { brokenReference } from './broken-reference.ts';
import { compiledLoopSchema, entrySchema } from './compiled-loop.ts';
import { compiledStepSchema } from './compiled-step.ts';
import { conditionSchema } from './condition-schema.ts';

const VERSION = 1;

const requirementSchema = z.enum(['required', 'preferred', 'disabled']);

/** A contract as it was when the workflow was compiled: a later change of the built-in does not reach into a run. */
const pinnedContractSchema = z.object({
  contractRef: contractRefSchema,
  artifactKind: z.string().min(1),
  schema: jsonObjectSchema,
  example: jsonObjectSchema,
  guidance: z.string().min(1),
});
export type PinnedContract = z.infer<typeof pinnedContractSchema>;

const functionScopeSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('workflow') }),
  z.object({ kind: z.literal('loop'), loopId: loopIdSchema }),
  z.object({ kind: z.literal('step'), stepId: stepIdSchema }),
]);

const functionSchema = z.object({
  name: z.string().min(1),
  definition: z.string().min(1),
  parameters: z.array(
    z.object({
      name: z.string(),
      type: z.string().optional(),
      description: z.string().optional(),
      isOptional: z.boolean().optional(),
      default: jsonValueSchema.optional(),
      choices: z.array(jsonValueSchema).optional(),
    }),
  ),
  scope: functionScopeSchema,
});

const assessmentSchema = z.object({
  id: z.string().min(1),
  purpose: z.string(),
  dimensions: z
    .array(
      z.object({
        id: z.string().min(1),
        purpose: z.string(),
        levels: z.array(z.string().min(1)).min(2),
        isRequired: z.boolean(),
      }),
    )
    .min(1),
});
export type Assessment = z.infer<typeof assessmentSchema>;

/** A document the workflow points at. Where it lies on a machine and what it says are not part of the workflow. */
const referenceSchema = z.object({
  id: z.string().min(1),
  title: z.string().min(1),
  source: z.string().min(1),
  purpose: z.string(),
  isAuthoritative: z.boolean(),
  resolveFrom: z.enum(['workspace', 'package']),
});

/** Something an author should know; shown again to anyone who inspects the workflow. */
const COMPILED_WARNING_CODES = ['legacy_id', 'context_loop', 'schema_rule_not_enforced'] as const;

/**
 * Something that the author of the file did not write: a declaration from a template or feature, or a text that the
 * project's bindings put into an extension point.
 */
const originSchema = z.object({
  pointer: z.string().min(1),
  /** The id of the template, feature or extension point. */
  originId: z.string().min(1),
  source: z.literal('project_binding').optional(),
  /** What the project wrote. */
  text: z.string().optional(),
});

/** What a run is pinned to: everything needed to render and run it, and nothing of where it came from. */
export const compiledWorkflowSchema = z.object({
  schemaVersion: z.literal(VERSION),
  workflowId: workflowIdSchema,
  name: z.string().min(1),
  description: z.string().min(1),
  agentRole: z.string().optional(),
  capabilities: z.object({ delegation: requirementSchema.optional(), web_browsing: requirementSchema.optional() }),
  features: z.array(z.object({ featureId: z.string().min(1), config: jsonObjectSchema.optional() })),
  recommended: z.object({ autonomy: autonomySchema.optional(), riskPolicy: riskPolicySchema.optional() }),
  preconditions: z.array(z.string()),
  clarificationPrompts: z.array(z.string()),
  metaGuidance: z.array(z.string()),
  /** Of a routine that is started directly: the values that its first step asks for. */
  arguments: z
    .array(z.object({ name: z.string().min(1), description: z.string().min(1), isRequired: z.boolean() }))
    .optional(),
  references: z.array(referenceSchema),
  assessments: z.array(assessmentSchema),
  functions: z.array(functionSchema),
  contracts: z.array(pinnedContractSchema),
  conditions: z.array(z.object({ conditionId: conditionIdSchema, condition: conditionSchema })),
  /** The order of the top level; steps inside of loops are named by their loop. Only a built-in may have none. */
  entries: z.array(entrySchema),
  loops: z.array(compiledLoopSchema),
  /** Every step there is, in the order in which the entries lead to them. */
  steps: z.array(compiledStepSchema),
  /** By JSON pointers into this document. Steps have their own provenance. */
  origins: z.array(originSchema).optional(),
  /** By the id of the workflow, loop or step that each is about. */
  compiledWarnings: z.array(z.object({ code: z.enum(COMPILED_WARNING_CODES), subject: z.string() })),
});
export type CompiledWorkflow = z.infer<typeof compiledWorkflowSchema>;

export type CompiledWorkflowRefusal = { readonly code: 'unknown_version'; readonly version: unknown } | SchemaRefusal;

const envelopeSchema = z.object({ schemaVersion: z.unknown() });

export function parseCompiledWorkflow(value: unknown): Result<CompiledWorkflow, CompiledWorkflowRefusal> {
  const outer = parseDocument(envelopeSchema, value);
  if (outer.isErr()) return err(outer.error);
  const version = outer.value.schemaVersion;
  if (version !== VERSION) return err({ code: 'unknown_version', version });
  const workflow = parseDocument(compiledWorkflowSchema, value);
  if (workflow.isErr()) return err(workflow.error);
  const path = brokenReference(workflow.value);
  return path === undefined ? workflow : err({ code: 'wrong_shape', path, message: 'names what is not there' });
}
