import { existsSync, type FSWatcher, statSync, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { ConsoleAssets, StoreFeed } from '../app/ports/console.ts';

const TYPES: { readonly [extension: string]: string } = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** No separators and no dots at the start, so no name leads out of the folder. */
const SAFE_NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;

const NONCE_PLACE = '%STYLE_NONCE%';

/** The files that the build wrote, each compressed once and for all. */
export function consoleAssets(folder: string): ConsoleAssets {
  return {
    file: async (name, isGzipAccepted) => {
      const type = TYPES[extname(name)];
      if (type === undefined || !SAFE_NAME.test(name)) return undefined;
      const packed = await read(join(folder, 'assets', `${name}.gz`));
      if (packed === undefined) return undefined;
      const headers = { 'content-type': type, 'cache-control': 'public, max-age=31536000, immutable' };
      return isGzipAccepted
        ? { body: packed, headers: { ...headers, 'content-encoding': 'gzip', vary: 'accept-encoding' } }
        : { body: new Uint8Array(gunzipSync(packed)), headers };
    },
    page: async (styleNonce) => {
      const text = await read(join(folder, 'index.html'));
      return text && new TextDecoder().decode(text).replaceAll(NONCE_PLACE, styleNonce);
    },
  };
}

async function read(path: string): Promise<Uint8Array<ArrayBuffer> | undefined> {
  try {
    return new Uint8Array(await readFile(path));
  } catch {
    // The build makes all of them; what is not there does not exist.
    return undefined;
  }
}

/** How often the index is looked at where the system reports no changes, as on some network disks. */
const LOOK_MS = 1_000;

/** Changes that come together are reported once. */
const SETTLE_MS = 30;

/** Every append, mark and removal writes to the folder of the index. */
export function fileStoreFeed(folder: string): StoreFeed {
  const listeners = new Set<() => void>();
  let stopWatching: (() => void) | undefined;
  const tell = () => {
    for (const listener of listeners) listener();
  };
  return {
    watch: (onChange) => {
      listeners.add(onChange);
      stopWatching ??= watchFolder(folder, tell);
      return () => {
        listeners.delete(onChange);
        if (listeners.size > 0) return;
        stopWatching?.();
        stopWatching = undefined;
      };
    },
  };
}

function watchFolder(folder: string, tell: () => void): () => void {
  let settling: NodeJS.Timeout | undefined;
  const changed = () => {
    settling ??= setTimeout(() => {
      settling = undefined;
      tell();
    }, SETTLE_MS);
  };
  let watcher = watched(folder, changed);
  let last = stampOf(folder);
  const looks = setInterval(() => {
    const now = stampOf(folder);
    if (now === last) return;
    last = now;
    changed();
    // The folder is made with the first session.
    watcher ??= watched(folder, changed);
  }, LOOK_MS);
  looks.unref();
  return () => {
    watcher?.close();
    clearInterval(looks);
    clearTimeout(settling);
  };
}

function watched(folder: string, onChange: () => void): FSWatcher | undefined {
  if (!existsSync(folder)) return undefined;
  try {
    const watcher = watch(folder, { persistent: false }, onChange);
    watcher.on('error', () => watcher.close());
    return watcher;
  } catch {
    // Some systems cannot watch; looking every second is enough.
    return undefined;
  }
}

function stampOf(folder: string): string {
  try {
    const { mtimeMs, size } = statSync(join(folder, 'sessions.jsonl'));
    return `${mtimeMs} ${size}`;
  } catch {
    return '';
  }
}
