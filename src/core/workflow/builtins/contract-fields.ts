import * as z from 'zod';
import { utf8Length } from '../../text/utf8.ts';
import { ANY_CASE, BYTES_MAX } from './shape.ts';

/** A text that says something. */
export const text = z.string().min(1);

export const confidence = z.enum(['high', 'medium', 'low']);

/** Steps of one scale everywhere, worst first. */
export const SEVERITIES = ['critical', 'major', 'minor', 'nit'] as const;

/** A list of short texts. It may be empty: an agent that has nothing to say must not make something up. */
export function texts(countMax: number): z.ZodArray<z.ZodString> {
  return z.array(text).max(countMax);
}

/** Texts, or objects of the agent's own choice where a sentence is not enough. */
export const remarks = z.array(z.union([text, z.looseObject({})]));

/** A text that is stored with an event and must fit there. */
export function shortText(bytesMax: number): z.ZodString {
  return text.refine((value) => utf8Length(value) <= bytesMax).meta({ [BYTES_MAX]: bytesMax });
}

/** Words that agents write in any case. The schema knows the declared form; the check brings a word into it. */
export function anyCase<const Words extends readonly [string, ...string[]]>(words: Words) {
  return z.enum(words).meta({ [ANY_CASE]: true });
}

/** Where something is. */
export const location = z.strictObject({ file: text, line: z.int().min(1) });
