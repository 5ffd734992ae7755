import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import type { Script } from 'node:vm';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { openScripts, type Scripts } from './code-cache.ts';

/** What the engine was given for each script that was compiled, and whether it took it. */
const compiled: string[] = [];
vi.mock('node:vm', async (importOriginal) => {
  const real = await importOriginal<typeof import('node:vm')>();
  class Watched extends real.Script {
    constructor(...[source, options]: ConstructorParameters<typeof Script>) {
      super(source, options);
      const given = (options as { readonly cachedData?: Buffer }).cachedData;
      compiled.push(given === undefined ? 'compiled' : this.cachedDataRejected === true ? 'rejected' : 'kept');
    }
  }
  return { ...real, Script: Watched };
});

// The engine would find the scripts of an earlier test in memory and never look at what was kept.
setFlagsFromString('--no-compilation-cache');

let folder: string;
let data: string;

beforeEach(() => {
  compiled.length = 0;
  const root = mkdtempSync(join(tmpdir(), 'workrail-code-'));
  [folder, data] = [join(root, 'scripts'), join(root, 'data')];
  for (const path of [folder, data]) mkdirSync(path);
  writeScript('main.cjs', 'exports.twice = (n) => 2 * n; exports.later = () => require("./later.cjs");');
  writeScript('later.cjs', 'exports.name = require("node:path").basename("/a/b");');
});

afterEach(() => vi.restoreAllMocks());

function writeScript(name: string, text: string): void {
  writeFileSync(join(folder, name), `(function (exports, require, module) { ${text} })`);
  // A version that was written in the same millisecond would be taken for the same.
  utimesSync(join(folder, name), 1, 1_000 + text.length);
}

type Main = { readonly twice: (n: number) => number; readonly later: () => { readonly name: string } };

function run(): { readonly scripts: Scripts; readonly main: Main } {
  const scripts = openScripts(folder, data);
  return { scripts, main: scripts.load('main.cjs') as Main };
}

function runAndKeep(...done: readonly string[]): void {
  const { scripts, main } = run();
  main.twice(1);
  scripts.keep(new Set(done));
}

function keptFile(): string {
  const [name = ''] = readdirSync(join(data, 'cache', 'code'));
  return join(data, 'cache', 'code', name);
}

test('scripts load each other and modules of Node, each once', () => {
  const { scripts, main } = run();
  expect([main.twice(21), main.later(), scripts.load('main.cjs') === main]).toEqual([42, { name: 'b' }, true]);
  expect(main.later()).toBe(main.later());
  expect(compiled).toEqual(['compiled', 'compiled']);
});

test('a start writes nothing, and nothing is kept where there is no data folder', () => {
  enforces('startup_has_no_side_effects');
  run();
  expect(readdirSync(data)).toEqual([]);
  const nowhere = join(data, 'nowhere');
  const scripts = openScripts(folder, nowhere);
  scripts.load('main.cjs');
  scripts.keep(new Set(['list_workflows']));
  expect(existsSync(nowhere)).toBe(false);
});

test('the next process uses what was kept, and keeps more only after doing or loading something new', () => {
  runAndKeep('start_workflow');
  const before = readFileSync(keptFile());
  runAndKeep('start_workflow');
  expect(readFileSync(keptFile())).toEqual(before);
  expect(compiled).toEqual(['compiled', 'kept']);
  run().main.later();
  expect(compiled.splice(0)).toEqual(['compiled', 'kept', 'kept', 'compiled']);
  const { scripts, main } = run();
  main.later();
  scripts.keep(new Set());
  runAndKeep('continue_workflow');
  compiled.length = 0;
  run().main.later();
  // What the last process did not load is still there.
  expect(compiled).toEqual(['kept', 'kept']);
});

test('the next process uses code that was kept long after the start, in its first script and in a later one', () => {
  vi.useFakeTimers();
  const long = 60_000;
  try {
    const { scripts, main } = run();
    main.later();
    vi.advanceTimersByTime(long);
    scripts.keep(new Set(['start_workflow']));
    compiled.length = 0;
    const next = run();
    vi.advanceTimersByTime(long);
    next.main.later();
    expect(compiled).toEqual(['kept', 'kept']);
  } finally {
    vi.useRealTimers();
  }
});

test('a script that was replaced is compiled again, and the new code runs', () => {
  runAndKeep('start_workflow');
  writeScript('main.cjs', 'exports.twice = (n) => n + n + 0;');
  compiled.length = 0;
  expect(run().main.twice(4)).toBe(8);
  expect(compiled).toEqual(['compiled']);
});

test('no torn, changed or foreign file reaches the engine', () => {
  runAndKeep('start_workflow');
  const whole = readFileSync(keptFile());
  const flipped = Buffer.from(whole);
  flipped[whole.length - 9] = (whole.at(-9) ?? 0) ^ 1;
  const broken = [whole.subarray(0, -1), whole.subarray(0, 20), Buffer.alloc(0), Buffer.from('null\n'), flipped];
  for (const bytes of broken) {
    writeFileSync(keptFile(), bytes);
    compiled.length = 0;
    expect(run().main.twice(2)).toBe(4);
    expect(compiled).toEqual(['compiled']);
  }
  writeFileSync(keptFile(), whole);
  chmodSync(keptFile(), 0o666);
  compiled.length = 0;
  run();
  expect(compiled).toEqual([process.platform === 'win32' ? 'kept' : 'compiled']);
});

test('code that the engine does not take is compiled again and then kept', () => {
  runAndKeep('start_workflow');
  const kept = readFileSync(keptFile(), 'latin1');
  const { size, mtimeMs } = statSync(join(folder, 'later.cjs'));
  const [head = '', ...code] = kept.split('\n');
  const other = head.replace('main.cjs', 'later.cjs').replace(/"version":"[^"]*"/, `"version":"${size} ${mtimeMs}"`);
  writeFileSync(keptFile(), [other, ...code].join('\n'), 'latin1');
  compiled.length = 0;
  const scripts = openScripts(folder, data);
  expect(scripts.load('later.cjs')).toEqual({ name: 'b' });
  scripts.keep(new Set());
  openScripts(folder, data).load('later.cjs');
  expect(compiled).toEqual(['rejected', 'kept']);
});

test('nothing is said where nothing can be written', () => {
  writeFileSync(join(data, 'cache'), 'in the way');
  runAndKeep('start_workflow');
  expect(run().main.twice(3)).toBe(6);
});

test('a head that is not as it was written counts as nothing, and is written again', () => {
  runAndKeep('start_workflow');
  const damaged = readFileSync(keptFile());
  damaged.write('{"eone"', 0, 'latin1');
  writeFileSync(keptFile(), damaged);
  runAndKeep('start_workflow');
  expect(readFileSync(keptFile()).toString('latin1')).toContain('{"done":["start_workflow"]');
});
