#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import type { Services } from './app/services.ts';
import { runCommand } from './cli/main.ts';

declare const WORKRAIL_VERSION: string;

const exitCode = await runCommand({
  version: WORKRAIL_VERSION,
  argv: process.argv.slice(2),
  isInputTerminal: process.stdin.isTTY === true,
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  serve: async () => {
    const [{ serveMcp }, services] = await Promise.all([import('./mcp/server.ts'), composeServices()]);
    serveMcp(services, WORKRAIL_VERSION);
  },
});
if (exitCode !== undefined) process.exitCode = exitCode;

/** Joins ports to adapters; no other file does. Loaded when a command needs it, so that the others stay fast. */
async function composeServices(): Promise<Services> {
  const [{ dataDir }, { bundledWorkflows }, { fileStore }, { nodeHasher }, { randomIds }, { systemClock }] =
    await Promise.all([
      import('./adapters/data-dir.ts'),
      import('./adapters/bundled-workflows.ts'),
      import('./adapters/file-store/file-store.ts'),
      import('./adapters/node-hasher.ts'),
      import('./adapters/random-ids.ts'),
      import('./adapters/system-clock.ts'),
    ]);
  return {
    ...fileStore(dataDir(process.env, process.platform), nodeHasher.sha256),
    workflows: bundledWorkflows(fileURLToPath(new URL('../workflows', import.meta.url))),
    hasher: nodeHasher,
    clock: systemClock,
    ids: randomIds(systemClock),
    tokenForm: process.env['WORKRAIL_TOKEN_FORMAT'] === 'v1' ? 'json' : 'compact',
  };
}
