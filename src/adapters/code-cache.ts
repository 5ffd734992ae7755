import { hash } from 'node:crypto';
import { closeSync, constants, existsSync, fstatSync, readFileSync, readSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { Script } from 'node:vm';
import { likelyDataDir } from './data-dir.ts';
import { openRegular, putCached, removeOldest } from './guarded-file.ts';

/** The scripts of a program, which are compiled once per machine and not in each process. */
export type Scripts = {
  /** What a script exports. It runs when it is first asked for. */
  load(name: string): unknown;
  /** Keeps the compiled form of what this process ran, for later ones; `done` names what it did. */
  keep(done: ReadonlySet<string>): void;
};

type Loaded = { readonly script: Script; readonly version: string };
type Kept = {
  /** What was done by the processes that compiled this. A function is compiled when it is first called. */
  readonly done: readonly string[];
  readonly scripts: readonly KeptScript[];
};
type KeptScript = {
  readonly name: string;
  /** Changes with the script. */
  readonly version: string;
  readonly length: number;
  readonly sha256: string;
};

const NEWLINE = 0x0a;
/** One for each version of Node and place of the program. */
const FILES_MAX = 8;
/** Far more than the description of all scripts, and than the code of one. */
const HEAD_BYTES_MAX = 2 ** 14;
const CODE_BYTES_MAX = 2 ** 25;

/**
 * The space for young objects begins small and doubles. Until it has grown, what a start loads is copied again and again,
 * and the first steps of a run wait for a collection of the whole heap; a space that has grown to its limit takes memory
 * from the machine for nothing. So it becomes four times as large at once, and then stays as it is. The rest of the heap
 * may become half as large again as what is in use, where the default is twice as large or more: a client keeps one
 * server for each chat, and most of them wait.
 * A function is optimised after twice as many calls as by default. One of the first five steps of a run took twice the
 * time of the others, because functions were optimised that most chats do not call often enough to gain from it.
 */
function tuneEngine(): TunedEngine {
  let isGrowing = true;
  const setGrowth = () => setFlagsFromString(`--semi-space-growth-factor=${isGrowing ? 4 : 1}`);
  setGrowth();
  setFlagsFromString('--heap-growing-percent=50');
  // Engines after that of Node 20 do not know this flag, and would say so on standard error.
  if (process.versions.node.startsWith('20.')) setFlagsFromString('--interrupt-budget=135168');
  setTimeout(() => {
    isGrowing = false;
    setGrowth();
  }, LOADED_AFTER_MS).unref();
  return {
    asGrown: (work) => {
      const before = isGrowing;
      isGrowing = false;
      setGrowth();
      const value = work();
      isGrowing = before;
      setGrowth();
      return value;
    },
  };
}

/** The engine takes compiled code only under the very flags under which it was made. */
type TunedEngine = {
  /** Works under the flags that stay. */
  asGrown<Value>(work: () => Value): Value;
};

/** By then, everything that the first reply needs is loaded. */
const LOADED_AFTER_MS = 20;

/** The scripts in a folder. A start only reads, and what it finds is used only if nobody else could have written it. */
export function openScripts(folder: string, data = likelyDataDir(process)): Scripts {
  const { asGrown } = tuneEngine();
  const place = join(data, 'cache', 'code');
  const file = join(place, hash('sha256', `${process.version} ${process.arch} ${folder}`).slice(0, 32));
  const modules = new Map<string, { exports: unknown }>();
  const loaded = new Map<string, Loaded>();
  const builtin = createRequire(join(folder, 'script.cjs'));
  const { done, kept } = readKept(file);
  let known = done;
  let isComplete = true;

  function keptCode(name: string, version: string): Buffer | undefined {
    const found = kept.get(name);
    return found?.version === version ? codeIn(file, found)[0]?.code : undefined;
  }

  function load(name: string): unknown {
    const before = modules.get(name);
    if (before !== undefined) return before.exports;
    const path = join(folder, name);
    const version = versionOf(path);
    const cachedData = keptCode(name, version);
    // The build makes sure that each byte is one character, and that the whole is one function.
    const source = readFileSync(path, 'latin1');
    const options = { filename: path, ...(cachedData === undefined ? {} : { cachedData }) };
    const script = asGrown(() => new Script(source, options));
    if (cachedData === undefined || script.cachedDataRejected === true) isComplete = false;
    loaded.set(name, { script, version });
    const module = { exports: {} };
    modules.set(name, module);
    const require = (id: string) => (id.startsWith('./') ? load(id.slice(2)) : builtin(id));
    script.runInThisContext()(module.exports, require, module);
    return module.exports;
  }

  return {
    load,
    keep: (nowDone) => {
      const isNew = [...nowDone].some((one) => !known.includes(one));
      // A server that was only asked what it can do creates no data folder.
      if ((!isNew && isComplete) || !existsSync(data)) return;
      known = [...new Set([...known, ...nowDone])];
      isComplete = true;
      const unused = [...kept.values()].filter(({ name }) => !loaded.has(name));
      const codes = asGrown(() => compiled(loaded));
      putCached(file, keptBytes(known, [...unused.flatMap((one) => codeIn(file, one)), ...codes]));
      removeOldest(place, FILES_MAX);
    },
  };
}

function versionOf(path: string): string {
  const { size, mtimeMs } = statSync(path);
  return `${size} ${mtimeMs}`;
}

type Code = KeptScript & { readonly code: Buffer };

function compiled(loaded: ReadonlyMap<string, Loaded>): readonly Code[] {
  return [...loaded].map(([name, { script, version }]) => {
    const code = script.createCachedData();
    return { name, version, length: code.length, sha256: hash('sha256', code), code };
  });
}

/** One line that describes the compiled scripts, then their bytes in the same order. */
function keptBytes(done: readonly string[], codes: readonly Code[]): Uint8Array {
  const head: Kept = { done, scripts: codes.map(({ code: _, ...script }) => script) };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...codes.map(({ code }) => code)]);
}

type Placed = KeptScript & { readonly at: number };

/** What earlier processes kept, without the code itself. */
function readKept(file: string) {
  const kept = new Map<string, Placed>();
  try {
    const head = readOwn(file, { at: 0, length: HEAD_BYTES_MAX });
    const end = head.indexOf(NEWLINE);
    const { done, scripts } = JSON.parse(head.toString('latin1', 0, end)) as Kept;
    // What is not as it was written is as good as nothing, and is written again.
    if (!Array.isArray(done) || !done.every((one) => typeof one === 'string')) return { done: [], kept };
    let at = end + 1;
    for (const script of scripts) {
      kept.set(script.name, { ...script, at });
      at += script.length;
    }
    return { done, kept };
  } catch {
    return { done: [], kept };
  }
}

/** The code of a script; none if another process has replaced the file, or if it is damaged. */
function codeIn(file: string, { at, ...script }: Placed): readonly Code[] {
  try {
    const code = readOwn(file, { at, length: script.length });
    return hash('sha256', code) === script.sha256 ? [{ ...script, code }] : [];
  } catch {
    return [];
  }
}

/** The engine trusts compiled code, so a file counts only if nobody else can write to it. */
function readOwn(file: string, { at, length }: { readonly at: number; readonly length: number }): Buffer {
  const opened = openRegular(file, constants.O_RDONLY);
  try {
    const { uid, mode } = fstatSync(opened);
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    const bytes = Buffer.allocUnsafeSlow(isOurs ? Math.min(length, CODE_BYTES_MAX) : 0);
    return bytes.subarray(0, readSync(opened, bytes, 0, bytes.length, at));
  } finally {
    closeSync(opened);
  }
}
