import type { ErrorEnvelope } from '../../src/core/log/error-envelope.ts';
import { CONSOLE_PATHS, PAGE_KEY_HEADER } from '../../src/core/wire/console-paths.ts';
import type { ConsoleInput, ConsoleReply } from '../../src/core/wire/console-shapes.ts';

/** A request that was refused, with what the server says about it. */
export class Refused extends Error {
  readonly envelope: ErrorEnvelope;
  readonly status: number;

  constructor(envelope: ErrorEnvelope, status: number) {
    super(envelope.message);
    this.envelope = envelope;
    this.status = status;
  }
}

const KEY_PLACE = 'workrail-key';
const CHANNEL = 'workrail-key';
const ASK_MS = 250;

let key = sessionStorage.getItem(KEY_PLACE) ?? '';

export function headers(): Record<string, string> {
  return { [PAGE_KEY_HEADER]: key };
}

/** A tab that was opened by hand asks the others for the key; pages of other ports cannot hear this. */
export async function signIn(): Promise<boolean> {
  const code = location.hash.slice(1);
  if (code !== '') {
    // The code must not stay in the address or in the history.
    history.replaceState(null, '', `${location.pathname}${location.search}`);
    await redeem(code);
  }
  if (key === '') keep(await askOtherTabs());
  if (key === '') return false;
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    if (data === 'ask' && key !== '') channel.postMessage({ key });
  };
  return true;
}

export function signOut(): void {
  keep('');
}

function keep(value: string): void {
  key = value;
  if (value === '') sessionStorage.removeItem(KEY_PLACE);
  else sessionStorage.setItem(KEY_PLACE, value);
}

async function redeem(code: string): Promise<void> {
  const response = await fetch(CONSOLE_PATHS.signIn[1], {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code } satisfies ConsoleInput<'signIn'>),
  });
  if (response.ok) keep(((await response.json()) as ConsoleReply<'signIn'>).key);
}

function askOtherTabs(): Promise<string> {
  return new Promise((resolve) => {
    const channel = new BroadcastChannel(CHANNEL);
    const end = (value: string) => {
      channel.close();
      resolve(value);
    };
    channel.onmessage = ({ data }) => {
      if (typeof data?.key === 'string') end(data.key);
    };
    channel.postMessage('ask');
    setTimeout(() => end(''), ASK_MS);
  });
}

type Read = 'about' | 'sessions' | 'session' | 'prompt' | 'resume' | 'waiting';
type Places = { readonly session?: string; readonly node?: string; readonly run?: string };

function pathOf(name: keyof typeof CONSOLE_PATHS, { session = '', node = '', run = '' }: Places): string {
  return CONSOLE_PATHS[name][1]
    .replace(':session', encodeURIComponent(session))
    .replace(':node', encodeURIComponent(node))
    .replace(':run', encodeURIComponent(run));
}

export async function read<Path extends Read>(
  name: Path,
  places: Places = {},
  query: { readonly [name: string]: string | number | undefined } = {},
): Promise<ConsoleReply<Path>> {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([word, value]) => [word, String(value)])).toString();
  return answered(await fetch(`${pathOf(name, places)}${search === '' ? '' : `?${search}`}`, { headers: headers() }));
}

type Write = 'answer' | 'mark';

export async function write<Path extends Write>(
  name: Path,
  places: Places,
  given: ConsoleInput<Path>,
): Promise<ConsoleReply<Path>> {
  return answered(
    await fetch(pathOf(name, places), {
      method: 'POST',
      headers: { ...headers(), 'content-type': 'application/json' },
      body: JSON.stringify(given),
    }),
  );
}

/** Saves a report of a session as a file. The key is sent in a header, so a plain link cannot do this. */
export async function saveReport(session: string, as: ConsoleInput<'report'>['as'], fileName: string): Promise<void> {
  const response = await fetch(`${pathOf('report', { session })}?as=${as}`, { headers: headers() });
  if (!response.ok) return answered(response);
  const link = document.createElement('a');
  link.href = URL.createObjectURL(await response.blob());
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(link.href);
}

async function answered<Reply>(response: Response): Promise<Reply> {
  const body = (await response.json()) as Reply & { readonly error: ErrorEnvelope };
  if (!response.ok) throw new Refused(body.error, response.status);
  return body;
}
