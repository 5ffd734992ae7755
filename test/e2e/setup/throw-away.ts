import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { runSmall, SMALL_PROGRAM } from '../small-program.ts';

type Ended = { readonly exitCode: number | null; readonly out: string; readonly talk: string };

/** Another program than the built one, and more variables. */
type More = { readonly program?: string; readonly env?: Record<string, string> };

/** A home folder that is thrown away, with a folder to work in and programs of its own. */
export type ThrowAway = {
  readonly root: string;
  readonly home: string;
  readonly work: string;
  readonly env: Record<string, string>;
  readonly start: (args: readonly string[], more?: More) => ChildProcessWithoutNullStreams;
  readonly run: (args: readonly string[], more?: More) => Promise<Ended>;
  readonly put: (path: string, text: string) => void;
  /** Every file of the home folder, by its path. */
  readonly files: () => { readonly [path: string]: string };
  readonly remove: () => void;
};

export function throwAway(prefix = 'workrail-setup-'): ThrowAway {
  const root = mkdtempSync(join(tmpdir(), prefix));
  const [home, work, bin] = ['home', 'work', 'bin'].map((name) => join(root, name)) as [string, string, string];
  for (const folder of [home, work, bin]) mkdirSync(folder);
  symlinkSync(process.execPath, join(bin, 'node'));
  const env = { HOME: home, PATH: `${bin}:/usr/bin:/bin`, TERM: 'dumb' };
  const start: ThrowAway['start'] = (args, more = {}) =>
    spawn(process.execPath, [more.program ?? SMALL_PROGRAM, ...args], { cwd: work, env: { ...env, ...more.env } });
  return {
    root,
    home,
    work,
    env,
    start,
    run: (args, more = {}) => {
      if (more.program === undefined) return runSmall(args, { cwd: work, env: { ...env, ...more.env } });
      const child = start(args, more);
      child.stdin.end();
      return ending(child);
    },
    put: (path, text) => {
      mkdirSync(dirname(join(home, path)), { recursive: true });
      writeFileSync(join(home, path), text);
    },
    files: () =>
      Object.fromEntries(filesBelow(home).map((path) => [relative(home, path), readFileSync(path, 'latin1')])),
    remove: () => rmSync(root, { recursive: true, force: true }),
  };
}

/** The built program in a folder of its own, without anything it may use but need not. */
export function loneProgram(root: string, version: string): string {
  const folder = join(root, `lone-${version}`);
  for (const part of ['dist', 'workflows']) cpSync(part, join(folder, part), { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'workrail', version, type: 'module' }));
  return join(folder, 'dist', 'workrail.js');
}

function filesBelow(folder: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? filesBelow(path) : [path]));
}

export function ending(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  const ended = { out: '', talk: '' };
  child.stdout.on('data', (part: Buffer) => {
    ended.out += part.toString();
  });
  child.stderr.on('data', (part: Buffer) => {
    ended.talk += part.toString();
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode, ...ended }));
  });
}
