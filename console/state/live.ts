import type { ConsoleEvent } from '../../src/core/wire/console-shapes.ts';
import { BASE, headers, jsonLines, pathOf } from './api.ts';

export type Connection = 'live' | 'off';

type Told =
  | { readonly kind: 'changed' | 'signed_out' }
  | { readonly kind: 'connection'; readonly connection: Connection };

const RETRY_MS = 1_000;
/** Each space of a team server has a stream of its own. */
const LOCK = `workrail-live${BASE}`;

/**
 * Hears of changes. Browsers open only six connections to a server, so one tab of the browser holds the stream and tells
 * the others.
 */
export function listen(onTold: (told: Told) => void): void {
  const channel = new BroadcastChannel(LOCK);
  channel.onmessage = ({ data }) => onTold(data as Told);
  const tell = (told: Told) => {
    onTold(told);
    channel.postMessage(told);
  };
  void navigator.locks.request(LOCK, async () => {
    for (;;) {
      await readEvents(tell).catch(() => undefined);
      tell({ kind: 'connection', connection: 'off' });
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  });
}

async function readEvents(tell: (told: Told) => void): Promise<void> {
  const response = await fetch(pathOf('events', {}), { headers: headers() });
  if (response.status === 401) tell({ kind: 'signed_out' });
  if (!response.ok) return;
  for await (const { kind } of jsonLines<ConsoleEvent>(response)) {
    // What happened while nobody listened is seen by asking again.
    if (kind === 'hello') tell({ kind: 'connection', connection: 'live' });
    if (kind !== 'ping') tell({ kind: 'changed' });
  }
}
