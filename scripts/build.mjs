// Bundles the program into dist/.
import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { buildOptions } from './build-options.mjs';

rmSync('dist', { recursive: true, force: true });
await build(buildOptions);
chmodSync('dist/workrail.js', 0o755);
