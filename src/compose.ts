#!/usr/bin/env node
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import type { Result } from 'neverthrow';
import { calledAs, commandInReplies, currentFolder } from './adapters/clients/called-as.ts';
import type { LocalServices } from './app/clients/local-services.ts';
import type { Store, Upkeep } from './app/ports/store.ts';
import { runCommand } from './cli/main.ts';
import type { Program, ServeOptions, ServeRefusal, Serving } from './cli/program.ts';

declare const WORKRAIL_VERSION: string;
declare const WORKRAIL_COMPILER: string;

const program = fileURLToPath(import.meta.url);
const serverFolder = fileURLToPath(new URL('server', import.meta.url));
const consoleFolder = fileURLToPath(new URL('console', import.meta.url));
const bundled = {
  folder: fileURLToPath(new URL('../workflows', import.meta.url)),
  library: fileURLToPath(new URL('library.jsonl', import.meta.url)),
  compiler: WORKRAIL_COMPILER,
};

const FAILED = 1;
const INTERRUPTED = 130;
/** Runs before a server ends. */
let stopServing = async (): Promise<void> => undefined;
let isInterrupted = false;
process.on('SIGINT', () => {
  // A second Ctrl-C exits at once; exit listeners still remove temporary files.
  if (isInterrupted) process.exit(INTERRUPTED);
  isInterrupted = true;
  if (process.stderr.isTTY) process.stderr.write('\n');
  stopServing().finally(() => process.exit(INTERRUPTED));
});
// A reader that stops reading is not a failure. Any other output error is.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit();
  const why = error.code === 'ENOSPC' ? 'no space left on the device' : (error.code ?? error.message);
  writeError(`workrail: Cannot write the output: ${why}.\n`);
  process.exit(FAILED);
});

const own: Program = {
  version: WORKRAIL_VERSION,
  argv: process.argv.slice(2),
  env: process.env,
  // Node creates these streams on first access, which takes time.
  terminal: {
    isInput: () => process.stdin.isTTY === true,
    isOutput: () => process.stdout.isTTY === true,
    isError: () => process.stderr.isTTY === true,
    columns: () => process.stdout.columns ?? process.stderr.columns,
  },
  write: (text) => process.stdout.write(text),
  writeError,
  calledAs: () => calledAs({ env: process.env, cwd: currentFolder(), program }),
  dataDir: findDataDir,
  store: openStore,
  bundleAccess: async () => (await import('./compose/open-bundles.ts')).openBundles(WORKRAIL_VERSION),
  passports: async () => (await import('./compose/open-passports.ts')).openPassports(WORKRAIL_VERSION),
  sessionListAccess: async () => {
    const [{ openSessionList }, root] = await Promise.all([import('./compose/open-session-list.ts'), findDataDir()]);
    return openSessionList(root);
  },
  sessionAccess: async () => {
    const [{ openSessions }, store] = await Promise.all([import('./compose/open-store.ts'), openStore()]);
    return openSessions(store);
  },
  author: async () => (await import('./compose/open-author.ts')).openAuthor(bundled, process.cwd()),
  demoStage: async () => (await import('./adapters/clients/demo-theatre.ts')).demoTheatre(program),
  setup: openSetup,
  ask: async () => (await import('./adapters/clients/terminal-ask.ts')).terminalAsk,
  configProblems: findConfigProblems,
  upkeep: async () => (await import('./compose/open-store.ts')).openUpkeep(await openStore()),
  answers: async () => (await import('./compose/open-answers.ts')).openAnswers(await openStore()),
  approvers: async () => (await import('./compose/open-answers.ts')).openApprovers(),
  attest: async () => (await import('./compose/open-answers.ts')).openAttest(await openStore(), await findDataDir()),
  team: async () => (await import('./compose/open-team.ts')).openTeam(),
  sources: async () => (await import('./compose/open-sources.ts')).openSources(),
  serve,
  serveTeam: async (how) => {
    const { serveTeam } = await import('./compose/serve-team.ts');
    stopOnSignals(async () => undefined);
    const onStop = (stop: () => Promise<void>) => (stopServing = stop);
    return serveTeam(how, { version: WORKRAIL_VERSION, pages: consoleFolder, bundled, onStop });
  },
  connect: async (url) => {
    const { connectTo } = await import('./compose/open-bridge.ts');
    const host = {
      workingDir: currentFolder(),
      writeError,
      commandInReplies: (dataDir: string | undefined) => commandInReplies({ env: process.env, program }, dataDir),
    };
    return (await connectTo(url, host)).map(({ stop }) => stopOnSignals(stop));
  },
  signIn: async (url, wish) => (await import('./compose/open-sign-in.ts')).signInTo(url, wish),
  signOut: async (url) => (await import('./compose/open-sign-in.ts')).signOutOf(url),
  console: async (how) => {
    const { openConsole } = await import('./compose/open-console.ts');
    const opened = await openConsole(how, {
      version: WORKRAIL_VERSION,
      pages: consoleFolder,
      bundled,
      program,
      commandInReplies: (dataDir) => commandInReplies({ env: process.env, program }, dataDir),
      own,
    });
    return opened.map(({ stop, ...serving }) => {
      stopOnSignals(stop);
      return serving;
    });
  },
};
// A client may start a server in a work tree that was removed. Commands are about the folder that they are typed in.
const [first] = own.argv;
const isAboutFolder =
  first === undefined ? own.terminal.isInput() : !/^(?:serve|connect|version|help|-.*)$/.test(first);
