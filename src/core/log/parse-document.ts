import { err, ok, type Result } from 'neverthrow';
import type * as z from 'zod';
import { isObject } from '../json/json-value.ts';

/** A document that does not have the shape of its version, with its first problem. */
export type SchemaRefusal = { readonly code: 'wrong_shape'; readonly path: string; readonly message: string };

/** The fields that determine how the rest of a document is parsed. */
export type Label = { readonly v?: unknown; readonly kind?: unknown };

/** The label of a JSON value, which must have these fields. Without a schema, because every line of a session is checked. */
export function labelOf(value: unknown, fields: readonly (keyof Label)[]): Result<Label, SchemaRefusal> {
  if (!isObject(value)) return err({ code: 'wrong_shape', path: '', message: 'expected an object' });
  const missing = fields.find((field) => !Object.hasOwn(value, field));
  return missing === undefined ? ok(value) : err({ code: 'wrong_shape', path: `/${missing}`, message: 'is missing' });
}

/**
 * Checks a stored document and returns the same value, not a copy with only the fields of the schema: optional fields
 * that a newer version added are kept.
 */
export function parseDocument<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): Result<z.infer<Schema>, SchemaRefusal> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return ok(value as z.infer<Schema>);
  const issue = parsed.error.issues[0];
  const path = (issue?.path ?? []).map((key) => `/${String(key)}`).join('');
  return err({ code: 'wrong_shape', path, message: issue?.message ?? 'wrong shape' });
}
