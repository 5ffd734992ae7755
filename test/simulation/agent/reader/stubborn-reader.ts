import type { Reply } from './obedient-reader.ts';

/** A reader that does not read: it sends the same wrong thing again a few times, and looks only at the last answer. */
export async function stubbornly(send: () => Promise<Reply>, times: number): Promise<Reply> {
  let reply = await send();
  for (let i = 1; i < times; i++) reply = await send();
  return reply;
}
