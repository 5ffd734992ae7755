#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import type { WorkflowCatalog } from './app/catalog/workflow-catalog.ts';
import type { Services, Store, Upkeep } from './app/services.ts';
import { runCommand } from './cli/main.ts';

declare const WORKRAIL_VERSION: string;

const INTERRUPTED = 130;
process.once('SIGINT', () => {
  if (process.stderr.isTTY) process.stderr.write('\n');
  process.exit(INTERRUPTED);
});
// Whoever reads our output may stop reading; that is no failure. Anything else that goes wrong there is.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

const exitCode = await runCommand({
  version: WORKRAIL_VERSION,
  argv: process.argv.slice(2),
  env: process.env,
  // Node makes a stream when it is first looked at, which takes time.
  terminal: {
    isInput: () => process.stdin.isTTY === true,
    isOutput: () => process.stdout.isTTY === true,
    isError: () => process.stderr.isTTY === true,
  },
  write: (text) => process.stdout.write(text),
  writeError: (text) => process.stderr.write(text),
  dataDir: findDataDir,
  store: openStore,
  serve: async () => {
    const [{ serveMcp }, services] = await Promise.all([import('./mcp/server.ts'), composeServices()]);
    serveMcp(services, WORKRAIL_VERSION);
  },
});
if (exitCode !== undefined) process.exitCode = exitCode;

async function findDataDir(): Promise<string> {
  const { dataDir } = await import('./adapters/data-dir.ts');
  return dataDir(process.env, process.platform);
}

async function openStore(): Promise<Store & Upkeep> {
  const [root, { fileStore }, { nodeHasher }] = await Promise.all([
    findDataDir(),
    import('./adapters/file-store/file-store.ts'),
    import('./adapters/node-hasher.ts'),
  ]);
  return fileStore(root, nodeHasher.sha256);
}

/** Joins ports to adapters; no other file does. Loaded when a command needs it, so that the others stay fast. */
async function composeServices(): Promise<Services> {
  const [store, catalog, { nodeHasher }, { randomIds }, { systemClock }] = await Promise.all([
    openStore(),
    openCatalog(),
    import('./adapters/node-hasher.ts'),
    import('./adapters/random-ids.ts'),
    import('./adapters/system-clock.ts'),
  ]);
  return {
    ...store,
    catalog,
    hasher: nodeHasher,
    clock: systemClock,
    ids: randomIds(systemClock),
    tokenForm: process.env['WORKRAIL_TOKEN_FORMAT'] === 'v1' ? 'json' : 'compact',
  };
}

async function openCatalog(): Promise<WorkflowCatalog> {
  const [{ workflowCatalog }, { compileWorkflow }, files, { nodeFolderAccess }, { re2Patterns }, { nodeHasher }] =
    await Promise.all([
      import('./app/catalog/workflow-catalog.ts'),
      import('./core/workflow/compile-workflow.ts'),
      import('./adapters/workflow-files/workflow-files.ts'),
      import('./adapters/workflow-files/folder-access.ts'),
      import('./adapters/re2-patterns.ts'),
      import('./adapters/node-hasher.ts'),
    ]);
  const { sha256 } = nodeHasher;
  const compilePattern = re2Patterns();
  const bundled = fileURLToPath(new URL('../workflows', import.meta.url));
  return workflowCatalog(files.workflowFiles(files.fixedFolders(bundled), nodeFolderAccess), {
    sha256,
    compile: (input) => compileWorkflow(input, { sha256, compilePattern }),
  });
}
