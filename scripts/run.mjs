// Runs a TypeScript file: Node 20 cannot, so it is bundled into .cache/ first. Usage: node scripts/run.mjs FILE [ARGS]
import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const [entry, ...args] = process.argv.slice(2);
if (!entry) {
  console.error('usage: node scripts/run.mjs FILE [ARGS]');
  process.exit(2);
}
const outfile = resolve('.cache', `${basename(entry, '.ts')}.mjs`);
mkdirSync('.cache', { recursive: true });

/** Helpers of tests find their files beside themselves, not beside the bundle. */
const ownPlaces = {
  name: 'own-places',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]test[/\\].*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      return { contents: text.replaceAll('import.meta.url', JSON.stringify(pathToFileURL(path).href)), loader: 'ts' };
    }),
};

await build({
  entryPoints: [entry],
  outfile,
  bundle: true,
  packages: 'external',
  format: 'esm',
  platform: 'node',
  target: 'node20',
  plugins: [ownPlaces],
});
process.argv = [process.argv[0], outfile, ...args];
await import(pathToFileURL(outfile).href);
