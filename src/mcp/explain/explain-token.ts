import { unreachable } from '../../core/assert.ts';
import type { JsonObject } from '../../core/json/json-value.ts';
import { andList, orList } from '../../core/text/words.ts';
import { TOKEN_SLOTS } from '../../core/token/token.ts';
import {
  type FormatProblem,
  retryOfTokenRefusal,
  type ScopeMismatch,
  type TokenRefusal,
} from '../../core/token/token-refusal.ts';
import { callToResume, callWithFittingToken, type Explained } from './corrected-call.ts';
import type { KnownToken, Situation } from './situation.ts';

type Words = Pick<Explained, 'message' | 'suggestion' | 'nextIntent' | 'details' | 'call'>;
type Advice = Omit<Words, 'message'>;

const COPY_AGAIN =
  'Copy the token from the last reply of that run, whole and unchanged, and send the call again. If you do not have it, call resume_session.';

/** The words for a token that is not accepted. */
export function explainToken(refusal: TokenRefusal, situation: Situation): Explained {
  return { code: refusal.code, retry: retryOfTokenRefusal(refusal), ...wordsFor(refusal, situation) };
}

function wordsFor(refusal: TokenRefusal, situation: Situation): Words {
  switch (refusal.code) {
    case 'TOKEN_INVALID_FORMAT':
      return {
        message: `${subject(situation)} is not a token: ${formatProblem(refusal.problem)}.`,
        ...copyAgain(situation),
      };
    case 'TOKEN_UNSUPPORTED_VERSION':
      return {
        message: `${subject(situation)} has version ${refusal.found}; this program knows ${andList(refusal.supported.map(String))}.`,
        suggestion:
          'Copy the token again, whole and unchanged. If it is exact, ask the user to update workrail. If you do not have it, call resume_session.',
      };
    case 'TOKEN_BAD_SIGNATURE':
      return {
        message: `${subject(situation)} was changed on the way, or was made on another machine.`,
        ...copyAgain(situation),
      };
    case 'TOKEN_SCOPE_MISMATCH':
      return scopeMismatch(refusal.mismatch, situation);
    case 'TOKEN_UNKNOWN_NODE':
      return {
        message: `The token is genuine, but its ${refusal.missing.kind === 'session' ? 'session' : 'step'} is not stored here.`,
        suggestion: 'Call resume_session to see what is stored on this machine, or start_workflow to begin a run.',
        call: callToResume(situation),
      };
    case 'TOKEN_WORKFLOW_HASH_MISMATCH':
      return hashMismatch(refusal);
    case 'TOKEN_SESSION_LOCKED':
      return {
        message: `Another call is writing to this session${refusal.holder === null ? '' : ` (${refusal.holder})`}.`,
        suggestion: `Send the same call again in ${refusal.afterMs} ms. If this goes on, ask the user which other workrail process is at work.`,
        nextIntent: 'rehydrate_only',
      };
    default:
      return unreachable(refusal);
  }
}

/** The argument that is at fault, where only one can be. */
function subject({ sent, tokens }: Situation): string {
  const doubtful = Object.keys(TOKEN_SLOTS).filter(
    (slot) => sent[slot] !== undefined && !tokens.some((token) => token.slot === slot && !token.isGuess),
  );
  return doubtful.length === 1 && doubtful[0] !== undefined ? doubtful[0] : 'A token';
}

/** A token that cannot be read may be known from what was handed out, or from the other token of the call. */
function copyAgain(situation: Situation): Advice {
  const [token] = situation.tokens;
  const call = token === undefined ? undefined : callWithFittingToken(situation);
  if (token === undefined || call === undefined) return { suggestion: COPY_AGAIN };
  const how = token.isGuess ? 'the one it is most like' : 'the one that belongs to the other token';
  return { suggestion: `Send the corrected call; its token is ${how}, of ${runOf(token)}.`, call };
}

type HashMismatch = Extract<TokenRefusal, { code: 'TOKEN_WORKFLOW_HASH_MISMATCH' }>;

function hashMismatch({ source, place }: HashMismatch): Words {
  const run = runOf(place);
  const suggestion = 'Tell the user that the stored run is inconsistent, and call start_workflow to begin a new run.';
  switch (source) {
    case 'token':
      return { message: `The token names another version of the workflow than ${run} is pinned to.`, suggestion };
    case 'node':
      return {
        message: `This step was recorded with another version of the workflow than ${run} is pinned to.`,
        suggestion,
      };
    case 'stored_workflow':
      return {
        message: `The workflow that is stored for ${run} is not the one the run is pinned to.`,
        suggestion:
          'Ask the user to run workrail session verify, which names the file. To go on now, call start_workflow.',
      };
    default:
      return unreachable(source);
  }
}

function scopeMismatch(mismatch: ScopeMismatch, situation: Situation): Words {
  switch (mismatch.kind) {
    case 'slot':
      return {
        message: `${mismatch.slot} takes the token of kind ${orList(mismatch.expected)}, but got one of kind ${mismatch.found} (run ${mismatch.tag}).${owners(situation)}`,
        ...corrected(situation, 'Send each token in the argument that has its name.'),
      };
    case 'session':
      return {
        message: `The tokens belong to two different sessions.${owners(situation)}`,
        ...corrected(situation, 'Send one token alone.'),
      };
    case 'run':
      return {
        message: `The token says run ${mismatch.named.tag}, but its step belongs to ${runOf(mismatch.place)}.`,
        suggestion: COPY_AGAIN,
      };
    case 'pair':
      return {
        message: pairWords(mismatch, situation),
        ...corrected(situation, `To go on with ${mismatch.operation.tag}, send its token alone.`),
      };
    default:
      return unreachable(mismatch);
  }
}

function pairWords({ state, operation }: ScopeMismatch & { kind: 'pair' }, { sent }: Situation): string {
  const slot = sent['checkpointToken'] === undefined ? 'ackToken' : 'checkpointToken';
  const other = sent['stateToken'] === undefined ? 'sessionToken' : 'stateToken';
  return state.runId === operation.runId
    ? `${slot} and ${other} name two different steps of ${runOf(operation)}.`
    : `${slot} belongs to ${runOf(operation)}, ${other} to ${runOf(state)}.`;
}

/** Names what was sent by its run, which tells an agent with several of them what it mixed up. */
function corrected(situation: Situation, otherwise: string): Advice {
  const call = callWithFittingToken(situation);
  if (call === undefined) return { suggestion: `${otherwise} If you have none, call resume_session.` };
  const token =
    situation.tokens.find(({ text }) => Object.values(call.arguments).includes(text)) ?? situation.tokens[0];
  const others = situation.tokens.filter(({ tag }) => tag !== token?.tag);
  const which = others.map(
    (other) => ` To go on with ${runOf(other)} instead, use ${other.ackToken ?? other.stateToken}.`,
  );
  return {
    suggestion: `${token === undefined ? 'Send' : `To go on with ${runOf(token)}, send`} the corrected call.${which.join('')}`,
    ...(others.length === 0 ? {} : { details: { runs: situation.tokens.map(runFacts) } }),
    call,
  };
}

function owners({ tokens }: Situation): string {
  if (tokens.length < 2) return '';
  return tokens.map((token) => ` ${token.slot} belongs to ${runOf(token)}.`).join('');
}

function runFacts({ slot, tag, workflowId, stateToken, ackToken }: KnownToken): JsonObject {
  return { slot, tag, workflowId, stateToken, ...(ackToken === undefined ? {} : { ackToken }) };
}

function runOf({ tag, workflowId }: { readonly tag: string; readonly workflowId: string }): string {
  return `run ${tag} (${workflowId})`;
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
