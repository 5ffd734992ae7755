#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import type { Result } from 'neverthrow';
import { calledAs } from './adapters/clients/called-as.ts';
import type { LocalServices } from './app/clients/local-services.ts';
import type { Store, Upkeep } from './app/ports/store.ts';
import { runCommand } from './cli/main.ts';
import type { BundleAccess, ServeOptions, ServeRefusal, Serving } from './cli/program.ts';

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
    const [{ openSessionList }, root] = await Promise.all([import('./compose/session-list.ts'), findDataDir()]);
    return openSessionList(root);
  },
  overview: async () => {
    const [{ openSessions }, store] = await Promise.all([import('./compose/store.ts'), openStore()]);
    return openSessions(store);
  },
  bench: async () => (await import('./compose/author.ts')).openAuthor(bundledFolder, process.cwd()),
  theatre: async () => (await import('./adapters/clients/demo-theatre.ts')).demoTheatre(program),
  setup: openSetup,
  ask: async () => (await import('./adapters/clients/terminal-ask.ts')).terminalAsk,
  configProblems: findConfigProblems,
  upkeep: async () => (await import('./compose/store.ts')).openUpkeep(await openStore()),
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

async function serve(how: ServeOptions): Promise<Result<Serving, ServeRefusal>> {
  const server = await import('./compose/serve.ts');
  process.once('SIGTERM', () => stopServing().finally(() => process.exit()));
  const onStop = (stop: () => Promise<void>) => {
    stopServing = stop;
  };
  return server.serveMcp(how, { version: WORKRAIL_VERSION, bundledFolder, writeError, onStop });
}

async function findDataDir(): Promise<string> {
  return (await import('./adapters/settings.ts')).findDataDir();
}

async function openStore(): Promise<Store & Upkeep> {
  return (await import('./compose/store.ts')).openStore();
}

async function findConfigProblems(): Promise<readonly string[]> {
  const { loadOwnConfig } = await import('./adapters/settings.ts');
  const { problems } = await loadOwnConfig(process.cwd());
  if (problems.length === 0) return [];
  const { configProblemText } = await import('./core/settings/settings-words.ts');
  return problems.map(configProblemText);
}

async function openSetup(): Promise<LocalServices> {
  const [dataDir, store, compose] = await Promise.all([findDataDir(), openStore(), import('./compose/clients.ts')]);
  return compose.openClients({ programPath: program, version: WORKRAIL_VERSION, dataDir, store });
}

async function openExchange(): Promise<BundleAccess> {
  const [
    store,
    { nodeBundleTools },
    { createBundleFile, readBundleFile, streamOutput },
    { yieldOften },
    { randomIds },
    { systemClock },
    { ok },
    { homedir },
    { loadOwnConfig },
    { configHash },
    { nodeHasher },
  ] = await Promise.all([
    openStore(),
    import('./adapters/bundle.ts'),
    import('./adapters/bundle.ts'),
    import('./adapters/file-store/yield-often.ts'),
    import('./adapters/system.ts'),
    import('./adapters/system.ts'),
    import('neverthrow'),
    import('node:os'),
    import('./adapters/settings.ts'),
    import('./core/settings/settings-in-effect.ts'),
    import('./adapters/system.ts'),
  ]);
  return {
    homes: [homedir()],
    services: {
      ...store,
      tools: nodeBundleTools,
      yieldNow: yieldOften(),
      patterns: { load: async () => (await import('./adapters/patterns.ts')).re2Patterns() },
      ids: randomIds(systemClock),
      appVersion: WORKRAIL_VERSION,
      appliedConfigHash: async () => configHash(await loadOwnConfig(process.cwd()), nodeHasher.sha256),
      now: () => new Date(systemClock.nowMs()).toISOString(),
    },
    input: readBundleFile,
    output: async (file) => (file === undefined ? ok(streamOutput(process.stdout)) : createBundleFile(file)),
  };
}
