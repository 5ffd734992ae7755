import { err, ok, type Result } from 'neverthrow';
import { isObject, type JsonObject, type JsonValue, quote } from '../../json/json-value.ts';
import { clip, utf8Length, utf8Prefix } from '../../text/utf8.ts';
import { pointerTo } from '../source/source-node.ts';
import {
  ANY_CASE,
  BYTES_MAX,
  describeShape,
  fieldNames,
  isRequired,
  partOf,
  type Shape,
  selectorOf,
  variantsOf,
} from './shape.ts';

/** One thing wrong with a value: where, what was found, and what is allowed there. */
export type ArtifactViolation = {
  readonly code: 'missing' | 'unknown_key' | 'wrong_type' | 'wrong_value' | 'too_small' | 'too_large';
  /** JSON pointer; empty for the value as a whole. */
  readonly path: string;
  readonly found: string;
  readonly allowed: string;
};

/** A value that has its shape. Where a word was written in another case, it has the declared one and a note says so. */
export type Accepted = { readonly value: JsonObject; readonly notes: readonly string[] };

/** Compares a value with a shape. All violations are reported, in an order that depends on nothing but the two. */
export function checkShape(shape: Shape, value: JsonValue): Result<Accepted, readonly ArtifactViolation[]> {
  const findings: Findings = { violations: [], notes: [] };
  const taken = take(shape, value, { path: '', findings });
  if (findings.violations.length > 0) return err(findings.violations);
  return isObject(taken)
    ? ok({ value: taken, notes: findings.notes })
    : err([wrongKind({ type: 'object' }, value, '')]);
}

type Findings = { readonly violations: ArtifactViolation[]; readonly notes: string[] };
type Place = { readonly path: string; readonly findings: Findings };

/** Returns the value as it is to be kept. */
function take(shape: Shape, value: JsonValue, place: Place): JsonValue {
  const variants = variantsOf(shape);
  if (variants.length > 0) return takeVariant(shape, value, place);
  if (Array.isArray(shape['enum']) || shape['const'] !== undefined) return takeWord(shape, value, place);
  if (!hasKindOf(shape, value)) return refuse(place, wrongKind(shape, value, place.path), value);
  if (isObject(value)) return takeObject(shape, value, place);
  if (Array.isArray(value)) return takeList(shape, value, place);
  if (typeof value === 'string') return takeText(shape, value, place);
  return typeof value === 'number' ? takeNumber(shape, value, place) : value;
}

function takeVariant(shape: Shape, value: JsonValue, place: Place): JsonValue {
  const variants = variantsOf(shape);
  const selector = selectorOf(variants);
  if (selector === undefined || !isObject(value)) {
    const variant = variants.find((candidate) => hasKindOf(candidate, value));
    return variant === undefined
      ? refuse(place, wrongKind(shape, value, place.path), value)
      : take(variant, value, place);
  }
  const { name, values } = selector;
  const chosen = variants[values.indexOf(value[name] ?? null)];
  if (chosen !== undefined) return take(chosen, value, place);
  const path = pointerTo(place.path, name);
  const allowed = describeShape({ enum: values });
  const sent = value[name];
  return refuse(
    place,
    sent === undefined ? missing(path, allowed) : { code: 'wrong_value', path, found: shown(sent), allowed },
    value,
  );
}

function takeWord(shape: Shape, value: JsonValue, place: Place): JsonValue {
  const words = Array.isArray(shape['enum']) ? (shape['enum'] as readonly JsonValue[]) : [shape['const'] ?? null];
  if (words.includes(value)) return value;
  const word = shape[ANY_CASE] === true ? words.find((candidate) => isSameButCase(candidate, value)) : undefined;
  if (word === undefined) {
    const { path } = place;
    return refuse(place, { code: 'wrong_value', path, found: shown(value), allowed: describeShape(shape) }, value);
  }
  place.findings.notes.push(`${place.path}: ${shown(value)} was read as ${shown(word)}`);
  return word;
}

function isSameButCase(word: JsonValue, value: JsonValue): boolean {
  return typeof word === 'string' && typeof value === 'string' && word.toLowerCase() === value.trim().toLowerCase();
}

