import { type CanonicalBytes, ownJsonBytes, type Sha256 } from '../../json/canonical-json.ts';
import type { WorkflowHash } from '../../log/ids.ts';
import type { CompiledWorkflow } from './compiled-workflow.ts';

export const COMPILED_WORKFLOW_VERSION: CompiledWorkflow['schemaVersion'] = 1;

/** The workflow's bytes and its name, which is their hash. */
export function sealWorkflow(
  workflow: CompiledWorkflow,
  sha256: Sha256,
): { readonly hash: WorkflowHash; readonly bytes: CanonicalBytes } {
  const bytes = ownJsonBytes(workflow);
  return { hash: sha256(bytes) as string as WorkflowHash, bytes };
}
