import type { GateRefusal } from '../../app/ports/session-store.ts';
import { type ByKind, byKind } from '../../core/assert.ts';
import { defined } from '../../core/json/json-value.ts';
import { normaliseToken } from '../../core/text/binary-text.ts';
import { andList, orList } from '../../core/text/words.ts';
import { TOKEN_PREFIXES, TOKEN_SLOTS, type TokenKind } from '../../core/token/token.ts';
import {
  type FormatProblem,
  retryOfTokenRefusal,
  type ScopeMismatch,
  type TokenRefusal,
} from '../../core/token/token-refusal.ts';
import {
  callForRun,
  callToResume,
  callWithFittingToken,
  type Explained,
  recentTokens,
  type Words,
  type WordsFor,
} from './corrected-call.ts';
import { storedIn } from './explain-store.ts';
import type { Situation } from './situation.ts';

type Advice = Omit<Words, 'message'>;

const FROM_LAST_REPLY =
  'Send the call again with the whole token, copied unchanged from the last reply of the run that you are working on.';
const COPY_AGAIN = `${FROM_LAST_REPLY} If you do not have it, call resume_session.`;

const LOCK_RETRY_MS = 500;

/** The words for a token that is not accepted. */
export const TOKEN_WORDS: WordsFor<TokenRefusal | Extract<GateRefusal, { code: 'session_locked' }>> = {
  TOKEN_INVALID_FORMAT: (refusal, situation) => ({
    ...head(refusal),
    message: `${subject(situation)} is invalid: ${byKind(FORMAT_PROBLEMS, refusal.problem)}.`,
    ...copyAgain(situation),
  }),
  TOKEN_UNSUPPORTED_VERSION: (refusal, situation) => ({
    ...head(refusal),
    message: `${subject(situation)} has version ${refusal.found}; this server supports ${andList(refusal.supported.map(String))}.`,
    ...withRecent(
      situation,
      'Send the call again with the whole token, copied unchanged. If it is exact, ask the user to update workrail.',
    ),
  }),
  TOKEN_BAD_SIGNATURE: (refusal, situation) => ({
    ...head(refusal),
    message: `${subject(situation)} was changed, comes from another machine or space, or is older than the last two changes of the signing keys.`,
    ...resumeIfExact(situation),
  }),
  TOKEN_SCOPE_MISMATCH: (refusal, situation) => ({
    ...head(refusal),
    ...byKind(SCOPE_WORDS, refusal.mismatch, situation),
  }),
  TOKEN_UNKNOWN_NODE: (refusal, situation) => ({
    ...head(refusal),
    message: `The token is valid, but its ${refusal.missing.kind === 'session' ? 'session' : 'step'} is not stored ${storedIn(situation.dataDir)}.`,
    suggestion: 'Call resume_session to see what is stored here, or start_workflow to start a run.',
    call: callToResume(situation),
  }),
  TOKEN_WORKFLOW_HASH_MISMATCH: (refusal) => ({ ...head(refusal), ...hashMismatch(refusal) }),
  TOKEN_SESSION_LOCKED: locked,
  session_locked: ({ sessionId, holder = null }) =>
    locked({ code: 'TOKEN_SESSION_LOCKED', sessionId, afterMs: LOCK_RETRY_MS, holder }),
};

function head(refusal: TokenRefusal): Pick<Explained, 'code' | 'retry'> {
  return { code: refusal.code, retry: retryOfTokenRefusal(refusal) };
}

function locked(refusal: Extract<TokenRefusal, { code: 'TOKEN_SESSION_LOCKED' }>): Words {
  return {
    ...head(refusal),
    message: `Another call is writing to this session${refusal.holder === null ? '' : ` (${refusal.holder})`}.`,
    suggestion: `Send the same call again in ${refusal.afterMs} ms. If this continues, ask the user which other workrail process is running.`,
    nextIntent: 'rehydrate_only',
  };
}

/** The argument that is wrong, if only one can be. */
function subject({ sent, tokens }: Situation): string {
  const doubtful = Object.keys(TOKEN_SLOTS).filter(
    (slot) => sent[slot] !== undefined && !tokens.some((token) => token.slot === slot && !token.isGuess),
  );
  return doubtful.length === 1 && doubtful[0] !== undefined ? doubtful[0] : 'A token';
}

/** An unreadable token may be known from recent replies, or from the other token of the call. */
function copyAgain(situation: Situation): Advice {
  const [token] = situation.tokens;
  const [onlyRun, ...others] = situation.recent;
  // A server that was just started may know only one of several runs, so the token itself has to name it.
  if (token === undefined && onlyRun !== undefined && others.length === 0 && namesRun(situation, onlyRun.tag)) {
    return {
      suggestion: `${COPY_AGAIN} The token begins like a token of ${runOf(onlyRun)}. The call below shows the current step of that run, with new tokens.`,
      call: { tool: 'continue_workflow', arguments: { stateToken: onlyRun.stateToken } },
    };
  }
  const call = token === undefined ? undefined : callWithFittingToken(situation);
  if (token === undefined || call === undefined) return withRecent(situation, FROM_LAST_REPLY);
  const how = token.isGuess
    ? `The token you sent is most similar to one of ${runOf(token)}`
    : `The other token you sent is from ${runOf(token)}`;
  return { suggestion: `${how}. Send the corrected call, which has a valid token of that run.`, call };
}

/** Advice, and what to do without a token: with those of recent runs if some are known. */
function withRecent(situation: Situation, advice: string): Advice {
  const { suggestion, details } = recentTokens(situation) ?? {};
  return suggestion === undefined
    ? { suggestion: `${advice} If you do not have it, call resume_session.` }
    : {
        suggestion: `${advice} If you do not have it, choose the run that you mean. ${suggestion} For any other run, call resume_session.`,
        ...defined({ details }),
      };
}

