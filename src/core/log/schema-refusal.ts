import { err, ok, type Result } from 'neverthrow';
import type * as z from 'zod';

/** A document that does not have the shape its version promises; the first offence is named. */
export type SchemaRefusal = { readonly code: 'wrong_shape'; readonly path: string; readonly message: string };

/**
 * Checks a stored document and returns the very value that came in, not a copy cut to the schema: optional fields that
 * a newer program added are kept.
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
