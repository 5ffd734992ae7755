// Bundles the program into dist/, and compiles the workflows that come with it.
import { chmodSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { builds, compilerId } from './build-options.mjs';

rmSync('dist', { recursive: true, force: true });
await Promise.all([...Object.values(builds).map((options) => build(options)), compileLibrary()]);
chmodSync('dist/workrail.js', 0o755);

async function compileLibrary() {
  const outfile = resolve('.cache/library.mjs');
  const entry = 'scripts/library.ts';
  await build({
    entryPoints: [entry],
    outfile,
    bundle: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20',
    logLevel: 'warning',
  });
  const { writeLibrary } = await import(pathToFileURL(outfile).href);
  await writeLibrary('workflows', 'dist/library.jsonl', compilerId);
}
