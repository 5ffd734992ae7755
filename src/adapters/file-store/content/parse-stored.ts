import { err, type Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import { type JsonValue, parseJson } from '../../../core/json/json-value.ts';
import type { SchemaRefusal } from '../../../core/log/document-schema.ts';
import type { DamageReason } from '../../../core/log/health.ts';

type DocumentRefusal = { readonly code: 'unknown_version'; readonly version: unknown } | SchemaRefusal;

/** Parses the JSON in the bytes of a file. */
export function parseJsonBytes(bytes: Uint8Array): Result<JsonValue, 'not_json'> {
  const buffer = bytes instanceof Buffer ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return parseJson(buffer.toString('utf8'));
}

/** Parses a stored document. Everything its parser refuses is damage, except for an unknown version. */
export function parseStored<Document>(
  place: string,
  bytes: Uint8Array,
  parse: (value: unknown) => Result<Document, DocumentRefusal>,
): Result<Document, StoreFailure> {
  const json = parseJsonBytes(bytes);
  if (json.isErr()) return err(damagedContent(place, 'content_not_json'));
  return parse(json.value).mapErr((refusal) =>
    refusal.code === 'unknown_version'
      ? { code: 'unknown_version', place, offset: 0, version: shownLabel(refusal.version) }
      : damagedContent(place, 'content_wrong_shape'),
  );
}

const SHOWN_MAX = 64;

/** A label from a file, for an error message. It may be any JSON value, so it must not be converted carelessly. */
export function shownLabel(label: unknown): string {
  const text = typeof label === 'string' ? label : (JSON.stringify(label) ?? 'none');
  return text.slice(0, SHOWN_MAX);
}

export function damagedContent(place: string, reason: DamageReason): StoreFailure {
  return { code: 'damaged', damage: { reason, place, offset: 0 } };
}
