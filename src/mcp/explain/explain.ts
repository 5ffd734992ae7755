import type { InvalidFile } from '../../app/catalog/catalog.ts';
import type { ResumeRefusal } from '../../app/resume/resume-session.ts';
import type { AdvanceRefusal } from '../../app/run/advance.ts';
import type { CheckpointRefusal } from '../../app/run/checkpoint.ts';
import type { RehydrateRefusal } from '../../app/run/rehydrate.ts';
import type { StartSessionRefusal } from '../../app/run/start-session.ts';
import type { StartRefusal } from '../../app/run/start-workflow.ts';
import { unreachable } from '../../core/assert.ts';
import { quote } from '../../core/json/json-value.ts';
import type { Call, ErrorEnvelope } from '../../core/log/error-envelope.ts';
import { explainWorkspace } from '../../core/prompt/reply-warnings.ts';
import { nearest, nearestId } from '../../core/text/spelling.ts';
import { andList } from '../../core/text/words.ts';
import type { ArgumentRefusal } from '../arguments/read-arguments.ts';
import {
  callToList,
  callToSave,
  callWithFittingToken,
  type Explained,
  fittedCall,
  NOT_RETRYABLE,
} from './corrected-call.ts';
import { explainArguments } from './explain-arguments.ts';
import { explainInput, type InputRefusal } from './explain-input.ts';
import { explainSession, explainStore } from './explain-store.ts';
import { explainToken } from './explain-token.ts';
import type { Situation } from './situation.ts';

type WorkflowRefusal = Extract<StartRefusal, { code: 'workflow_not_found' | 'workflow_invalid' }>;

/** How many problems fit in one error. */
const PROBLEMS_SHOWN_MAX = 5;

const OF_PROJECT = "If it belongs to a project, send the project's absolute path as workspacePath.";

/** The words for a workflow that cannot be started. */
function explainWorkflow(refusal: WorkflowRefusal, situation: Situation): Explained {
  switch (refusal.code) {
    case 'workflow_not_found': {
      const { workflowId, known, workspaceProblem } = refusal;
      const workspace = workspaceProblem === undefined ? '' : ` ${explainWorkspace(workspaceProblem)}`;
      const fix = workspaceProblem === undefined ? '' : 'Fix workspacePath and send the call again. ';
      const near = nearestId(workflowId, known);
      const ofProject = situation.sent['workspacePath'] === undefined ? ` ${OF_PROJECT}` : '';
      return {
        code: 'WORKFLOW_NOT_FOUND',
        message: `Unknown workflow ${quote(workflowId)}.${workspace}`,
        suggestion: `${fix}${near === undefined ? `Choose one of: ${known.join(', ')}.` : `Did you mean ${quote(near)}?`}${ofProject}`,
        retry: NOT_RETRYABLE,
        call: near === undefined ? callToList(situation) : callWithId(situation, near),
      };
    }
    case 'workflow_invalid':
      return {
        code: 'WORKFLOW_INVALID',
        message: `The file of workflow "${refusal.workflowId}" is invalid: ${refusal.invalid.file.ref}. ${problems(refusal.invalid)}`,
        suggestion: 'Fix the file and send the call again, or choose another workflow from the list.',
        retry: NOT_RETRYABLE,
        call: callToList(situation),
      };
    default:
      return unreachable(refusal);
  }
}

function callWithId({ tool, sent }: Situation, workflowId: string): Call {
  return { tool, arguments: { ...sent, workflowId } };
}

/** The first errors; more than that nobody fixes at once. */
function problems({ diagnostics }: InvalidFile): string {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const shown = errors.slice(0, PROBLEMS_SHOWN_MAX);
  const more = errors.length - shown.length;
  const words = shown.map(({ line, column, message }) => `Line ${line}, column ${column}: ${message}`);
  return [...words, ...(more > 0 ? [`And ${more} more; list_workflows shows them.`] : [])].join(' ');
}

/** The words for a refusal, with what to do next and, if a call would fix it, that call. */
export function explain(refusal: Refusal, situation: Situation): ErrorEnvelope {
  const { call, ...words } = explained(refusal, situation);
  const isPassing = words.retry.kind !== 'not_retryable';
  const next = call ?? (isPassing ? { tool: situation.tool, arguments: situation.sent } : undefined);
  const fitted = next === undefined ? undefined : fittedCall(next);
  const { repeat = [] } = fitted ?? {};
  const [run] = situation.tokens;
  const details = {
    ...words.details,
    ...(run === undefined ? {} : { run: { tag: run.tag, workflowId: run.workflowId } }),
    ...(repeat.length === 0 ? {} : { repeat }),
  };
  return {
    ...words,
    suggestion: repeat.length === 0 ? words.suggestion : `${words.suggestion} ${repeatWords(repeat)}`,
    ...(Object.keys(details).length === 0 ? {} : { details }),
    ...(fitted === undefined ? {} : { nextCall: fitted.call }),
  };
}

function repeatWords(fields: readonly string[]): string {
  return `Add ${andList(fields)} again; it is too long to repeat here.`;
}

function configBroken(problem: string): Explained {
  return {
    code: 'VALIDATION_ERROR',
    message: `A WorkRail setting is invalid, so no run was started. ${problem}`,
    suggestion: 'Ask the user to fix it, then send the same call again. A call with mode works without it.',
    retry: NOT_RETRYABLE,
  };
}

