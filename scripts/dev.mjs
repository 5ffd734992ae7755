// A live loop: types, unit tests and the bundle follow every saved file. Ctrl-C ends all of it.
import { spawn } from 'node:child_process';
import { context } from 'esbuild';
import { builds } from './build-options.mjs';

const children = [
  ['node_modules/typescript/bin/tsc', '-b', '--watch', '--preserveWatchOutput'],
  ['node_modules/vitest/vitest.mjs', '--watch', '--project=unit', '--clearScreen=false'],
].map((args) => spawn(process.execPath, args, { stdio: 'inherit' }));

const bundles = await Promise.all(
  Object.values(builds).map((one) => {
    // The compiler changes while this runs, so nothing is kept under its name.
    const define = { ...one.define, WORKRAIL_COMPILER: JSON.stringify(`dev-${Date.now()}`) };
    return context({ ...one, define, minify: false, sourcemap: true, logLevel: 'info' });
  }),
);
await Promise.all(bundles.map((bundle) => bundle.watch()));

let isEnding = false;
const end = async (exitCode) => {
  if (isEnding) return;
  isEnding = true;
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(bundles.map((bundle) => bundle.dispose()));
  process.exit(exitCode);
};
process.on('SIGINT', () => end(0));
process.on('SIGTERM', () => end(0));
// One part alone would look like a loop that is fine, so the end of any part ends the whole.
for (const child of children) child.on('exit', (code) => end(code ?? 1));
