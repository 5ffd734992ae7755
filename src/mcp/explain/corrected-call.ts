import { JSON_DEPTH_MAX } from '../../core/json/canonical-json.ts';
import { isObject, type JsonObject, type JsonValue } from '../../core/json/json-value.ts';
import { REPEATED_CALL_BYTES_MAX } from '../../core/log/budgets.ts';
import type { Call, ErrorEnvelope, Retry } from '../../core/log/error-envelope.ts';
import { canonicalLength } from '../../core/log/field-schemas.ts';
import { TOKEN_SLOTS } from '../../core/token/token.ts';
import type { RecentReply } from './recent-replies.ts';
import type { KnownToken, Situation } from './situation.ts';

const SLOT_FOR = { ack: 'ackToken', state: 'stateToken', checkpoint: 'checkpointToken' } as const;

/**
 * The same call with the token that it needs, from whatever token was sent; `undefined` where none leads anywhere.
 * Whoever sends nothing to record wants to see the step, so that no call with a wrong token can do one; only an ack
 * token that stands where it belongs, be it miscopied, says by itself what is meant.
 */
export function callWithFittingToken({ tool, sent, tokens, recent }: Situation): Call | undefined {
  const payload = withoutTokens(sent);
  const isReport = Object.keys(payload).length > 0 || tokens.some(isAckInPlace);
  const wanted = wantedKind(tool, isReport);
  if (wanted === undefined) return undefined;
  const genuine = tokens.find(({ kind }) => kind === wanted);
  // What was handed out here may be of another run than the one that is meant, so it is good for looking only.
  const from = genuine ?? tokens[0] ?? (wanted === 'state' && recent.length === 1 ? recent[0] : undefined);
  if (from === undefined) return undefined;
  const token = genuine?.text ?? tokenOf(from, wanted);
  if (token !== undefined) return { tool, arguments: { [SLOT_FOR[wanted]]: token, ...payload } };
  return callToShow(from);
}

/** Shows where a run stands. */
function callToShow({ stateToken }: Pick<KnownToken, 'stateToken'>): Call {
  return { tool: 'continue_workflow', arguments: { stateToken } };
}

/** What there is to start, in the project that the call was about. */
export function callToList({ sent }: Situation): Call {
  return { tool: 'list_workflows', arguments: placeOf(sent) };
}

/** Finds a run again without any token. */
export function callToResume({ sent }: Situation): Call {
  return { tool: 'resume_session', arguments: placeOf(sent) };
}

function placeOf({ workspacePath }: JsonObject): JsonObject {
  return workspacePath === undefined ? {} : { workspacePath };
}

/** A checkpoint that was sent without anything to save, with room for it. */
export function callToSave(situation: Situation): Call | undefined {
  const call = callWithFittingToken(situation);
  if (call?.tool !== situation.tool) return call;
  return { ...call, arguments: { ...call.arguments, output: { notesMarkdown: '<what is done, and what is open>' } } };
}

function isAckInPlace({ kind, slot }: KnownToken): boolean {
  return kind === 'ack' && slot === 'ackToken';
}

function wantedKind(tool: string, isReport: boolean): keyof typeof SLOT_FOR | undefined {
  if (tool === 'checkpoint_workflow') return 'checkpoint';
  if (tool !== 'continue_workflow') return undefined;
  return isReport ? 'ack' : 'state';
}

function tokenOf(from: RecentReply, kind: keyof typeof SLOT_FOR): string | undefined {
  return from[SLOT_FOR[kind]];
}

function withoutTokens(sent: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(sent).filter(([name]) => !Object.hasOwn(TOKEN_SLOTS, name)));
}

/** A call that may be repeated in a reply, and what had to be left out of it. */
export type FittedCall = { readonly call: Call; readonly repeat: readonly string[] };

/** Leaves out the largest values until the rest may be repeated. What is not even JSON is not repeated at all. */
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

/** The values of a call, those of its output one by one. */
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

/** What an agent sent may hold half a character, which no reply can; what is nested without end is no JSON for us. */
function wellFormed(value: JsonValue, depth = 0): JsonValue {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null || depth > JSON_DEPTH_MAX) return value;
  const inside = (inner: JsonValue) => wellFormed(inner, depth + 1);
  if (!isObject(value)) return value.map(inside);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), inside(inner)]));
}

/** The words for a refusal, before its call is cut to what may be repeated. */
export type Explained = Omit<ErrorEnvelope, 'nextCall'> & { readonly call?: Call | undefined };

export const NOT_RETRYABLE: Retry = { kind: 'not_retryable' };
