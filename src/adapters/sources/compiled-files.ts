import { hash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { CompiledFiles, KeptFile } from '../../app/ports/workflow-sources.ts';
import type { CompiledFile } from '../../core/workflow/compiled/compiled-file.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { putCached, readCached, removeOldest } from '../guarded-file.ts';

/** Names the compiler that made a kept file: another one may make something else of the same text. */
export type CompilerId = string;

type Made = { readonly file: CompiledFile; readonly bytes: Uint8Array };

type Places = {
  readonly compiler: CompilerId;
  /** The file with everything that comes with the program. */
  readonly library?: string;
  /** The data directory. Files of users and projects are kept in it, if it exists. */
  readonly dataDir?: string;
};

/** Compiled files of the program and of this machine. A place that is missing, old or damaged has nothing to offer. */
export function nodeCompiledFiles({ compiler, library, dataDir }: Places): CompiledFiles {
  let bundled: ReadonlyMap<string, KeptFile> | undefined;
  const inLibrary = (key: string) => {
    bundled ??= new Map(library === undefined ? [] : readLibrary(library, compiler));
    return bundled.get(key);
  };
  const cache = dataDir === undefined ? undefined : fileCache(dataDir, compiler);
  return {
    digest: (text) => hash('sha256', text),
    find: (digest, place) => {
      const key = keyOf({ digest, place });
      return inLibrary(key) ?? cache?.find(key);
    },
    keep: (make) => cache?.keep(make),
  };
}

function keyOf({ digest, place }: Pick<CompiledFile, 'digest' | 'place'>): string {
  return `${digest} ${place.isBundled} ${place.isInRoutines}`;
}

/** The workflow is parsed when it is first asked for: most of them never are. */
function keptFile(file: CompiledFile, bytes: Uint8Array): KeptFile {
  let read: ReturnType<KeptFile['read']> | undefined;
  return {
    file,
    read: () => {
      read ??= { bytes, workflow: JSON.parse(textIn(bytes)) as CompiledWorkflow };
      return read;
    },
  };
}

const NEWLINE = 0x0a;

type LibraryHead = {
  readonly compiler: CompilerId;
  readonly files: readonly (CompiledFile & { readonly length: number })[];
};

/** One line that describes the files, then their workflows in the same order. */
export function libraryBytes(made: readonly Made[], compiler: CompilerId): Uint8Array {
  const files = made.map(({ file, bytes }) => ({ ...file, length: bytes.length }));
  const head: LibraryHead = { compiler, files };
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), ...made.map(({ bytes }) => bytes)]);
}

function readLibrary(path: string, compiler: CompilerId): readonly (readonly [string, KeptFile])[] {
  const bytes = readCached(path);
  if (bytes === undefined) return [];
  const end = bytes.indexOf(NEWLINE);
  const head = parsed<LibraryHead>(bytes.subarray(0, Math.max(end, 0)));
  if (head?.compiler !== compiler) return [];
  const whole = head.files.reduce((sum, { length }) => sum + length, end + 1);
  if (bytes.length !== whole) return [];
  let at = end + 1;
  return head.files.map(({ length, ...file }) => {
    const own = bytes.subarray(at, at + length);
    at += length;
    return [keyOf(file), keptFile(file, own)];
  });
}

function parsed<Value>(bytes: Uint8Array): Value | undefined {
  try {
    return JSON.parse(textIn(bytes)) as Value;
  } catch {
    return undefined;
  }
}

/** More than a workspace and its sources can have. */
const FILES_MAX = 4_096;
/** What is kept must not delay the reply of the call that computed it. */
const DELAY_MS = 100;

/** One file for each compiled file, named by what it was made from. Anybody may delete them at any time. */
function fileCache(dataDir: string, compiler: CompilerId) {
  const folder = join(dataDir, 'cache', 'workflows');
  const pathOf = (key: string) => join(folder, hash('sha256', `${compiler} ${key}`));
  const waiting: (() => Made | undefined)[] = [];
  const keepOne = () => {
    const made = waiting.shift()?.();
    if (made !== undefined) putCached(pathOf(keyOf(made.file)), cachedBytes(made));
    if (waiting.length > 0) setImmediate(keepOne).unref();
    else removeOldest(folder, FILES_MAX);
  };
  return {
    find: (key: string) => {
      const bytes = readCached(pathOf(key));
      return bytes === undefined ? undefined : cachedFile(bytes, key);
    },
    keep: (make: () => Made | undefined) => {
      if (!existsSync(dataDir)) return;
      waiting.push(make);
      if (waiting.length === 1) setTimeout(keepOne, DELAY_MS).unref();
    },
  };
}

/** The digest of everything after it, so that damage is seen; then the description, then the workflow. */
function cachedBytes({ file, bytes }: Made): Uint8Array {
  const rest = Buffer.concat([Buffer.from(`${JSON.stringify(file)}\n`), bytes]);
  return Buffer.concat([Buffer.from(`${hash('sha256', rest)}\n`), rest]);
}

function cachedFile(bytes: Buffer, key: string): KeptFile | undefined {
  const begin = bytes.indexOf(NEWLINE) + 1;
  const rest = bytes.subarray(begin);
  if (begin === 0 || textIn(bytes.subarray(0, begin - 1)) !== hash('sha256', rest)) return undefined;
  const end = rest.indexOf(NEWLINE);
  const file = JSON.parse(textIn(rest.subarray(0, end))) as CompiledFile;
  return keyOf(file) === key ? keptFile(file, rest.subarray(end + 1)) : undefined;
}

function textIn(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}
