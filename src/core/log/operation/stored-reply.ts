import { assert } from '../../assert.ts';
import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import { REPLY_HOLES, type ReplyHole, type StoredReply } from '../events/advance-recorded.ts';

/** A reply as an agent gets it. */
export type GivenReply = { readonly text: string; readonly structured: JsonObject };

/** The values of one machine and one moment. A complete run has no ack token, so some may be absent. */
export type HoleValues = { readonly [hole in ReplyHole]?: string };

/** Stands for a token or the session id while a reply is made, so that the log never holds one. */
export function hole(name: ReplyHole): { readonly $hole: ReplyHole } {
  return { $hole: name };
}

/** The reply again, with the values of today. Nothing else is rendered anew. */
export function fillReply(stored: StoredReply, values: HoleValues): GivenReply {
  const text = stored.text.map((part) => (typeof part === 'string' ? part : valueFor(part.$hole, values))).join('');
  return { text, structured: filledObject(stored.structured, values) };
}

function filledObject(object: JsonObject, values: HoleValues): JsonObject {
  return mapObject(object, (value) => filled(value, values));
}

function filled(value: JsonValue, values: HoleValues): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((item) => filled(item, values));
  const hole = holeIn(value);
  return hole === undefined ? filledObject(value, values) : valueFor(hole, values);
}

function holeIn(object: JsonObject): ReplyHole | undefined {
  const [field, ...others] = Object.entries(object);
  if (field?.[0] !== '$hole' || others.length > 0) return undefined;
  return REPLY_HOLES.find((name) => name === field[1]);
}

function valueFor(hole: ReplyHole, values: HoleValues): string {
  const value = values[hole];
  assert(value !== undefined, `a stored reply asks for ${hole}`);
  return value;
}

function mapObject(object: JsonObject, change: (value: JsonValue) => JsonValue): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));
}

function isList(value: readonly JsonValue[] | JsonObject): value is readonly JsonValue[] {
  return Array.isArray(value);
}
