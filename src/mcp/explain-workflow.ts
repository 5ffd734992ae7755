import type { InvalidFile } from '../app/catalog/catalog.ts';
import type { StartRefusal } from '../app/start-workflow.ts';
import { unreachable } from '../core/assert.ts';
import type { ErrorEnvelope, Retry } from '../core/log/error-envelope.ts';

type WorkflowRefusal = Extract<
  StartRefusal,
  { code: 'workflow_not_found' | 'workflow_invalid' | 'workflow_unsupported' }
>;

const NOT_RETRYABLE: Retry = { kind: 'not_retryable' };

/** The words for a workflow that cannot be started. */
export function explainWorkflow(refusal: WorkflowRefusal): ErrorEnvelope {
  switch (refusal.code) {
    case 'workflow_not_found':
      return {
        code: 'WORKFLOW_NOT_FOUND',
        message: `There is no workflow "${refusal.workflowId}".`,
        suggestion: `Call start_workflow with one of: ${refusal.known.join(', ')}.`,
        retry: NOT_RETRYABLE,
      };
    case 'workflow_unsupported':
      return {
        code: 'WORKFLOW_INVALID',
        message: `The workflow "${refusal.workflowId}" uses what this version cannot run yet: ${refusal.parts.join(', ')}.`,
        suggestion: 'Start another workflow from list_workflows.',
        retry: NOT_RETRYABLE,
      };
    case 'workflow_invalid':
      return {
        code: 'WORKFLOW_INVALID',
        message: `The file of workflow "${refusal.workflowId}" cannot be used. ${problems(refusal.invalid)}`,
        suggestion: 'Mend the file and start the workflow again, or start another one.',
        retry: NOT_RETRYABLE,
      };
    default:
      return unreachable(refusal);
  }
}

function problems({ diagnostics }: InvalidFile): string {
  return diagnostics.map(({ line, column, message }) => `Line ${line}, column ${column}: ${message}`).join(' ');
}
