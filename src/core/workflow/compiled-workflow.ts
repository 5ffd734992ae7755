import { err, type Result } from 'neverthrow';
import * as z from 'zod';
import { assert } from '../assert.ts';
import { type CanonicalBytes, canonicalBytes, type Sha256 } from '../json/canonical-bytes.ts';
import { stepIdSchema, type WorkflowHash, workflowIdSchema } from '../log/ids.ts';
import { parseDocument, type SchemaRefusal } from '../log/schema-refusal.ts';

export const COMPILED_WORKFLOW_VERSION = 1;

const compiledStepSchema = z.object({
  stepId: stepIdSchema,
  title: z.string().min(1),
  prompt: z.string().min(1),
  requireConfirmation: z.boolean(),
  provenance: z.object({ source: z.literal('authored') }),
});
export type CompiledStep = z.infer<typeof compiledStepSchema>;

/** What a run is pinned to: everything needed to render and run it, and nothing of where it came from. */
export const compiledWorkflowSchema = z.object({
  schemaVersion: z.literal(COMPILED_WORKFLOW_VERSION),
  workflowId: workflowIdSchema,
  name: z.string().min(1),
  description: z.string().min(1),
  steps: z.array(compiledStepSchema).min(1),
});
export type CompiledWorkflow = z.infer<typeof compiledWorkflowSchema>;

export type CompiledWorkflowRefusal = { readonly code: 'unknown_version'; readonly version: unknown } | SchemaRefusal;

export function parseCompiledWorkflow(value: unknown): Result<CompiledWorkflow, CompiledWorkflowRefusal> {
  const outer = parseDocument(z.object({ schemaVersion: z.unknown() }), value);
  if (outer.isErr()) return err(outer.error);
  const version = outer.value.schemaVersion;
  if (version !== COMPILED_WORKFLOW_VERSION) return err({ code: 'unknown_version', version });
  return parseDocument(compiledWorkflowSchema, value);
}

/** The workflow's bytes and its name, which is their hash. */
export function sealWorkflow(
  workflow: CompiledWorkflow,
  sha256: Sha256,
): { readonly hash: WorkflowHash; readonly bytes: CanonicalBytes } {
  const bytes = canonicalBytes(workflow);
  assert(bytes.isOk(), 'a compiled workflow is JSON');
  return { hash: sha256(bytes.value) as string as WorkflowHash, bytes: bytes.value };
}
