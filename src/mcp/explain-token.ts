import { unreachable } from '../core/assert.ts';
import type { ErrorEnvelope } from '../core/log/error-envelope.ts';
import type { FormatProblem, ScopeMismatch, TokenRefusal } from '../core/token/token-refusal.ts';

type Words = Pick<ErrorEnvelope, 'code' | 'message' | 'suggestion'>;

const COPY_AGAIN = 'Copy the token from the last reply of that run, whole and unchanged, and send the call again.';

/** The words for a token that is not accepted. */
export function explainToken(refusal: TokenRefusal): Words {
  const { code } = refusal;
  switch (refusal.code) {
    case 'TOKEN_INVALID_FORMAT':
      return { code, message: `This is not a token: ${formatProblem(refusal.problem)}.`, suggestion: COPY_AGAIN };
    case 'TOKEN_UNSUPPORTED_VERSION':
      return {
        code,
        message: `The token has version ${refusal.found}; this program knows ${refusal.supported.join(' and ')}.`,
        suggestion: 'Copy the token again, whole and unchanged. If it is exact, ask the user to update workrail.',
      };
    case 'TOKEN_BAD_SIGNATURE':
      return {
        code,
        message: 'The token was changed on the way, or was made on another machine.',
        suggestion: COPY_AGAIN,
      };
    case 'TOKEN_SCOPE_MISMATCH':
      return { code, ...scopeMismatch(refusal.mismatch) };
    case 'TOKEN_UNKNOWN_NODE':
      return {
        code,
        message: `The token is genuine, but its ${refusal.missing.kind === 'session' ? 'session' : 'step'} is not stored here.`,
        suggestion: 'Use a token of a run that is stored on this machine, or call start_workflow to begin one.',
      };
    case 'TOKEN_WORKFLOW_HASH_MISMATCH':
      return {
        code,
        message: `Run ${refusal.place.tag} (${refusal.place.workflowId}) is pinned to another version of its workflow.`,
        suggestion: 'Tell the user that the stored run is inconsistent, and call start_workflow to begin a new run.',
      };
    case 'TOKEN_SESSION_LOCKED':
      return {
        code,
        message: `Another call is writing to this session${refusal.holder === null ? '' : ` (${refusal.holder})`}.`,
        suggestion: `Send the same call again in ${refusal.afterMs} ms. If this goes on, ask the user which other workrail process is at work.`,
      };
    default:
      return unreachable(refusal);
  }
}

function scopeMismatch(mismatch: ScopeMismatch): Pick<Words, 'message' | 'suggestion'> {
  switch (mismatch.kind) {
    case 'slot':
      return {
        message: `${mismatch.slot} takes the token of kind ${mismatch.expected.join(' or ')}, but got one of kind ${mismatch.found} (run ${mismatch.tag}).`,
        suggestion: 'Send each token in the argument that has its name.',
      };
    case 'session':
      return { message: 'The tokens belong to two different sessions.', suggestion: 'Send the ackToken alone.' };
    case 'run':
      return {
        message: `The token says run ${mismatch.named.tag}, but its step belongs to run ${mismatch.place.tag} (${mismatch.place.workflowId}).`,
        suggestion: COPY_AGAIN,
      };
    case 'pair':
      return {
        message: `ackToken belongs to run ${mismatch.operation.tag} (${mismatch.operation.workflowId}), stateToken to another step of run ${mismatch.state.tag} (${mismatch.state.workflowId}).`,
        suggestion: `To go on with ${mismatch.operation.tag}, send ackToken alone.`,
      };
    default:
      return unreachable(mismatch);
  }
}

function formatProblem(problem: FormatProblem): string {
  switch (problem.kind) {
    case 'empty':
      return 'it is empty';
    case 'too_long':
      return `it has ${problem.found} characters, more than ${problem.lengthMax}`;
    case 'unknown_prefix':
      return `it begins with ${JSON.stringify(problem.found)} and not with st_, ack_ or chk_`;
    case 'wrapped':
      return 'there are quotes or white space around it';
    case 'wrong_length':
      return `it has ${problem.found} characters instead of ${problem.expected}`;
    case 'wrong_parts':
      return `it has ${problem.found} parts instead of ${problem.expected}`;
    case 'foreign_character':
      return `character ${problem.position + 1}, ${JSON.stringify(problem.character)}, cannot occur in a token`;
    case 'wrong_payload':
      return 'its content has the wrong shape';
    case 'prefix_disagrees':
      return `it begins like a token of kind ${problem.prefix} but is one of kind ${problem.inside}`;
    case 'not_canonical':
      return 'it is spelled in a way that no token is';
    default:
      return unreachable(problem);
  }
}
