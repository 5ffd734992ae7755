import * as z from 'zod';
import type { Launch } from './launch.ts';

const variables = z.record(z.string(), z.string());
const plainEntry = z.object({
  command: z.string(),
  args: z.array(z.string()).optional(),
  env: variables.nullish(),
});
const listedEntry = z.object({ command: z.tuple([z.string()], z.string()), environment: variables.nullish() });

/** What an entry of any client starts; `undefined` when it is no entry that starts a program. */
export function registeredLaunch(entry: unknown): Launch | undefined {
  const plain = plainEntry.safeParse(entry);
  if (plain.success) return { command: plain.data.command, args: plain.data.args ?? [], env: plain.data.env ?? {} };
  const listed = listedEntry.safeParse(entry);
  if (!listed.success) return undefined;
  const [command, ...args] = listed.data.command;
  return { command, args, env: listed.data.environment ?? {} };
}
