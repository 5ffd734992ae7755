// Bundles the program into dist/. Chunks are split so that a command loads only what it needs.
import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';

rmSync('dist', { recursive: true, force: true });
await build({
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
  define: { WORKRAIL_VERSION: JSON.stringify(JSON.parse((await import('node:fs')).readFileSync('package.json', 'utf8')).version) },
  logLevel: 'warning',
});
chmodSync('dist/workrail.js', 0o755);
