#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import type { Result } from 'neverthrow';
import type { SettingProblem, Settings } from './adapters/environment.ts';
import type { WorkflowCatalog } from './app/catalog/workflow-catalog.ts';
import type { Services, Store, Upkeep } from './app/services.ts';
import { runCommand } from './cli/main.ts';
import type { Exchange, ServeOptions, ServeRefusal } from './cli/program.ts';
import type { Backend } from './mcp/server.ts';

declare const WORKRAIL_VERSION: string;

const bundledFolder = fileURLToPath(new URL('../workflows', import.meta.url));

const INTERRUPTED = 130;
/** What a server that is told to end does first. */
let stopServing = async (): Promise<void> => undefined;
process.once('SIGINT', () => {
  if (process.stderr.isTTY) process.stderr.write('\n');
  stopServing().finally(() => process.exit(INTERRUPTED));
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
  exchange: openExchange,
  serve,
});
if (exitCode !== undefined) process.exitCode = exitCode;

async function refuseToServe({ name, value, expected }: SettingProblem): Promise<void> {
  const { EXIT } = await import('./cli/exit-codes.ts');
  process.stderr.write(`workrail: ${name} is ${JSON.stringify(value)}; it may be ${expected}. Nothing was started.\n`);
  process.exitCode = EXIT.usage;
}

/** Serves MCP. Only the protocol is loaded before the first reply. */
async function serve(how: ServeOptions): Promise<Result<{ readonly url?: string }, ServeRefusal>> {
  const [{ readSettings }, { mcpBackend }, { ok }, onStdio] = await Promise.all([
    import('./adapters/environment.ts'),
    import('./mcp/backend.ts'),
    import('neverthrow'),
    how.transport === 'stdio' ? import('./mcp/transport/serve-stdio.ts') : undefined,
  ]);
  const settings = readSettings(process.env);
  if (settings.isErr()) {
    await refuseToServe(settings.error);
    return ok({});
  }
  process.once('SIGTERM', () => stopServing().finally(() => process.exit()));
  const isLogged = how.isLogged || settings.value.isLogged;
  const { isSessionStartOn } = settings.value;
  const services = () => composeServices(settings.value);
  const backend = mcpBackend({ version: WORKRAIL_VERSION, services, isLogged, isSessionStartOn });
  if (how.transport === 'http') return serveHttp(backend, how.port);
  stopServing = onStdio?.serveMcpOnStdio(backend).stop ?? stopServing;
  return ok({});
}

async function serveHttp(backend: Backend, port: number): Promise<Result<{ readonly url: string }, ServeRefusal>> {
  const [{ mcpHttpHandler }, { serveLocal }] = await Promise.all([
    import('./mcp/transport/http-handler.ts'),
    import('./http/serve-local.ts'),
  ]);
  const mcp = mcpHttpHandler(backend);
  const server = await serveLocal({ port, mcp: mcp.fetch });
  return server.map(({ url, stop }) => {
    stopServing = async () => {
      await mcp.stop();
      await stop();
    };
    return { url };
  });
}

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

async function openExchange(): Promise<Exchange> {
  const [
    store,
    { nodeBundleTools },
    { createBundleFile, readBundleFile, streamOutput },
    { breather },
    { randomIds },
    { systemClock },
    { ok },
  ] = await Promise.all([
    openStore(),
    import('./adapters/exchange/node-bundle-tools.ts'),
    import('./adapters/exchange/bundle-files.ts'),
    import('./adapters/file-store/breather.ts'),
    import('./adapters/random-ids.ts'),
    import('./adapters/system-clock.ts'),
    import('neverthrow'),
  ]);
  return {
    services: {
      ...store,
      tools: nodeBundleTools,
      breathe: breather(),
      ids: randomIds(systemClock),
      appVersion: WORKRAIL_VERSION,
      now: () => new Date(systemClock.nowMs()).toISOString(),
    },
    input: readBundleFile,
    output: async (file) => (file === undefined ? ok(streamOutput(process.stdout)) : createBundleFile(file)),
  };
}

/** Joins ports to adapters; no other file does. Loaded when a command needs it, so that the others stay fast. */
async function composeServices({ tokenForm }: Settings): Promise<Services> {
  const [
    store,
    catalog,
    { gitObserver },
    { referenceFiles },
    { PRESETS },
    { nodeHasher },
    { randomIds },
    { systemClock },
  ] = await Promise.all([
    openStore(),
    openCatalog(),
    import('./adapters/git-observer.ts'),
    import('./adapters/reference-files.ts'),
    import('./core/log/preferences.ts'),
    import('./adapters/node-hasher.ts'),
    import('./adapters/random-ids.ts'),
    import('./adapters/system-clock.ts'),
  ]);
  return {
    ...store,
    catalog,
    patterns: { load: async () => (await import('./adapters/patterns/re2-patterns.ts')).re2Patterns() },
    workspace: gitObserver(nodeHasher),
    references: referenceFiles(bundledFolder),
    defaults: PRESETS.guided,
    hasher: nodeHasher,
    clock: systemClock,
    ids: randomIds(systemClock),
    tokenForm,
  };
}

async function openCatalog(): Promise<WorkflowCatalog> {
  const [
    { workflowCatalog },
    { compileWorkflow },
    { BUNDLED_ALIASES },
    files,
    { nodeFolderAccess },
    { re2Patterns },
    { nodeHasher },
  ] = await Promise.all([
    import('./app/catalog/workflow-catalog.ts'),
    import('./core/workflow/compile-workflow.ts'),
    import('./core/workflow/builtins/bundled-aliases.ts'),
    import('./adapters/workflow-files/workflow-files.ts'),
    import('./adapters/workflow-files/folder-access.ts'),
    import('./adapters/patterns/re2-patterns.ts'),
    import('./adapters/node-hasher.ts'),
  ]);
  const { sha256 } = nodeHasher;
  const compilePattern = re2Patterns();
  return workflowCatalog(files.workflowFiles(files.fixedFolders(bundledFolder), nodeFolderAccess), {
    sha256,
    aliases: BUNDLED_ALIASES,
    compile: (input) => compileWorkflow(input, { sha256, compilePattern }),
  });
}