if (isAboutFolder && currentFolder() === '') {
  writeError('workrail: This folder does not exist any more. Change to another one, and run the command again.\n');
  process.exit(FAILED);
}
const exitCode = await runCommand(own);
if (exitCode !== undefined) process.exitCode = exitCode;

/** Messages that nobody reads are not a failure either: the command still does its work. */
function writeError(text: string): void {
  if (process.stderr.listenerCount('error') === 0) {
    process.stderr.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
  process.stderr.write(text);
}

async function serve(how: ServeOptions): Promise<Result<Serving, ServeRefusal>> {
  const { openScripts } = createRequire(import.meta.url)('./server.cjs') as typeof import('./adapters/code-cache.ts');
  const { load, keep } = openScripts(serverFolder);
  const server = load('server.cjs') as typeof import('./compose/serve-mcp.ts');
  stopOnSignals(async () => undefined);
  const onStop = (stop: () => Promise<void>) => {
    stopServing = stop;
  };
  return server.serveMcp(how, {
    version: WORKRAIL_VERSION,
    bundled,
    workingDir: currentFolder(),
    writeError,
    onStop,
    onRest: keep,
  });
}

function stopOnSignals(stop: () => Promise<void>): void {
  stopServing = stop;
  // A terminal that is closed sends SIGHUP.
  for (const signal of ['SIGTERM', 'SIGHUP']) process.once(signal, () => stopServing().finally(() => process.exit()));
}

async function findDataDir(): Promise<string> {
  return (await import('./adapters/settings.ts')).findDataDir();
}

async function openStore(): Promise<Store & Upkeep> {
  return (await import('./compose/open-store.ts')).openStore();
}

async function findConfigProblems(): Promise<readonly string[]> {
  const { loadOwnConfig } = await import('./adapters/settings.ts');
  const folder = currentFolder();
  const { problems } = await loadOwnConfig(folder === '' ? [] : [folder]);
  if (problems.length === 0) return [];
  const { configProblemText } = await import('./core/settings/settings-words.ts');
  return problems.map(configProblemText);
}

async function openSetup(): Promise<LocalServices> {
  const [dataDir, store, compose] = await Promise.all([
    findDataDir(),
    openStore(),
    import('./compose/open-clients.ts'),
  ]);
  return compose.openClients({ programPath: program, version: WORKRAIL_VERSION, dataDir, store });
}
