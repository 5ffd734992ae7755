import { fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { isLong } from '../volume.ts';

/** The workflows that pages and tests name. Reading all others would be most of what a command does. */
const NAMED = 'wr.first_steps';
/** The pages name this one, too. Here it is the small one under its name: that a library is good is tested elsewhere. */
const ALSO_NAMED = 'wr.code_review';

/** The folder of the built program with a small library. Made once before the tests, by the function below. */
const SMALL = resolve('.cache', 'small-program');

/** The built program with a small library, for tests in which the library is not what is looked at. */
export const SMALL_PROGRAM = join(SMALL, 'dist', 'workrail.js');
/** A working directory in which there are no workflows. */
export const NO_PROJECT = join(SMALL, 'dist');

/** Vitest calls this once before the tests of the project. It is renamed whole, so that runs at once do not meet half of it. */
export function setup(): void {
  const made = `${SMALL}-${process.pid}`;
  mkdirSync(join(made, 'workflows'), { recursive: true });
  for (const part of ['dist', 'schemas', 'package.json']) cpSync(part, join(made, part), { recursive: true });
  for (const kind of ['json', 'test.json']) {
    const text = readFileSync(join('workflows', `${NAMED}.${kind}`), 'utf8');
    writeFileSync(join(made, 'workflows', `${NAMED}.${kind}`), text);
    const other = JSON.parse(text.replaceAll(NAMED, ALSO_NAMED));
    if (kind === 'json') Object.assign(other, { name: 'Code review', description: 'Reviews.', about: 'A review.' });
    writeFileSync(join(made, 'workflows', `${ALSO_NAMED}.${kind}`), JSON.stringify(other, null, 2));
  }
  rmSync(SMALL, { recursive: true, force: true });
  renameSync(made, SMALL);
}

type Ended = { readonly exitCode: number | null; readonly out: string; readonly talk: string };
type Place = {
  readonly cwd?: string;
  readonly env: Readonly<Record<string, string>>;
  /** The small one by default. */
  readonly program?: string;
};

/** A process that runs commands and servers of the built program, one after the other. */
type Host = {
  readonly send: (message: object) => void;
  /** Called with everything it says, until somebody else wants to hear it. */
  hear: (message: Said) => void;
};
type Said =
  | { readonly kind: 'output'; readonly part: string }
  | { readonly kind: 'ended'; readonly exitCode?: number; readonly out?: string; readonly talk?: string };

/** Those that nobody uses now. They end with the tests. */
const free: Host[] = [];

function takeHost(): Host {
  return free.pop() ?? newHost();
}

function newHost(): Host {
  const child = fork('test/e2e/program-host.mjs', { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const host: Host = { send: (message) => child.send(message), hear: () => undefined };
  child.on('message', (message) => host.hear(message as Said));
  child.once('exit', (code) => {
    if (free.includes(host)) free.splice(free.indexOf(host), 1);
    else host.hear({ kind: 'ended', talk: `The process of the program ended with ${code}.` });
  });
  child.unref();
  child.channel?.unref();
  return host;
}

/**
 * Runs a command of the small program, for tests in which the process is not what is looked at: starting it is most of
 * what a command costs. A long check starts a process for every command.
 */
export async function runSmall(args: readonly string[], place: Place): Promise<Ended> {
  const { env, program = SMALL_PROGRAM } = place;
  const cwd = resolve(place.cwd ?? NO_PROJECT);
  if (isLong) return runApart([program, ...args], { cwd, env });
  const host = takeHost();
  const said = await new Promise<Said>((hear) => {
    host.hear = hear;
    host.send({ kind: 'run', program, args, cwd, env });
  });
  const { exitCode, out, talk = '' } = said as Extract<Said, { kind: 'ended' }>;
  if (exitCode === undefined || out === undefined) throw new Error(talk);
  free.push(host);
  return { exitCode, out, talk };
}

/** In a process of its own. A test may play a server to the command meanwhile, so its thread must not wait for the end. */
async function runApart(args: readonly string[], { cwd, env }: Required<Pick<Place, 'cwd' | 'env'>>): Promise<Ended> {
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [ended, out, talk] = await Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]);
  return { exitCode: ended[0] as number | null, out, talk };
}

/** How a client talks to a server of the small program that has a process to itself, but not a new one. */
export type HostedTransport = {
  start(): Promise<void>;
  send(message: object): Promise<void>;
  close(): Promise<void>;
  onmessage?: (message: never) => void;
  onclose?: () => void;
};

export function hostedTransport({ cwd = NO_PROJECT, env }: Place): HostedTransport {
  let host: Host | undefined;
  let rest = '';
  const transport: HostedTransport = {
    start: async () => {
      host = takeHost();
      host.hear = (said) => {
        if (said.kind === 'ended') return transport.onclose?.();
        const lines = `${rest}${said.part}`.split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) transport.onmessage?.(JSON.parse(line) as never);
      };
      host.send({ kind: 'serve', program: SMALL_PROGRAM, cwd, env: { ...usual(), ...env } });
    },
    send: async (message) => host?.send({ kind: 'input', line: `${JSON.stringify(message)}\n` }),
    close: async () => {
      const used = host;
      host = undefined;
      if (used === undefined) return;
      await new Promise<void>((ended) => {
        used.hear = ({ kind }) => kind === 'ended' && ended();
        used.send({ kind: 'end' });
      });
      free.push(used);
      transport.onclose?.();
    },
  };
  return transport;
}

/** What the libraries of clients pass on to every server. */
function usual(): Record<string, string> {
  const names = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'];
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  );
}
