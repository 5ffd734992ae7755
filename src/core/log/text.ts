import * as z from 'zod';
import { canonicalJson } from '../json/canonical-json.ts';
import type { JsonObject, JsonValue } from '../json/json-value.ts';
import { utf8Length } from '../json/utf8.ts';

/** A text of at most so many UTF-8 bytes. Stored text is never cut while reading: too long is refused. */
export function textSchema(bytesMax: number, options: { readonly isEmptyAllowed?: boolean } = {}): z.ZodString {
  const fits = z.string().refine((text) => text.isWellFormed() && utf8Length(text) <= bytesMax, {
    error: `must be well-formed text of at most ${bytesMax} bytes in UTF-8`,
  });
  return options.isEmptyAllowed === true ? fits : fits.min(1);
}

/** Any strict JSON value. */
export const jsonValueSchema = z.custom<JsonValue>((value) => canonicalJson(value).isOk(), { error: 'must be JSON' });

/** A JSON object of free shape, for facts that no rule reads. */
export const jsonObjectSchema = z.custom<JsonObject>(
  (value) => typeof value === 'object' && value !== null && !Array.isArray(value) && canonicalJson(value).isOk(),
  { error: 'must be a JSON object' },
);
