import type { ByCode } from '../../core/assert.ts';
import { canonicalLength, JSON_DEPTH_MAX } from '../../core/json/canonical-json.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json/json-value.ts';
import { REPEATED_CALL_BYTES_MAX } from '../../core/log/budgets.ts';
import type { Call, ErrorEnvelope, Retry } from '../../core/log/error-envelope.ts';
import { blank, SAVED_WORDS } from '../../core/run/form/blank.ts';
import { TOKEN_SLOTS } from '../../core/token/token.ts';
import type { RecentReply } from './recent-replies.ts';
import type { Situation } from './situation.ts';

/**
 * The attempt of a blocked report is used up, so a corrected call with its token would be answered with the old block.
 * Only a corrected call is changed: the same call again has to stay the same.
 */
export function withRetryToken(call: Call | undefined, { tokens }: Situation): Call | undefined {
  const sent = call?.arguments['ackToken'];
  const retryToken = tokens.find(({ text }) => text === sent)?.retryToken;
  if (call === undefined || retryToken === undefined) return call;
  return { ...call, arguments: { ...call.arguments, ackToken: retryToken } };
}

const SLOT_FOR = { ack: 'ackToken', state: 'stateToken', checkpoint: 'checkpointToken' } as const;

/**
 * The same call with the token it needs, derived from the token that was sent; `undefined` if none is known. A call with
 * nothing to record only shows the step, so a call with a wrong token never completes one. Only an ackToken in its own
 * argument, even if miscopied, means that the step is done.
 */
export function callWithFittingToken(situation: Situation): Call | undefined {
  const { tool, sent, tokens } = situation;
  const payload = payloadOf(sent);
  const wanted = wantedKind(situation);
  if (wanted === undefined) return undefined;
  const genuine = tokens.find(({ kind }) => kind === wanted);
  const from = genuine ?? tokens[0];
  if (from === undefined) return undefined;
  const token = genuine?.text ?? from[SLOT_FOR[wanted]];
  if (token !== undefined) return { tool, arguments: { [SLOT_FOR[wanted]]: token, ...payload } };
  return { tool: 'continue_workflow', arguments: { stateToken: from.stateToken } };
}

/** Lists the workflows of the project that the call was about. */
export function callToList({ sent }: Situation): Call {
  return { tool: 'list_workflows', arguments: placeOf(sent) };
}

/** Finds a run that the caller has no token for. */
export function callToResume({ sent }: Situation): Call {
  return { tool: 'resume_session', arguments: placeOf(sent) };
}

function placeOf({ workspacePath }: JsonObject): JsonObject {
  return workspacePath === undefined ? {} : { workspacePath };
}

/** A checkpoint without content, with a placeholder for it. */
export function callToSave(situation: Situation): Call | undefined {
  const call = callWithFittingToken(situation);
  if (call?.tool !== situation.tool) return call;
  const notesMarkdown = blank(SAVED_WORDS);
  return { ...call, arguments: { ...call.arguments, output: { notesMarkdown } } };
}

function wantedKind({ tool, sent, tokens }: Situation): keyof typeof SLOT_FOR | undefined {
  if (tool === 'checkpoint_workflow') return 'checkpoint';
  if (tool !== 'continue_workflow') return undefined;
  const isReport =
    Object.keys(payloadOf(sent)).length > 0 || tokens.some(({ kind, slot }) => kind === 'ack' && slot === 'ackToken');
  return isReport ? 'ack' : 'state';
}

function payloadOf(sent: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !Object.hasOwn(TOKEN_SLOTS, name)));
}

/** What to send for a run: the same call with the token that it needs or, if the run is complete, the call that shows it. */
export function callForRun(situation: Situation, run: RecentReply): string {
  const slot = SLOT_FOR[wantedKind(situation) ?? 'state'];
  const token = run[slot];
  return token === undefined
    ? `look at it, because it is complete: continue_workflow {"stateToken":"${run.stateToken}"}`
    : slot === 'stateToken'
      ? `send the call again with only "${slot}":"${token}"`
      : `send the call again with "${slot}":"${token}" and no other token`;
}

const RUNS_NAMED_MAX = 3;

/**
 * The tokens of runs that were used on this server, for a call that names none. Only the caller knows which run is meant:
 * a server that was just started may know one of several, so nothing is sent in its name.
 */
export function recentTokens(situation: Situation): Pick<Words, 'suggestion' | 'details'> | undefined {
  const runs = situation.recent.slice(0, RUNS_NAMED_MAX);
  if (runs.length === 0) return undefined;
  const ways = runs.map((run) => `For run ${run.tag} (${run.workflowId}), ${callForRun(situation, run)}.`);
  return { suggestion: ways.join(' '), details: { runs } };
}

/** A call short enough to repeat in a reply, and what was left out of it. */
export type FittedCall = { readonly call: Call; readonly repeat: readonly string[] };

/** Leaves out the largest values until the call is short enough. A call that is not valid JSON is not repeated. */
export function fittedCall({ tool, arguments: all }: Call): FittedCall | undefined {
  let left = wellFormed(all) as JsonObject;
  if (canonicalLength(left) === 0) return undefined;
  const repeat: string[] = [];
  while (canonicalLength(left) > REPEATED_CALL_BYTES_MAX) {
    const [largest] = valuesOf(left).toSorted((a, b) => b.bytes - a.bytes);
    if (largest === undefined) return undefined;
    repeat.push(largest.path.join('.'));
    left = without(left, largest.path);
  }
  return { call: { tool, arguments: left }, repeat };
}

type Sized = { readonly path: readonly [string, ...string[]]; readonly bytes: number };

/** The values of a call; those of its output one by one. */
function valuesOf(all: JsonObject): readonly Sized[] {
  return Object.entries(all).flatMap(([name, value]): readonly Sized[] =>
    name === 'output' && isObject(value)
      ? Object.entries(value).map(([field, inner]) => ({ path: [name, field], bytes: canonicalLength(inner) }))
      : [{ path: [name], bytes: canonicalLength(value) }],
  );
}

function without(all: JsonObject, [name, field]: Sized['path']): JsonObject {
  const inner = all[name];
  const kept = field !== undefined && isObject(inner) ? { [name]: without(inner, [field]) } : {};
  return { ...Object.fromEntries(Object.entries(all).filter(([one]) => one !== name)), ...kept };
}

/** Replaces half characters, which no reply can contain. What is nested too deeply is left as it is. */
function wellFormed(value: JsonValue, depth = 0): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || depth > JSON_DEPTH_MAX) return value;
  const inside = (inner: JsonValue) => wellFormed(inner, depth + 1);
  if (!isObject(value)) return value.map(inside);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), inside(inner)]));
}

/** The words for a refusal, before its call is cut to what may be repeated. */
export type Explained = Omit<ErrorEnvelope, 'nextCall'> & { readonly call?: Call | undefined };

/** By default the call is invalid, and sending it again does not help. */
export type Words = Omit<Explained, 'code' | 'retry'> & Partial<Pick<Explained, 'code' | 'retry'>>;

/** The words for each code of a refusal. */
export type WordsFor<Refused extends { readonly code: string }> = ByCode<Refused, Words, [Situation]>;

export function retryAfter(afterMs: number): Retry {
  return { kind: 'retryable_after_ms', afterMs };
}
