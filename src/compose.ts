#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import type { Result } from 'neverthrow';
import { calledAs } from './adapters/setup/called-as.ts';
import type { Settings } from './adapters/setup/config/settings.ts';
import type { WorkflowCatalog } from './app/catalog/workflow-catalog.ts';
import type { Setup } from './app/machine/setup/setup.ts';
import type { Services, Store, Upkeep } from './app/services.ts';
import { runCommand } from './cli/main.ts';
import type { Exchange, ServeOptions, ServeRefusal, Serving } from './cli/program.ts';
import type { ConfigProblem } from './core/machine/config/resolve-config.ts';
import type { Backend } from './mcp/server.ts';

declare const WORKRAIL_VERSION: string;

const program = fileURLToPath(import.meta.url);
const bundledFolder = fileURLToPath(new URL('../workflows', import.meta.url));

const FAILED = 1;
const INTERRUPTED = 130;
/** What a server that is told to end does first. */
let stopServing = async (): Promise<void> => undefined;
let isInterrupted = false;
process.on('SIGINT', () => {
  // Who presses it again waits for nothing more, but what would be left behind is still taken away.
  if (isInterrupted) process.exit(INTERRUPTED);
  isInterrupted = true;
  if (process.stderr.isTTY) process.stderr.write('\n');
  stopServing().finally(() => process.exit(INTERRUPTED));
});
// Whoever reads our output may stop reading; that is no failure. Anything else that goes wrong there is, but not ours.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  const why = error.code === 'ENOSPC' ? 'no space is left where it goes' : (error.code ?? error.message);
  writeError(`workrail: The output could not be written: ${why}.\n`);
  process.exit(FAILED);
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
    columns: () => process.stdout.columns ?? process.stderr.columns,
  },
  write: (text) => process.stdout.write(text),
  writeError,
  calledAs: () => calledAs({ env: process.env, cwd: process.cwd(), program }),
  dataDir: findDataDir,
  store: openStore,
  exchange: openExchange,
  listing: async () => {
    const [{ openListing }, root] = await Promise.all([import('./compose/listing.ts'), findDataDir()]);
    return openListing(root);
  },
  overview: async () => {
    const [{ openOverview }, store] = await Promise.all([import('./compose/overview.ts'), openStore()]);
    return openOverview(store);
  },
  bench: async () => (await import('./compose/author-bench.ts')).openAuthorBench(bundledFolder, process.cwd()),
  theatre: async () => (await import('./adapters/server-process/demo-theatre.ts')).demoTheatre(program),
  setup: openSetup,
  ask: async () => (await import('./adapters/setup/terminal-ask.ts')).terminalAsk,
  configProblems: findConfigProblems,
  upkeep: async () => (await import('./compose/upkeep.ts')).openUpkeep(await openStore()),
  sources: async () => (await import('./compose/sources.ts')).openSources(),
  serve,
});
if (exitCode !== undefined) process.exitCode = exitCode;

/** Talk that nobody listens to is no failure either; the command does its work all the same. */
function writeError(text: string): void {
  if (process.stderr.listenerCount('error') === 0) {
    process.stderr.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  process.stderr.write(text);
}

async function refuseToServe(problem: ConfigProblem): Promise<void> {
  const [{ EXIT }, { configProblemText }, { printable }] = await Promise.all([
    import('./cli/exit-codes.ts'),
    import('./core/machine/config/config-words.ts'),
    import('./cli/output/printable.ts'),
  ]);
  writeError(`workrail: ${printable(configProblemText(problem))} Nothing was started.\n`);
  process.exitCode = EXIT.usage;
}

/** Serves MCP. Only the protocol is loaded before the first reply. */
async function serve(how: ServeOptions): Promise<Result<Serving, ServeRefusal>> {
  const [{ loadOwnConfig }, { settingsOf }, { mcpBackend }, { ok }, onStdio] = await Promise.all([
    import('./adapters/setup/config/load-config.ts'),
    import('./adapters/setup/config/settings.ts'),
    import('./mcp/backend.ts'),
    import('neverthrow'),
    how.transport === 'stdio' ? import('./mcp/transport/serve-stdio.ts') : undefined,
  ]);
  const config = await loadOwnConfig(undefined);
  const [problem] = config.problems;
  if (problem !== undefined) {
    await refuseToServe(problem);
    return ok({ isRefused: true });
  }
  process.once('SIGTERM', () => stopServing().finally(() => process.exit()));
  const settings = settingsOf(config);
  const isLogged = how.isLogged || settings.isLogged;
  const { isSessionStartOn } = settings;
  const services = () => composeServices(settings);
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
  const [{ dataDir }, { loadOwnConfig }] = await Promise.all([
    import('./adapters/setup/config/data-dir.ts'),
    import('./adapters/setup/config/load-config.ts'),
  ]);
  const { value } = (await loadOwnConfig(undefined)).settings.dataDir;
  return dataDir(
    typeof value === 'string' ? { ...process.env, WORKRAIL_DATA_DIR: value } : process.env,
    process.platform,
  );
}

async function findConfigProblems(): Promise<readonly string[]> {
  const { loadOwnConfig } = await import('./adapters/setup/config/load-config.ts');
  const { problems } = await loadOwnConfig(process.cwd());
  if (problems.length === 0) return [];
  const { configProblemText } = await import('./core/machine/config/config-words.ts');
  return problems.map(configProblemText);
}

async function openSetup(): Promise<Setup> {
  const [dataDir, store, compose] = await Promise.all([findDataDir(), openStore(), import('./compose/setup.ts')]);
  return compose.openSetup({ programPath: program, version: WORKRAIL_VERSION, dataDir, store });
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
    { homedir },
    { loadOwnConfig },
    { configHash },
    { nodeHasher },
  ] = await Promise.all([
    openStore(),
    import('./adapters/exchange/node-bundle-tools.ts'),
    import('./adapters/exchange/bundle-files.ts'),
    import('./adapters/file-store/breather.ts'),
    import('./adapters/random-ids.ts'),
    import('./adapters/system-clock.ts'),
    import('neverthrow'),
    import('node:os'),
    import('./adapters/setup/config/load-config.ts'),
    import('./core/machine/config/config-hash.ts'),
    import('./adapters/node-hasher.ts'),
  ]);
  return {
    homes: [homedir()],
    services: {
      ...store,
      tools: nodeBundleTools,
      breathe: breather(),
      patterns: { load: async () => (await import('./adapters/patterns/re2-patterns.ts')).re2Patterns() },
      ids: randomIds(systemClock),
      appVersion: WORKRAIL_VERSION,
      appliedConfigHash: async () => configHash(await loadOwnConfig(process.cwd()), nodeHasher.sha256),
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
    { runDefaults },
    { nodeHasher },
    { randomIds },
    { systemClock },
  ] = await Promise.all([
    openStore(),
    openCatalog(),
    import('./adapters/workspace/git-observer.ts'),
    import('./adapters/workspace/reference-files.ts'),
    import('./compose/run-defaults.ts'),
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
    defaults: runDefaults,
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
