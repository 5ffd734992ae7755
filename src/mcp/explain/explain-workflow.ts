import type { InvalidFile } from '../../app/catalog/catalog.ts';
import type { StartRefusal } from '../../app/run/start-workflow.ts';
import { unreachable } from '../../core/assert.ts';
import { quote } from '../../core/json/quote.ts';
import { explainWorkspace } from '../../core/prompt/workspace-problem.ts';
import { nearestId } from '../../core/text/spelling.ts';
import { callToList, type NextCall } from './corrected-call.ts';
import { type Explained, NOT_RETRYABLE } from './explained.ts';
import type { Situation } from './situation.ts';

type WorkflowRefusal = Extract<StartRefusal, { code: 'workflow_not_found' | 'workflow_invalid' }>;

/** Room for a sentence each in one error. */
const PROBLEMS_SHOWN_MAX = 5;

const OF_PROJECT = "If it belongs to a project, send that project's absolute path as workspacePath.";

/** The words for a workflow that cannot be started. */
export function explainWorkflow(refusal: WorkflowRefusal, situation: Situation): Explained {
  switch (refusal.code) {
    case 'workflow_not_found': {
      const { workflowId, known, workspaceProblem } = refusal;
      const workspace = workspaceProblem === undefined ? '' : ` ${explainWorkspace(workspaceProblem)}`;
      const mend =
        workspaceProblem === undefined ? '' : 'Mend workspacePath and send the call again, or take another workflow. ';
      const near = nearestId(workflowId, known);
      const ofProject = situation.sent['workspacePath'] === undefined ? ` ${OF_PROJECT}` : '';
      return {
        code: 'WORKFLOW_NOT_FOUND',
        message: `There is no workflow ${quote(workflowId)}.${workspace}`,
        suggestion: `${mend}${near === undefined ? `Pick one of: ${known.join(', ')}.` : `Did you mean ${quote(near)}?`}${ofProject}`,
        retry: NOT_RETRYABLE,
        call: near === undefined ? callToList(situation) : callWithId(situation, near),
      };
    }
    case 'workflow_invalid':
      return {
        code: 'WORKFLOW_INVALID',
        message: `The file of workflow "${refusal.workflowId}" is broken: ${refusal.invalid.file.ref}. ${problems(refusal.invalid)}`,
        suggestion: 'Mend the file and send the call again, or pick another workflow from the list.',
        retry: NOT_RETRYABLE,
        call: callToList(situation),
      };
    default:
      return unreachable(refusal);
  }
}

function callWithId({ tool, sent }: Situation, workflowId: string): NextCall {
  return { tool, arguments: { ...sent, workflowId } };
}

/** Errors before warnings, and no more of either than anyone mends at once. */
function problems({ diagnostics }: InvalidFile): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const shown = errors.slice(0, PROBLEMS_SHOWN_MAX);
  const more = errors.length - shown.length;
  const words = shown.map(({ line, column, message }) => `Line ${line}, column ${column}: ${message}`);
  return [...words, ...(more > 0 ? [`And ${more} more; list_workflows shows them.`] : [])].join(' ');
}
