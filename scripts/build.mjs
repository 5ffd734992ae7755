// Bundles the program and the page of the console into dist/, and compiles the workflows that come with it.
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { build as buildPage } from 'vite';
import { builds, compilerId, page } from './build-options.mjs';

rmSync('dist', { recursive: true, force: true });
await Promise.all([...Object.values(builds).map((options) => build(options)), compileLibrary(), buildPage(page)]);
// Browsers get the compressed files, so nothing else is shipped.
for (const name of readdirSync('dist/console/assets')) {
  const file = `dist/console/assets/${name}`;
  writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
  rmSync(file);
}
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
