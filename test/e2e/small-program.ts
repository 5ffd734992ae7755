import { fork, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
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
type Place = { readonly cwd: string; readonly env: Readonly<Record<string, string>> };

/** Runs commands of the small program, one after the other. */
export type CommandHost = {
  readonly run: (args: readonly string[], place: Place) => Promise<Ended>;
  readonly end: () => void;
};

/**
 * One process for all commands, for tests in which the process is not what is looked at: starting it is most of what a
 * command costs. A long check starts a process for every command.
 */
export function commandHost(): CommandHost {
  if (isLong) {
    const run: CommandHost['run'] = async (args, place) => {
      const ran = spawnSync(process.execPath, [SMALL_PROGRAM, ...args], { ...place, encoding: 'utf8', input: '' });
      return { exitCode: ran.status, out: ran.stdout, talk: ran.stderr };
    };
    return { run, end: () => undefined };
  }
  const child = fork('test/e2e/command-host.mjs', { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  return {
    run: (args, place) =>
      new Promise((done, fail) => {
        const onExit = (code: number | null) => fail(new Error(`the process of the commands ended with ${code}`));
        child.once('exit', onExit);
        child.once('message', (ended) => {
          child.off('exit', onExit);
          done(ended as Ended);
        });
        child.send({ program: SMALL_PROGRAM, args, ...place });
      }),
    end: () => child.disconnect(),
  };
}