/** A token that was copied exactly stays invalid after the keys were replaced; only finding the run again gives new ones. */
function resumeIfExact(situation: Situation): Advice {
  const advice = copyAgain(situation);
  if (advice.call !== undefined) return advice;
  return {
    suggestion:
      'If you copied the token by hand, copy it again, unchanged. If it is exact, send this resume_session call: it finds your run and gives new tokens.',
    call: callToResume(situation),
  };
}

/** Whether what is left of a token has the tag of a run. */
function namesRun({ sent }: Situation, tag: string): boolean {
  return Object.keys(TOKEN_SLOTS).some((slot) => {
    const text = sent[slot];
    return typeof text === 'string' && normaliseToken(text).split('_')[1]?.startsWith(tag) === true;
  });
}

function hashMismatch({ source, place }: Extract<TokenRefusal, { code: 'TOKEN_WORKFLOW_HASH_MISMATCH' }>): Words {
  const run = runOf(place);
  const messages = {
    token: `The token names a different version of the workflow from the one ${run} was started with.`,
    node: `This step was recorded with a different version of the workflow from the one ${run} was started with.`,
    stored_workflow: `The workflow stored for ${run} is not the one it was started with.`,
  };
  return {
    message: messages[source],
    suggestion:
      source === 'stored_workflow'
        ? 'Ask the user to run workrail session verify, which names the file. To continue working now, call start_workflow.'
        : 'Tell the user that the stored run is inconsistent, and call start_workflow to start a new run.',
  };
}

/** What every token of a kind begins with. */
function startOf(kind: TokenKind): string {
  return `${TOKEN_PREFIXES[kind]}_`;
}

const SCOPE_WORDS: ByKind<ScopeMismatch, Words, [Situation]> = {
  slot: ({ slot, expected, found, tag }, situation) => ({
    message: `${slot} needs a token that begins with ${orList(expected.map(startOf))}, not one that begins with ${startOf(found)} (run ${tag}).${owners(situation)}`,
    ...corrected(situation, 'Send each token in the argument with its name.'),
  }),
  session: (_, situation) => ({
    message: `The tokens belong to two different sessions.${owners(situation)}`,
    ...corrected(situation, 'Send one token alone.'),
  }),
  run: ({ named, place }) => ({
    message: `The token names run ${named.tag}, but its step belongs to ${runOf(place)}.`,
    suggestion: COPY_AGAIN,
  }),
  pair: (mismatch, situation) => ({
    message: pairWords(mismatch, situation),
    ...corrected(situation, `To continue ${mismatch.operation.tag}, send its token alone.`),
  }),
};

function pairWords({ state, operation }: ScopeMismatch & { kind: 'pair' }, { sent }: Situation): string {
  const slot = sent['checkpointToken'] === undefined ? 'ackToken' : 'checkpointToken';
  const other = sent['stateToken'] === undefined ? 'sessionToken' : 'stateToken';
  return state.runId === operation.runId
    ? `${slot} and ${other} name different steps of ${runOf(operation)}.`
    : `${slot} belongs to ${runOf(operation)}, ${other} to ${runOf(state)}.`;
}

/** Names the run of each token, so that an agent with several runs sees what it mixed up. */
function corrected(situation: Situation, otherwise: string): Advice {
  const call = callWithFittingToken(situation);
  if (call === undefined) return { suggestion: `${otherwise} If you have none, call resume_session.` };
  const token =
    situation.tokens.find(({ text }) => Object.values(call.arguments).includes(text)) ?? situation.tokens[0];
  const others = situation.tokens.filter(({ tag }) => tag !== token?.tag);
  const which = others.map((other) => ` To continue ${runOf(other)} instead, ${callForRun(situation, other)}.`);
  const runs = situation.tokens.map(({ slot, tag, workflowId, stateToken, ackToken, checkpointToken }) =>
    defined({ slot, tag, workflowId, stateToken, ackToken, checkpointToken }),
  );
  return {
    suggestion: `${token === undefined ? 'Send' : `To continue ${runOf(token)}, send`} the corrected call.${which.join('')}`,
    ...(others.length === 0 ? {} : { details: { runs } }),
    call,
  };
}

function owners({ tokens }: Situation): string {
  if (tokens.length < 2) return '';
  return tokens.map((token) => ` ${token.slot} belongs to ${runOf(token)}.`).join('');
}

function runOf({ tag, workflowId }: { readonly tag: string; readonly workflowId: string }): string {
  return `run ${tag} (${workflowId})`;
}

const FORMAT_PROBLEMS: ByKind<FormatProblem, string> = {
  empty: () => 'it is empty',
  too_long: ({ found, lengthMax }) => `it has ${found} characters, more than ${lengthMax}`,
  unknown_prefix: ({ found }) => `it begins with ${JSON.stringify(found)} instead of st_, ack_ or chk_`,
  wrapped: () => 'there are quotes or white space around it',
  wrong_length: ({ found, expected }) => `it has ${found} characters instead of ${expected}`,
  wrong_parts: ({ found, expected }) => `it has ${found} parts instead of ${expected}`,
  foreign_character: ({ position, character }) =>
    `character ${position + 1}, ${JSON.stringify(character)}, cannot occur in a token`,
  wrong_payload: () => 'its content is invalid',
  prefix_disagrees: ({ prefix, inside }) => `its prefix says kind ${prefix}, but it is of kind ${inside}`,
  not_canonical: () => 'it is not in the standard form of a token',
};
