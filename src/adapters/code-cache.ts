import { hash } from 'node:crypto';
import { closeSync, constants, existsSync, fstatSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
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

/** The scripts in a folder. A start only reads, and what it finds is used only if nobody else could have written it. */
export function openScripts(folder: string, data = likelyDataDir(process)): Scripts {
  const place = join(data, 'cache', 'code');
  const file = join(place, hash('sha256', `${process.version} ${process.arch} ${folder}`).slice(0, 32));
  const modules = new Map<string, { exports: unknown }>();
  const loaded = new Map<string, Loaded>();
  const builtin = createRequire(join(folder, 'script.cjs'));
  let { done: known, codes } = readKept(file);
  let isComplete = true;

  function keptCode(name: string, version: string): Buffer | undefined {
    const found = codes.get(name);
    return found?.version === version && hash('sha256', found.code) === found.sha256 ? found.code : undefined;
  }

  function load(name: string): unknown {
    const before = modules.get(name);
    if (before !== undefined) return before.exports;
    const path = join(folder, name);
    const version = versionOf(path);
    const cachedData = keptCode(name, version);
    // The build makes sure that each byte is one character.
    const source = `(function(exports,require,module){${readFileSync(path, 'latin1')}\n})`;
    const script = new Script(source, { filename: path, ...(cachedData === undefined ? {} : { cachedData }) });
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
    keep: (done) => {
      const isNew = [...done].some((one) => !known.includes(one));
      // A server that was only asked what it can do creates no data folder.
      if ((isNew || !isComplete) && existsSync(data)) {
        known = [...new Set([...known, ...done])];
        isComplete = true;
        const unused = [...codes.values()].filter(({ name }) => !loaded.has(name));
        putCached(file, keptBytes(known, [...unused, ...compiled(loaded)]));
        removeOldest(place, FILES_MAX);
      }
      // Scripts are rarely loaded so late, and what is left of the file would stay in memory for them.
      codes = new Map();
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

type KeptCode = {
  readonly done: readonly string[];
  readonly codes: Map<string, Code>;
};

/** What earlier processes kept. The engine trusts compiled code, so a file counts only if nobody else can write to it. */
function readKept(file: string): KeptCode {
  const codes: KeptCode['codes'] = new Map();
  try {
    const bytes = readOwn(file);
    const end = bytes.indexOf(NEWLINE);
    const { done, scripts } = JSON.parse(bytes.toString('latin1', 0, end)) as Kept;
    let at = end + 1;
    for (const script of scripts) {
      codes.set(script.name, { ...script, code: bytes.subarray(at, at + script.length) });
      at += script.length;
    }
    return { done, codes };
  } catch {
    return { done: [], codes };
  }
}

function readOwn(file: string): Buffer {
  const opened = openRegular(file, constants.O_RDONLY);
  try {
    const { uid, mode } = fstatSync(opened);
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    return isOurs ? readFileSync(opened) : Buffer.alloc(0);
  } finally {
    closeSync(opened);
  }
}
