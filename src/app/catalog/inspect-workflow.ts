import { err, ok, type Result } from 'neverthrow';
import { unreachable } from '../../core/assert.ts';
import { defined } from '../../core/json/json-value.ts';
import type { WorkflowHash } from '../../core/log/ids.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import type { StartRefusal } from '../run/start-workflow.ts';
import type { Services } from '../services.ts';
import type { ListedWorkflow } from './catalog.ts';

/** A workflow with the hash that a run started now would pin. */
export type InspectedWorkflow = { readonly listed: ListedWorkflow; readonly hash: WorkflowHash };

export type InspectRefusal = Extract<StartRefusal, { readonly code: 'workflow_not_found' | 'workflow_invalid' }>;

/** Returns a workflow without starting it. Nothing is pinned or written. */
export async function inspectWorkflow(
  services: Pick<Services, 'catalog' | 'hasher'>,
  request: { readonly workflowId: string; readonly workspacePath?: string | undefined },
): Promise<Result<InspectedWorkflow, InspectRefusal>> {
  const { workflowId } = request;
  const { found, workspaceProblem } = await services.catalog.find(workflowId, request.workspacePath);
  switch (found.kind) {
    case 'found': {
      const { listed } = found;
      return ok({ listed, hash: listed.stored?.hash ?? sealWorkflow(listed.workflow, services.hasher.sha256).hash });
    }
    case 'invalid':
      return err({ code: 'workflow_invalid', workflowId, invalid: found.invalid });
    case 'unknown': {
      const { kind, ...facts } = found;
      return err({ code: 'workflow_not_found', workflowId, ...facts, ...defined({ workspaceProblem }) });
    }
    default:
      return unreachable(found);
  }
}