function explained(refusal: Refusal, situation: Situation): Explained {
  switch (refusal.code) {
    case 'arguments_wrong':
      return explainArguments(refusal, situation);
    case 'tool_unknown':
      return toolUnknown(refusal.tools, situation);
    case 'token_missing':
      return tokenMissing(situation);
    case 'payload_without_ack':
      return payloadWithoutAck(situation);
    case 'nothing_to_keep':
      return {
        code: 'VALIDATION_ERROR',
        message: `There is nothing to save in run ${refusal.tag} (${refusal.workflowId}).`,
        suggestion: 'Send the call again with your notes so far in `output.notesMarkdown`.',
        retry: NOT_RETRYABLE,
        call: callToSave(situation),
      };
    case 'attempts_used_up':
      return attemptsUsedUp(refusal.attemptsMax);
    case 'config_broken':
      return configBroken(refusal.problem);
    case 'our_fault':
      return {
        code: 'INTERNAL',
        message: 'Internal error in WorkRail. What was recorded before is safe.',
        suggestion:
          'Send the same call again. If it fails again, ask the user to report it with the output of the server log.',
        retry: { kind: 'retryable_immediate' },
      };
    case 'session_locked':
    case 'session_not_found':
    case 'keys_missing':
      return explainSession(refusal, situation);
    case 'TOKEN_INVALID_FORMAT':
    case 'TOKEN_UNSUPPORTED_VERSION':
    case 'TOKEN_BAD_SIGNATURE':
    case 'TOKEN_SCOPE_MISMATCH':
    case 'TOKEN_UNKNOWN_NODE':
    case 'TOKEN_WORKFLOW_HASH_MISMATCH':
    case 'TOKEN_SESSION_LOCKED':
      return explainToken(refusal, situation);
    case 'workflow_not_found':
    case 'workflow_invalid':
      return explainWorkflow(refusal, situation);
    case 'context_not_object':
    case 'context_reserved_key':
    case 'context_too_deep':
    case 'context_too_large':
    case 'not_json':
    case 'too_many_artifacts':
    case 'artifact_too_large':
    case 'goal_too_large':
      return explainInput(refusal, situation);
    case 'io_failed':
    case 'busy':
    case 'lock_lost':
    case 'unsafe_permissions':
    case 'damaged':
    case 'unknown_version':
      return explainStore(refusal);
    default:
      return unreachable(refusal);
  }
}

function attemptsUsedUp(attemptsMax: number): Explained {
  return {
    code: 'VALIDATION_ERROR',
    message: `This step was tried ${attemptsMax} times, the maximum for a step.`,
    suggestion: 'Continue from its last blocked attempt or from an earlier step, or call start_workflow.',
    retry: NOT_RETRYABLE,
  };
}

function toolUnknown(tools: readonly string[], { tool, sent }: Situation): Explained {
  const near = nearest(tool, tools) ?? onlyOneAbout(tool, tools);
  return {
    code: 'VALIDATION_ERROR',
    message: `Unknown tool ${quote(tool)}.`,
    suggestion: near === undefined ? `Call one of: ${tools.join(', ')}.` : `Did you mean ${near}?`,
    retry: NOT_RETRYABLE,
    call: near === undefined ? undefined : { tool: near, arguments: sent },
  };
}

/** Clients prefix a tool with the name of the server, and agents shorten it. */
function onlyOneAbout(name: string, tools: readonly string[]): string | undefined {
  const [found, ...more] = tools.filter((tool) => name.includes(tool) || (name !== '' && tool.startsWith(name)));
  return more.length === 0 ? found : undefined;
}

const TOKEN_WANTED =
  'Send the ackToken of the step you did, or the stateToken of a step to see it again, from the last reply. If you have neither, call resume_session.';

function tokenMissing(situation: Situation): Explained {
  const { recent, tool } = situation;
  const runs = recent.map(({ tag, workflowId }) => `run ${tag} (${workflowId})`);
  const call = callWithFittingToken(situation);
  return {
    code: 'VALIDATION_ERROR',
    message: `${tool} was called without a token.${runs.length === 0 ? '' : ` This server returned steps for ${runs.join(', ')}.`}`,
    suggestion: call === undefined ? TOKEN_WANTED : 'If this is the run you mean, send the corrected call.',
    retry: NOT_RETRYABLE,
    ...(recent.length === 0 ? {} : { details: { runs: recent } }),
    call,
  };
}

function payloadWithoutAck(situation: Situation): Explained {
  const [token] = situation.tokens;
  const words = { code: 'VALIDATION_ERROR', retry: NOT_RETRYABLE, call: callWithFittingToken(situation) } as const;
  if (token !== undefined && token.ackToken === undefined) {
    return {
      ...words,
      message: `Run ${token.tag} (${token.workflowId}) is complete, so there is no step to report.`,
      suggestion: 'Tell the user that it is done. The call below shows how it ended; start_workflow starts a new run.',
    };
  }
  return {
    ...words,
    message: 'A stateToken only shows its step again, so nothing you sent with it was recorded.',
    suggestion: 'Send the corrected call, which has the ackToken of that step. Nothing is lost.',
  };
}

/** Everything a call may be refused for. */
export type Refusal =
  | StartRefusal
  | AdvanceRefusal
  | RehydrateRefusal
  | CheckpointRefusal
  | ResumeRefusal
  | StartSessionRefusal
  | InputRefusal
  | ArgumentRefusal
  | { readonly code: 'tool_unknown'; readonly tools: readonly string[] }
  | { readonly code: 'token_missing' }
  /** Something to record came with a token that only shows. */
  | { readonly code: 'payload_without_ack' }
  /** A fault of our own. What it was stands in the log, not in the reply. */
  | { readonly code: 'our_fault' };
