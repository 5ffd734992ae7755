import { err, ok, type Result } from 'neverthrow';
import { canonicalJson, type JsonRefusal } from '../../json/canonical-json.ts';
import { isObject, type JsonObject, type JsonValue } from '../../json/json-value.ts';
import { utf8Length } from '../../text/utf8.ts';
import { CONTEXT_BYTES_MAX, CONTEXT_DEPTH_MAX } from '../budgets.ts';
import { contextDepth, reservedKeyIn } from '../events/output-events.ts';

/** The effect of a call on a node's context. `delta` is undefined if nothing changes; then nothing is written. */
export type ContextChange = { readonly delta: JsonObject | undefined; readonly context: JsonObject };

export type ContextRefusal =
  | { readonly code: 'context_not_object' }
  | { readonly code: 'context_reserved_key'; readonly key: string }
  | { readonly code: 'context_too_deep'; readonly depth: number; readonly depthMax: number }
  | {
      readonly code: 'context_too_large';
      /** The argument, or the whole context with it. */
      readonly part: 'argument' | 'whole';
      readonly bytes: number;
      readonly bytesMax: number;
      readonly method: 'utf8_bytes_of_rfc_8785_json';
    }
  | JsonRefusal;

/** The change that an argument makes: keys replace, null removes, and values that are already set are left out. */
export function contextDelta(context: JsonObject, argument: unknown): Result<ContextChange, ContextRefusal> {
  return checkArgument(argument).andThen((checked) => {
    const changes = Object.entries(checked).filter(([key, value]) => !isSame(ownValue(context, key), value));
    if (changes.length === 0) return ok({ delta: undefined, context });
    const delta = Object.fromEntries(changes);
    const whole = applyContextDeltas(context, [delta]);
    return checkSize('whole', whole).map(() => ({ delta, context: whole }));
  });
}

/** A node's context from that of an ancestor and the deltas since, oldest first. It is copied once. */
export function applyContextDeltas(context: JsonObject, deltas: readonly JsonObject[]): JsonObject {
  const whole = new Map(Object.entries(context));
  for (const delta of deltas) {
    for (const [key, value] of Object.entries(delta)) {
      if (value === null) whole.delete(key);
      else whole.set(key, value);
    }
  }
  return Object.fromEntries(whole);
}

function checkArgument(argument: unknown): Result<JsonObject, ContextRefusal> {
  if (!isObject(argument)) return err({ code: 'context_not_object' });
  const context = argument;
  return checkSize('argument', context).andThen((): Result<JsonObject, ContextRefusal> => {
    const reserved = reservedKeyIn(context);
    if (reserved !== undefined) return err({ code: 'context_reserved_key', key: reserved });
    const depth = contextDepth(context);
    if (depth > CONTEXT_DEPTH_MAX) return err({ code: 'context_too_deep', depth, depthMax: CONTEXT_DEPTH_MAX });
    return ok(context);
  });
}

function checkSize(part: 'argument' | 'whole', value: unknown): Result<void, ContextRefusal> {
  const text = canonicalJson(value);
  if (text.isErr()) return err(text.error);
  const bytes = utf8Length(text.value);
  if (bytes <= CONTEXT_BYTES_MAX) return ok(undefined);
  const method = 'utf8_bytes_of_rfc_8785_json';
  return err({ code: 'context_too_large', part, bytes, bytesMax: CONTEXT_BYTES_MAX, method });
}

/** An absent key counts as null: removing it changes nothing. */
function ownValue(context: JsonObject, key: string): JsonValue {
  return Object.hasOwn(context, key) ? (context[key] ?? null) : null;
}

function isSame(a: JsonValue, b: JsonValue): boolean {
  return canonicalJson(a).unwrapOr('') === canonicalJson(b).unwrapOr('');
}
