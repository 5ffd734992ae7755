import { existsSync, mkdirSync } from 'node:fs';
import module from 'node:module';
import { join } from 'node:path';

/** Node 22.1 and later keep compiled code in a folder, which they read at once and write when the process ends. */
type EnableCompileCache = (folder: string) => unknown;

const { enableCompileCache } = module as { readonly enableCompileCache?: EnableCompileCache };

/** Part of the cache: anybody may delete it. Node separates versions and platforms itself. */
function codeFolder(dataDir: string): string {
  return join(dataDir, 'cache', 'code');
}

/** Uses the compiled code of earlier processes. A start writes nothing, so there must have been a run before. */
export function enableCodeCache(dataDir: string, enable: EnableCompileCache | undefined = enableCompileCache): void {
  const folder = codeFolder(dataDir);
  if (enable !== undefined && existsSync(folder)) enable(folder);
}

/** Makes the folder for later processes. A failure changes nothing but their speed. */
export function prepareCodeCache(dataDir: string, enable: EnableCompileCache | undefined = enableCompileCache): void {
  if (enable === undefined) return;
  try {
    mkdirSync(codeFolder(dataDir), { recursive: true, mode: 0o700 });
  } catch {
    // Full or read-only: the store says so where it matters.
  }
}
