import * as z from 'zod';
import { canonicalJson } from '../json/canonical-json.ts';
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
export const jsonValueSchema = z.custom<JsonValue>((value) => canonicalJson(value).isOk(), {
  error: 'must be JSON',
  abort: true,
});

/** Any JSON object. Further refinements may rely on its being JSON. */
export const jsonObjectSchema = z.custom<JsonObject>((value) => isObject(value) && canonicalJson(value).isOk(), {
  error: 'must be a JSON object',
  abort: true,
});

/** Facts that no rule reads, of at most `bytesMax` bytes. */
export function detailsSchema(bytesMax: number) {
  return jsonObjectSchema.refine((details) => canonicalLength(details) <= bytesMax, {
    error: `must take at most ${bytesMax} bytes as canonical JSON`,
  });
}

/** The size of a JSON value in the log. */
export function canonicalLength(value: JsonValue): number {
  return utf8Length(canonicalJson(value).unwrapOr(''));
}
