import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { canonicalLength, isJson } from '../json/canonical-json.ts';
import { isObject, type JsonObject, type JsonValue } from '../json/json-value.ts';
import { utf8Length } from '../text/utf8.ts';

/** A text of at most `bytesMax` UTF-8 bytes. A longer stored text is refused, never cut. */
export function textSchema(bytesMax: number, options: { readonly isEmptyAllowed?: boolean } = {}): z.ZodString {
  const fits = z.string().refine((text) => text.isWellFormed() && utf8Length(text) <= bytesMax, {
    error: `must be well-formed text of at most ${bytesMax} bytes in UTF-8`,
  });
  return options.isEmptyAllowed === true ? fits : fits.min(1);
}

/** A text that is not only white space. */
export function nonBlankSchema(bytesMax: number): z.ZodString {
  return textSchema(bytesMax).regex(/\S/, { error: 'must not be blank' });
}

/** Any strict JSON value. */
export const jsonValueSchema = z.custom<JsonValue>(isJson, {
  error: 'must be JSON',
  abort: true,
});

/** Any JSON object. Further refinements may rely on its being JSON. */
export const jsonObjectSchema = z.custom<JsonObject>((value) => isObject(value) && isJson(value), {
  error: 'must be a JSON object',
  abort: true,
});

/** Facts that no rule reads, of at most `bytesMax` bytes. */
export function detailsSchema(bytesMax: number) {
  return jsonObjectSchema.refine((details) => canonicalLength(details) <= bytesMax, {
    error: `must take at most ${bytesMax} bytes as canonical JSON`,
  });
}

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

/** A text at the first problem that could be a member of a closed set, which a newer version may have added. */
export function unknownMember(schema: z.ZodType, value: unknown): string | undefined {
  const issue = schema.safeParse(value).error?.issues[0];
  const isMember = issue?.code === 'invalid_value' || (issue?.code === 'invalid_union' && 'note' in issue);
  if (issue === undefined || !isMember) return undefined;
  const found = issue.path.reduce<unknown>((at, key) => (at as { [key: PropertyKey]: unknown })?.[key], value);
  return typeof found === 'string' && MEMBER.test(found) ? `${issue.path.join('.')} ${found}` : undefined;
}

const MEMBER = /^[a-z][a-z0-9_]*$/;
