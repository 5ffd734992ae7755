import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { NO_PROJECT, SMALL_PROGRAM } from '../small-program.ts';

/** A process that serves a team. */
export type Replica = {
  readonly pid: number;
  readonly port: number;
  readonly adminUrl: string;
  readonly stop: () => Promise<void>;
  readonly kill: () => Promise<void>;
};

export type ReplicaPlace = {
  /** The small program by default. */
  readonly program?: string;
  readonly env?: Readonly<Record<string, string>>;
};

/** A process of the program that was told to serve, and may not be ready yet. */
export type StartedReplica = { readonly ready: Promise<Replica>; readonly kill: () => Promise<void> };

export function beginReplica(args: readonly string[], place: ReplicaPlace = {}): StartedReplica {
  const { program = SMALL_PROGRAM, env = {} } = place;
  const child = spawn(process.execPath, [program, ...args, '--json'], {
    cwd: NO_PROJECT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, ...env },
  });
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  };
  const kill = () => end('SIGKILL');
  const ready = firstLine(child).then((line): Replica => {
    const { data } = JSON.parse(line) as { data: { url: string; adminUrl: string } };
    // Nobody reads on; a full pipe would stop the process.
    child.stdout?.resume();
    const { port } = new URL(data.url);
    return { pid: child.pid ?? 0, port: Number(port), adminUrl: data.adminUrl, stop: () => end('SIGTERM'), kill };
  });
  return { ready, kill };
}

/** A real process of the program, ready to serve. */
export function startReplica(args: readonly string[], place?: ReplicaPlace): Promise<Replica> {
  return beginReplica(args, place).ready;
}

async function firstLine(child: ChildProcess): Promise<string> {
  let [text, talk] = ['', ''];
  child.stderr?.on('data', (part) => {
    talk = `${talk}${part}`.slice(-4_000);
  });
  for await (const part of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    text += part;
    if (text.trimEnd().endsWith('}')) return text;
  }
  throw new Error(`the server ended: ${text} ${talk}`);
}
