import { unreachable } from '../../core/assert.ts';
import type { JsonOffence } from '../../core/json/canonical-json.ts';
import { isList, isObject, type JsonObject, type JsonValue, quote } from '../../core/json/json-value.ts';
import { canonicalLength } from '../../core/log/document-schema.ts';
import type { Call } from '../../core/log/error-envelope.ts';
import { contextDepth } from '../../core/log/events/output-events.ts';
import type { ArtifactRefusal, ContextRefusal } from '../../core/log/operation/operation-drafts.ts';
import { utf8Prefix } from '../../core/text/utf8.ts';
import { type Explained, NOT_RETRYABLE } from './corrected-call.ts';
import type { Situation } from './situation.ts';

/** What was sent and cannot be stored. */
export type InputRefusal =
  | ContextRefusal
  | ArtifactRefusal
  | { readonly code: 'goal_too_large'; readonly bytes: number; readonly bytesMax: number };

/** The words for input that cannot be stored as sent. Nothing is ever cut silently. */
export function explainInput(refusal: InputRefusal, situation: Situation): Explained {
  return { code: 'VALIDATION_ERROR', retry: NOT_RETRYABLE, ...wordsFor(refusal, situation) };
}

type Words = Pick<Explained, 'message' | 'suggestion' | 'details' | 'call'>;

function wordsFor(refusal: InputRefusal, situation: Situation): Words {
  switch (refusal.code) {
    case 'context_not_object':
      return {
        message: 'context must be an object.',
        suggestion: 'Send the call again with context as an object, such as {"ticket":"AB-12"}. Nothing was recorded.',
      };
    case 'context_reserved_key':
      return {
        message: `The context key ${quote(refusal.key)} is reserved.`,
        suggestion: 'Use another key, as in the corrected call. Nothing was recorded.',
        call: callWithContext(situation, (context) => renamed(context, refusal.key) as JsonObject),
      };
    case 'context_too_deep': {
      const { depth, depthMax } = refusal;
      return {
        message: `context is nested ${depth} levels deep; the maximum is ${depthMax}.`,
        suggestion: 'Send it with fewer levels; the corrected call leaves out what is too deep.',
        details: { measured: depth, max: depthMax, method: 'levels of nesting', advice: 'Flatten it.' },
        call: callWithContext(situation, (context) => kept(context, (value) => 1 + contextDepth(value) <= depthMax)),
      };
    }
    case 'context_too_large':
      return contextTooLarge(refusal, situation);
    case 'not_json':
      return {
        message: `The call contains JSON that cannot be stored (${OFFENCES[refusal.offence] ?? refusal.offence} at ${quote(refusal.path)}).`,
        suggestion: 'Send the call again without it. Nothing was recorded.',
        ...(refusal.offence === 'lone_surrogate' ? { call: { tool: situation.tool, arguments: situation.sent } } : {}),
      };
    case 'too_many_artifacts':
      return {
        message: `The call has ${refusal.count} artifacts; the maximum is ${refusal.max}.`,
        suggestion: `Save the others with checkpoint_workflow, then send the corrected call, which has the first ${refusal.max}. Nothing was recorded.`,
        details: { measured: refusal.count, max: refusal.max, method: 'artifacts in one call' },
        call: callWithArtifacts(situation, refusal.max),
      };
    case 'artifact_too_large':
      return {
        message: `output.artifacts[${refusal.position}] has ${refusal.bytes} bytes; the maximum is ${refusal.bytesMax}.`,
        suggestion:
          'Put the large part in a file, give its path in the artifact, and send the call again. Nothing was recorded.',
        details: {
          measured: refusal.bytes,
          max: refusal.bytesMax,
          method: BYTES_METHOD,
          advice: 'Artifacts are small results. Remove large values and refer to files instead.',
        },
      };
    case 'goal_too_large':
      return {
        message: `goal has ${refusal.bytes} bytes; the maximum is ${refusal.bytesMax}.`,
        suggestion: 'State the goal in one or two sentences and put the rest in context. Nothing was started.',
        details: { measured: refusal.bytes, max: refusal.bytesMax, method: 'bytes in UTF-8' },
        call: { tool: situation.tool, arguments: withShortGoal(situation.sent, refusal.bytesMax) },
      };
    default:
      return unreachable(refusal);
  }
}

const BYTES_METHOD = 'utf8_bytes_of_rfc_8785_json';
const OFFENCES: { readonly [offence in JsonOffence]?: string } = {
  lone_surrogate: 'half of a character',
  too_deep: 'nested too deep',
};

function contextTooLarge(refusal: ContextRefusal & { code: 'context_too_large' }, situation: Situation): Words {
  const { part, bytes, bytesMax, method } = refusal;
  const subject = part === 'argument' ? 'context has' : 'context together with the stored context has';
  const advice = 'Remove large values and use references such as paths or links instead.';
  return {
    message: `${subject} ${bytes} bytes as canonical JSON (RFC 8785); the maximum is ${bytesMax}.`,
    suggestion: `${advice} The corrected call leaves out the largest values. Nothing was recorded.`,
    details: { pointer: { kind: 'context_budget' }, measured: bytes, max: bytesMax, method, advice },
    call: callWithContext(situation, (context) => lightened(context, bytes - bytesMax)),
  };
}

function callWithContext({ tool, sent }: Situation, change: (context: JsonObject) => JsonObject): Call | undefined {
  const { context, ...rest } = sent;
  if (!isObject(context)) return undefined;
  const changed = change(context);
  return { tool, arguments: Object.keys(changed).length === 0 ? rest : { ...rest, context: changed } };
}

/** Without duplicates, which are stored once anyway, and without the last ones. */
function callWithArtifacts({ tool, sent }: Situation, max: number): Call | undefined {
  const { output, ...rest } = sent;
  const artifacts = isObject(output) ? output['artifacts'] : undefined;
  if (!isObject(output) || !isList(artifacts)) return undefined;
  const distinct = [...new Map(artifacts.map((artifact) => [JSON.stringify(artifact), artifact])).values()];
  return { tool, arguments: { ...rest, output: { ...output, artifacts: distinct.slice(0, max) } } };
}

function kept(context: JsonObject, isFit: (value: JsonValue) => boolean): JsonObject {
  return Object.fromEntries(Object.entries(context).filter(([, value]) => isFit(value)));
}

/** Without as many of the largest values as needed. */
function lightened(context: JsonObject, excess: number): JsonObject {
  const heaviestFirst = Object.entries(context).sort(([, a], [, b]) => canonicalLength(b) - canonicalLength(a));
  let freed = 0;
  const dropped = new Set<string>();
  for (const [key, value] of heaviestFirst) {
    if (freed >= excess) break;
    dropped.add(key);
    freed += canonicalLength(value);
  }
  return Object.fromEntries(Object.entries(context).filter(([key]) => !dropped.has(key)));
}

/** The same values, with a reserved key renamed. */
function renamed(value: JsonValue, reserved: string): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (!isObject(value)) return value.map((item) => renamed(item, reserved));
  const name = (key: string) => (key === reserved ? `${key.replaceAll('_', '')}_value` : key);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [name(key), renamed(inner, reserved)]));
}

function withShortGoal(sent: JsonObject, bytesMax: number): JsonObject {
  return { ...sent, goal: utf8Prefix(String(sent['goal']).toWellFormed(), bytesMax).trimEnd() };
}
