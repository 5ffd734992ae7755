import * as z from 'zod';
import { errorEnvelopeSchema } from '../core/log/error-envelope.ts';
import { commandName } from './command.ts';
import { COMMANDS } from './command-list.ts';

const errorShape = errorEnvelopeSchema.extend({ fix: z.string().min(1) });

/**
 * What a command prints under `--json`. `ok` is true exactly when the exit code is 0; a check that found something wrong
 * has both its data and the error.
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

/** What each command prints under `--json`, by name. */
export async function commandShapes(): Promise<{ readonly [command: string]: z.ZodType }> {
  const loaded = await Promise.all(
    COMMANDS.map(async (entry) => [commandName(entry), (await entry.load()).data] as const),
  );
  return Object.fromEntries(
    loaded.flatMap(([name, data]) => (data === undefined ? [] : [[name, commandShape(name, data)]])),
  );
}