function takeObject(shape: Shape, value: JsonObject, place: Place): JsonObject {
  const fields = partOf(shape, 'properties') ?? {};
  const others = shape['additionalProperties'];
  const kept = new Map<string, JsonValue>(Object.entries(value));
  for (const name of fieldNames(shape).toSorted()) {
    const field = partOf(fields, name) ?? {};
    const path = pointerTo(place.path, name);
    const sent = Object.hasOwn(value, name) ? value[name] : undefined;
    if (sent !== undefined) kept.set(name, take(field, sent, { ...place, path }));
    else if (isRequired(shape, name)) place.findings.violations.push(missing(path, describeShape(field)));
  }
  for (const name of Object.keys(value).sort()) {
    if (Object.hasOwn(fields, name)) continue;
    const path = pointerTo(place.path, name);
    if (isObject(others)) kept.set(name, take(others, value[name] ?? null, { ...place, path }));
    else if (others === false) {
      const allowed = fieldNames(shape).toSorted().join(', ');
      place.findings.violations.push({ code: 'unknown_key', path, found: 'an unknown field', allowed });
    }
  }
  return Object.fromEntries(kept);
}

function takeList(shape: Shape, value: readonly JsonValue[], place: Place): JsonValue {
  const { minItems, maxItems } = shape;
  const found = `a list of ${value.length}`;
  const { path } = place;
  if (typeof minItems === 'number' && value.length < minItems) {
    return refuse(place, { code: 'too_small', path, found, allowed: `at least ${minItems}` }, value);
  }
  if (typeof maxItems === 'number' && value.length > maxItems) {
    return refuse(place, { code: 'too_large', path, found, allowed: `at most ${maxItems}` }, value);
  }
  const items = partOf(shape, 'items') ?? {};
  return value.map((item, i) => take(items, item, { ...place, path: pointerTo(path, i) }));
}

function takeText(shape: Shape, value: string, place: Place): JsonValue {
  const { minLength } = shape;
  const bytesMax = shape[BYTES_MAX];
  const { path } = place;
  const allowed = describeShape(shape);
  if (typeof minLength === 'number' && value.length < minLength) {
    const found = value === '' ? 'empty' : `a text of ${value.length} characters`;
    return refuse(place, { code: 'too_small', path, found, allowed }, value);
  }
  if (typeof bytesMax === 'number' && utf8Length(value) > bytesMax) {
    return refuse(place, { code: 'too_large', path, found: `a text of ${utf8Length(value)} bytes`, allowed }, value);
  }
  if (shape['format'] === 'id' && !/^[a-z0-9_-]+$/.test(value)) {
    return refuse(place, { code: 'wrong_value', path, found: shown(value), allowed }, value);
  }
  return value;
}

function takeNumber(shape: Shape, value: number, place: Place): JsonValue {
  const { minimum, maximum } = shape;
  const refused = { path: place.path, found: shown(value), allowed: describeShape(shape) };
  if (typeof minimum === 'number' && value < minimum) return refuse(place, { code: 'too_small', ...refused }, value);
  if (typeof maximum === 'number' && value > maximum) return refuse(place, { code: 'too_large', ...refused }, value);
  return value;
}

function hasKindOf(shape: Shape, value: JsonValue): boolean {
  switch (shape['type']) {
    case 'object':
      return isObject(value);
    case 'array':
      return Array.isArray(value);
    case 'integer':
      return Number.isSafeInteger(value);
    case undefined:
      return true;
    default:
      return typeof value === shape['type'];
  }
}

function refuse(place: Place, violation: ArtifactViolation, value: JsonValue): JsonValue {
  place.findings.violations.push(violation);
  return value;
}

function missing(path: string, allowed: string): ArtifactViolation {
  return { code: 'missing', path, found: 'nothing', allowed };
}

function wrongKind(shape: Shape, value: JsonValue, path: string): ArtifactViolation {
  return { code: 'wrong_type', path, found: shown(value), allowed: describeShape(shape) };
}

const SHOWN_BYTES_MAX = 48;

/** Enough of a value to recognise it by. */
function shown(value: JsonValue): string {
  if (isObject(value)) return 'an object';
  if (Array.isArray(value)) return 'a list';
  const whole = quote(typeof value === 'string' ? value.slice(0, 2 * SHOWN_BYTES_MAX) : value);
  if (typeof value !== 'string' || utf8Length(whole) <= SHOWN_BYTES_MAX) return clip(whole, SHOWN_BYTES_MAX);
  // The cut falls between characters, also where JSON escapes them, and the quotation mark is closed.
  return `${/^(?:[^\\]|\\(?:u[\da-f]{4}|[^u]))*/.exec(utf8Prefix(whole, SHOWN_BYTES_MAX))?.[0] ?? ''}…"`;
}
