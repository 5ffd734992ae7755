// Bundles the program into dist/.
import { chmodSync, rmSync } from 'node:fs';
import { build } from 'esbuild';
import { builds } from './build-options.mjs';

rmSync('dist', { recursive: true, force: true });
await Promise.all(Object.values(builds).map((options) => build(options)));
chmodSync('dist/workrail.js', 0o755);
