import { canonicalLength, type JsonOffence } from '../../core/json/canonical-json.ts';
import { isList, isObject, type JsonObject, type JsonValue, quote } from '../../core/json/json-value.ts';
import type { Call } from '../../core/log/error-envelope.ts';
import { contextDepth } from '../../core/log/events/output-events.ts';
import type { ArtifactRefusal, ContextRefusal } from '../../core/log/operation/operation-drafts.ts';
import { withoutKeys } from '../../core/run/form/unfilled.ts';
import { utf8Prefix } from '../../core/text/utf8.ts';
import type { WordsFor } from './corrected-call.ts';
import type { Situation } from './situation.ts';

/** What was sent and cannot be stored. */
export type InputRefusal =
  | ContextRefusal
  | ArtifactRefusal
  | { readonly code: 'goal_too_large'; readonly bytes: number; readonly bytesMax: number };

/** The words for input that cannot be stored as sent. Nothing is ever cut silently. */
export const INPUT_WORDS: WordsFor<InputRefusal> = {
  context_not_object: () => ({
    message: 'context must be an object.',
    suggestion: 'Send the call again with context as an object, such as {"ticket":"AB-12"}. Nothing was recorded.',
  }),
  context_reserved_key: ({ key }, situation) => ({
    message: `The context key ${quote(key)} is reserved.`,
    suggestion: 'Use another key, as in the corrected call. Nothing was recorded.',
    call: callWithContext(situation, (context) => renamed(context, key) as JsonObject),
  }),
  context_too_deep: ({ depth, depthMax }, situation) => ({
    message: `context is nested ${depth} levels deep; the maximum is ${depthMax}.`,
    suggestion: 'Send it with fewer levels; the corrected call leaves out what is too deep.',
    details: { measured: depth, max: depthMax, method: 'levels of nesting', advice: 'Flatten it.' },
    call: callWithContext(situation, (context) => kept(context, (value) => 1 + contextDepth(value) <= depthMax)),
  }),
  context_too_large: ({ part, bytes, bytesMax, method }, situation) => {
    const subject = part === 'argument' ? 'context has' : 'context together with the stored context has';
    const advice = 'Remove large values and use references such as paths or links instead.';
    return {
      message: `${subject} ${bytes} bytes as canonical JSON (RFC 8785); the maximum is ${bytesMax}.`,
      suggestion: `${advice} The corrected call leaves out the largest values. Nothing was recorded.`,
      details: { pointer: { kind: 'context_budget' }, measured: bytes, max: bytesMax, method, advice },
      call: callWithContext(situation, (context) => lightened(context, bytes - bytesMax)),
    };
  },
  not_json: ({ offence, path }, { tool, sent }) => ({
    message: `The call contains JSON that cannot be stored (${OFFENCES[offence] ?? offence} at ${quote(path)}).`,
    suggestion: 'Send the call again without it. Nothing was recorded.',
    ...(offence === 'lone_surrogate' ? { call: { tool, arguments: sent } } : {}),
  }),
  too_many_artifacts: ({ count, max }, situation) => ({
    message: `The call has ${count} artifacts; the maximum is ${max}.`,
    suggestion: `Save the others with checkpoint_workflow, then send the corrected call, which has the first ${max}. Nothing was recorded.`,
    details: { measured: count, max, method: 'artifacts in one call' },
    call: callWithArtifacts(situation, max),
  }),
  artifact_too_large: ({ position, bytes, bytesMax }) => ({
    message: `output.artifacts[${position}] has ${bytes} bytes; the maximum is ${bytesMax}.`,
    suggestion:
      'Put the large part in a file, give its path in the artifact, and send the call again. Nothing was recorded.',
    details: {
      measured: bytes,
      max: bytesMax,
      method: 'utf8_bytes_of_rfc_8785_json',
      advice: 'Artifacts are small results. Remove large values and refer to files instead.',
    },
  }),
  goal_too_large: ({ bytes, bytesMax }, { tool, sent }) => ({
    message: `goal has ${bytes} bytes; the maximum is ${bytesMax}.`,
    suggestion: 'State the goal in one or two sentences and put the rest in context. Nothing was started.',
    details: { measured: bytes, max: bytesMax, method: 'bytes in UTF-8' },
    call: {
      tool,
      arguments: { ...sent, goal: utf8Prefix(String(sent['goal']).toWellFormed(), bytesMax).trimEnd() },
    },
  }),
};

const OFFENCES: { readonly [offence in JsonOffence]?: string } = {
  lone_surrogate: 'half of a character',
  too_deep: 'nested too deep',
};

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

/** A context of more keys is too long to repeat, whatever is left out. */
const KEYS_WEIGHED_MAX = 1_000;

/** Without as many of the largest values as needed. */
function lightened(context: JsonObject, excess: number): JsonObject {
  const keys = Object.keys(context);
  if (keys.length > KEYS_WEIGHED_MAX) return {};
  const weighed = keys.map((key) => ({ key, bytes: canonicalLength(context[key]) }));
  let freed = 0;
  const dropped: string[] = [];
  for (const { key, bytes } of weighed.sort((a, b) => b.bytes - a.bytes)) {
    if (freed >= excess) break;
    dropped.push(key);
    freed += bytes;
  }
  return withoutKeys(context, dropped);
}

/** The same values, with a reserved key renamed. */
function renamed(value: JsonValue, reserved: string): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (!isObject(value)) return value.map((item) => renamed(item, reserved));
  const name = (key: string) => (key === reserved ? `${key.replaceAll('_', '')}_value` : key);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [name(key), renamed(inner, reserved)]));
}
