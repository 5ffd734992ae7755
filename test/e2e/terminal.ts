import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from 'node:child_process';
import { SMALL_PROGRAM } from './small-program.ts';

/** Whether tests can start a pseudo-terminal here. */
export const hasTerminal = spawnSync('script', ['--version']).status === 0;
if (!hasTerminal) console.log('SKIPPED: tests in a terminal need the program "script".');

/** What a person types once a text is on the screen that was not there at the last key. */
export type Typed = readonly [asked: RegExp, keys: string | ((seen: string) => string | Promise<string>)];

export const DOWN = '\u001b[B';
export const CTRL_C = '\u0003';

type Place = {
  readonly env: Record<string, string>;
  readonly cwd?: string;
  /** The small one by default. */
  readonly program?: string;
};

/** Starts a command of the built program in a pseudo-terminal of its own. */
export function spawnAtTerminal(
  args: readonly string[],
  { env, cwd, program = SMALL_PROGRAM }: Place,
): ChildProcessWithoutNullStreams {
  const words = [process.execPath, program, ...args].map((word) => `'${word}'`).join(' ');
  return spawn('script', ['-qec', `stty cols 200 rows 50; exec ${words}`, '/dev/null'], {
    env: { PATH: process.env['PATH'] ?? '', NO_COLOR: '1', TERM: 'xterm', ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: 'pipe',
  });
}

/** The same until it ends, with a person who types. */
export function atTerminal(
  args: readonly string[],
  { typed, ...place }: Place & { readonly typed: readonly Typed[] },
): Promise<{ readonly code: number | null; readonly text: string }> {
  const child = spawnAtTerminal(args, place);
  const left = [...typed];
  let text = '';
  let seenBefore = 0;
  const look = async () => {
    const [next] = left;
    if (next === undefined || !next[0].test(text.slice(seenBefore))) return;
    left.shift();
    seenBefore = text.length;
    const [, keys] = next;
    child.stdin.write(typeof keys === 'string' ? keys : await keys(text));
  };
  child.stdout.on('data', (part: Buffer) => {
    text += part.toString();
    look().catch((failure: unknown) => child.emit('error', failure));
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, text }));
  });
}
