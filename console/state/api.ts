import type { ErrorEnvelope } from '../../src/core/log/error-envelope.ts';
import { CONSOLE_PATHS, type ConsolePath, PAGE_KEY_HEADER } from '../../src/core/wire/console-paths.ts';
import type { CONSOLE_REPLIES, ConsoleInput, ConsoleLine, ConsoleReply } from '../../src/core/wire/console-shapes.ts';
import { TEAM_PATHS, type TeamPath } from '../../src/core/wire/team-paths.ts';
import { isViewed, NOT_OPEN, viewedOf } from './viewed.ts';

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

/** What comes before every path: nothing on this machine, the space on a team server. */
export const BASE = /^\/s\/[^/]+/.exec(location.pathname)?.[0] ?? '';

/** A team server has no folders, clients or settings of one machine, so their pages are not offered. */
export const IS_TEAM = BASE !== '';

const KEY_PLACE = 'workrail-key';
const CHANNEL = 'workrail-key';
const ASK_MS = 250;

let key = sessionStorage.getItem(KEY_PLACE) ?? '';

export function headers(): Record<string, string> {
  return { [PAGE_KEY_HEADER]: key };
}

/** Whether the page may ask for anything; if somebody is known and has no role in the space, why not. */
export type SignedIn = { readonly kind: 'in' | 'out' } | { readonly kind: 'refused'; readonly error: ErrorEnvelope };

/** A tab that was opened by hand asks the others for the key; pages of other ports cannot hear this. */
export async function signIn(): Promise<SignedIn> {
  if (IS_TEAM) return signInToTeam();
  const code = location.hash.slice(1);
  if (code !== '') {
    // The code must not stay in the address or in the history.
    history.replaceState(null, '', `${location.pathname}${location.search}`);
    await redeem(code);
  }
  if (key === '') keep(await askOtherTabs());
  if (key === '') return { kind: 'out' };
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    if (data === 'ask' && key !== '') channel.postMessage({ key });
  };
  // Tabs of a console that was started again wait for somebody who has a link of the new one.
  channel.postMessage({ key });
  return { kind: 'in' };
}

/** The cookie of a team server says who it is; only a page of its own can read the key. */
async function signInToTeam(): Promise<SignedIn> {
  const response = await askForKey('');
  if (response.status === 403) return { kind: 'refused', error: ((await response.json()) as Answered).error };
  if (response.ok) key = ((await response.json()) as ConsoleReply<'signIn'>).key;
  return { kind: response.ok ? 'in' : 'out' };
}

/** Waits for a tab that was signed in by another link. */
export function onSignedIn(onKey: () => void): () => void {
  const channel = new BroadcastChannel(CHANNEL);
  channel.onmessage = ({ data }) => {
    if (typeof data?.key !== 'string' || data.key === key) return;
    keep(data.key);
    onKey();
  };
  return () => channel.close();
}

/** Where a browser signs in to come back to a place in the space; `isAgain` makes it prove who it is. */
export function signInAddress(to: string, isAgain: boolean): string {
  return `${BASE}/sign-in?${new URLSearchParams({ to, ...(isAgain && { again: '1' }) })}`;
}

export function signOut(): void {
  keep('');
}

function keep(value: string): void {
  key = value;
  if (value === '') sessionStorage.removeItem(KEY_PLACE);
  else sessionStorage.setItem(KEY_PLACE, value);
}

function askForKey(code: string): Promise<Response> {
  return fetch(pathOf('signIn', {}), {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ code } satisfies ConsoleInput<'signIn'>),
  });
}

async function redeem(code: string): Promise<void> {
  const response = await askForKey(code);
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

export type Read = Exclude<keyof typeof CONSOLE_REPLIES, Write | 'signIn'>;
export type Places = { readonly session?: string; readonly node?: string; readonly run?: string };

const PATHS = { ...CONSOLE_PATHS, ...TEAM_PATHS };

export function pathOf(name: ConsolePath | TeamPath, { session = '', node = '', run = '' }: Places): string {
  return `${BASE}${PATHS[name][1]}`
    .replace(':session', encodeURIComponent(session))
    .replace(':node', encodeURIComponent(node))
    .replace(':run', encodeURIComponent(run));
}

export async function read<Path extends Read>(
  name: Path,
  places: Places = {},
  query: Query = {},
): Promise<ConsoleReply<Path>> {
  if (places.session !== undefined && isViewed(places.session)) {
    const viewed = viewedOf(places.session);
    if (viewed === undefined) throw new Refused(NOT_OPEN, 404);
    return viewed.read(name, places, query) as Promise<ConsoleReply<Path>>;
  }
  return answered(await fetch(`${pathOf(name, places)}${searchOf(query)}`, { headers: headers() }));
}

export type Query = { readonly [name: string]: string | number | undefined };

function searchOf(query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== '');
  const search = new URLSearchParams(given.map(([word, value]) => [word, String(value)])).toString();
  return search === '' ? '' : `?${search}`;
}

/** Requests that change something, and are answered at once. */
export type Write = Exclude<
  { [name in keyof typeof PATHS]: (typeof PATHS)[name][0] extends 'POST' ? name : never }[keyof typeof PATHS],
  'signIn' | 'import'
>;

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

/** A reply that comes line by line, the last of which says what came of it. */
export async function* readLines<Path extends 'import' | 'search'>(
  name: Path,
  query: ConsoleInput<Path>,
  more: RequestInit = {},
): AsyncGenerator<ConsoleLine<Path>> {
  const [method] = CONSOLE_PATHS[name];
  const type = method === 'POST' ? { 'content-type': 'application/json' } : {};
  const asked = { ...more, method, headers: { ...headers(), ...type } };
  const response = await fetch(`${pathOf(name, {})}${searchOf(query)}`, asked);
  if (!response.ok) return answered(response);
  yield* jsonLines<ConsoleLine<Path>>(response);
}

/** The lines of a body, each as soon as it is there. */
export async function* jsonLines<Line>({ body }: Response): AsyncGenerator<Line> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { value = '', done } = (await reader?.read()) ?? { done: true };
    const lines = (rest + value).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield JSON.parse(line) as Line;
    if (done) return;
  }
}

export type Export = ConsoleInput<'report'> & { readonly sessions: readonly string[] };

/** What was recorded, as a document. The key is sent in a header, so a plain link cannot do this. */
export async function readExport({ sessions, as, redact, withhold }: Export): Promise<Blob> {
  const [session = '', ...also] = sessions;
  const query = { as, redact, withhold, also: also.join(',') };
  const response = await fetch(`${pathOf('report', { session })}${searchOf(query)}`, { headers: headers() });
  return response.ok ? response.blob() : answered(response);
}

export function saveFile(content: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}

type Answered = { readonly error: ErrorEnvelope };

async function answered<Reply>(response: Response): Promise<Reply> {
  const body = (await response.json()) as Reply & Answered;
  if (!response.ok) throw new Refused(body.error, response.status);
  return body;
}
