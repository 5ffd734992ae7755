import pg from 'pg';
import { CONNECT_MS, type Database, type Notices, sql } from './database.ts';

const NOTIFY = sql('notify', "select pg_notify('wr', $1)");
/** A notification inside an append would halve the appends of a second, so changes are gathered this long. */
const GATHER_MS = 250;
const RECONNECT_MS = 2_000;

/** `listenUrl` leads to the database itself: through a pooling proxy, no notification arrives. */
export function databaseNotices(database: Pick<Database, 'run'>, listenUrl: string): Notices {
  const watchers = new Map<number, Set<() => void>>();
  const unsent = new Set<number>();
  let sending: NodeJS.Timeout | undefined;
  let line: { readonly client: pg.Client; isOpen: boolean } | undefined;
  let reconnecting: NodeJS.Timeout | undefined;

  const tell = (spaceId: number) => watchers.get(spaceId)?.forEach((onChange) => void onChange());
  const hearing = gathered((spaces) => [...(spaces ?? watchers.keys())].forEach(tell));

  async function send(): Promise<void> {
    clearTimeout(sending);
    sending = undefined;
    const spaces = [...unsent];
    unsent.clear();
    // Should it fail, those who watch see the change when they look by themselves.
    if (spaces.length > 0) await database.run(NOTIFY, [spaces.slice(0, SPACES_MAX).join(' ')]);
  }

  function listen(): void {
    if (line !== undefined || watchers.size === 0) return;
    const client = new pg.Client({
      connectionString: listenUrl,
      connectionTimeoutMillis: CONNECT_MS,
      keepAlive: true,
      application_name: 'workrail listen',
    });
    const opened = { client, isOpen: false };
    line = opened;
    const lost = () => {
      if (line !== opened) return;
      line = undefined;
      reconnecting = setTimeout(listen, RECONNECT_MS);
      reconnecting.unref();
      client.end().catch(() => undefined);
    };
    client.on('error', lost).on('end', lost);
    client.on('notification', ({ payload = '' }) => hearing.add(payload));
    client
      .connect()
      .then(() => client.query('listen wr'))
      .then(() => {
        opened.isOpen = true;
        // What changed while nobody listened.
        for (const spaceId of watchers.keys()) tell(spaceId);
      })
      .catch(lost);
  }

  async function hangUp(): Promise<void> {
    clearTimeout(reconnecting);
    hearing.forget();
    const ended = line;
    line = undefined;
    await ended?.client.end().catch(() => undefined);
  }

  return {
    changed: (spaceId) => {
      unsent.add(spaceId);
      sending ??= setTimeout(() => void send(), GATHER_MS).unref();
    },
    watch: (spaceId, onChange) => {
      const those = watchers.get(spaceId) ?? new Set();
      watchers.set(spaceId, those.add(onChange));
      listen();
      return () => {
        those.delete(onChange);
        if (those.size === 0) watchers.delete(spaceId);
        if (watchers.size === 0) void hangUp();
      };
    },
    isListening: () => line?.isOpen === true,
    close: async () => {
      watchers.clear();
      await send();
      await hangUp();
    },
  };
}

/** A notification has at most 8,000 bytes. */
const SPACES_MAX = 500;
/** After so many different notifications at once, all spaces are meant. */
const HEARD_MAX = 100;

/** Gathers notifications: anyone who may connect to the database can send as many as they like. `undefined` are all spaces. */
function gathered(handOn: (spaces: ReadonlySet<number> | undefined) => void) {
  const heard = new Set<string>();
  let waiting: NodeJS.Timeout | undefined;
  const forget = () => {
    clearTimeout(waiting);
    waiting = undefined;
    heard.clear();
  };
  const end = () => {
    const isMuch = heard.size >= HEARD_MAX;
    const spaces = isMuch ? undefined : new Set([...heard].flatMap((payload) => payload.split(' ').map(Number)));
    forget();
    handOn(spaces);
  };
  return {
    add: (payload: string) => {
      if (heard.size < HEARD_MAX) heard.add(payload);
      waiting ??= setTimeout(end, GATHER_MS).unref();
    },
    forget,
  };
}
