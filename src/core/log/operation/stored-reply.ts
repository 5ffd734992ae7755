import type { Result } from 'neverthrow';
import { assert } from '../../assert.ts';
import { canonicalBytes, type JsonRefusal, type Sha256, type Sha256Digest } from '../../json/canonical-json.ts';
import { defined, isList, type JsonObject, type JsonValue } from '../../json/json-value.ts';
import { REPLY_HOLES, type ReplyHole, type StoredReply } from '../events/graph-events.ts';

/** A reply as an agent gets it. Further texts follow the first. */
export type GivenReply = {
  readonly text: string;
  readonly furtherTexts?: readonly string[];
  readonly structured: JsonObject;
};

/** A reply with open holes. Only the replies to starting and resuming have further texts. */
export type OpenReply = StoredReply & { readonly furtherTexts?: readonly string[] };

/** The values on this machine at this moment. Some may be absent: a complete run has no ack token. */
export type HoleValues = { readonly [hole in ReplyHole]?: string };

type Hole = { readonly $hole: ReplyHole };

const HOLES = new Map<ReplyHole, Hole>(REPLY_HOLES.map((name) => [name, Object.freeze({ $hole: name })]));

/** A placeholder for a token or the session id while a reply is built, so that the log never contains one. */
export function hole(name: ReplyHole): Hole {
  const known = HOLES.get(name);
  assert(known !== undefined, `${name} is a hole`);
  return known;
}

/** Whether a value is one of our holes, and not something that only looks like one. */
export function isHole(value: JsonValue): value is Hole {
  return [...HOLES.values()].some((known) => known === value);
}

/**
 * A reply that can be stored. Text of an agent or author may look like a hole and must come back unchanged: its key gets
 * one more `$`, which filling removes again.
 */
export function storedReply(reply: OpenReply): OpenReply {
  return { ...reply, structured: escapedObject(reply.structured) };
}

function escaped(value: JsonValue): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map(escaped);
  return isHole(value) ? value : escapedObject(value);
}

function escapedObject(object: JsonObject): JsonObject {
  const entries = Object.entries(object).map(([key, value]): [string, JsonValue] => [
    key.replace(/^\$+hole$/, '$$$&'),
    escaped(value),
  ]);
  return Object.fromEntries(entries);
}

/** The reply with current values in its holes. Nothing else is rendered again. */
export function fillReply(open: OpenReply, values: HoleValues): GivenReply {
  return defined({
    text: open.text.map((part) => (typeof part === 'string' ? part : valueFor(part.$hole, values))).join(''),
    furtherTexts: open.furtherTexts,
    structured: filledObject(open.structured, values),
  });
}

function filled(value: JsonValue, values: HoleValues): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (isList(value)) return value.map((item) => filled(item, values));
  return Object.hasOwn(value, '$hole') ? valueFor(holeIn(value), values) : filledObject(value, values);
}

function filledObject(object: JsonObject, values: HoleValues): JsonObject {
  const entries = Object.entries(object).map(([key, value]): [string, JsonValue] => [
    key.replace(/^\$(?=\$+hole$)/, ''),
    filled(value, values),
  ]);
  return Object.fromEntries(entries);
}

function holeIn(object: JsonObject): ReplyHole {
  const hole = REPLY_HOLES.find((name) => name === object['$hole']);
  assert(hole !== undefined && Object.keys(object).length === 1, 'a stored reply has only known holes');
  return hole;
}

function valueFor(hole: ReplyHole, values: HoleValues): string {
  const value = values[hole];
  assert(value !== undefined, `a stored reply needs ${hole}`);
  return value;
}

/** What an attempt sends besides its token. The order of keys does not matter. */
export type RequestPayload = { readonly output?: JsonObject; readonly context?: JsonObject; readonly mode?: string };

/** Distinguishes a true replay, which sends the same again, from a call with something new. */
export function requestDigest(payload: RequestPayload, sha256: Sha256): Result<Sha256Digest, JsonRefusal> {
  return canonicalBytes(payload).map(sha256);
}
