import * as z from 'zod';
import { errorEnvelopeSchema } from '../core/log/error-envelope.ts';

const errorShape = errorEnvelopeSchema.extend({ fix: z.string().min(1) });

/**
 * What a command prints under `--json`. `ok` is true exactly when it ends with exit code 0; a check that found something
 * wrong gives both its data and the error.
 */
export function commandShape<Data extends z.ZodType>(command: string, data: Data) {
  const head = { v: z.literal(1) };
  return z.discriminatedUnion('ok', [
    z.strictObject({ ok: z.literal(true), ...head, command: z.literal(command), data }),
    z.strictObject({
      ok: z.literal(false),
      ...head,
      command: z.literal(command).optional(),
      error: errorShape,
      data: data.optional(),
    }),
  ]);
}
