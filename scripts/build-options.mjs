import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

/** How the program is bundled, once and while watching. Chunks are split so that a command loads only what it needs. */
export const buildOptions = {
  entryPoints: { workrail: 'src/compose.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  chunkNames: 'chunks/[name]-[hash]',
  mainFields: ['module', 'main'],
  external: ['fs-native-extensions'],
  define: { WORKRAIL_VERSION: JSON.stringify(version) },
  logLevel: 'warning',
};
