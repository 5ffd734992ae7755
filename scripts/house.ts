// Prints how the code base is arranged: sizes, shreds, doubled names, import cycles, and how many of our own files one call runs through.
// Usage: node scripts/run.mjs scripts/house.ts [--files]
// With --files it also lists the files of each call, and the names that are used twice.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, posix, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { importCycles, importGraph } from '../test/tidy/import-graph.ts';

type Row = { readonly measured: string; readonly now: string; readonly wanted: string };

/** Node writes what ran to the folder that this variable names. */
const COVERAGE_VARIABLE = 'NODE_V8_COVERAGE';

const files = sourceFiles('src');
const graph = importGraph(files.map((path) => ({ path, text: readFileSync(path, 'utf8') })));
const importers = new Map<string, Set<string>>();
for (const [from, targets] of graph) {
  for (const to of targets) importers.set(to, (importers.get(to) ?? new Set()).add(from));
}

const scratch = mkdtempSync(join(tmpdir(), 'workrail-house-'));
const workflowFile = writeWorkflow();
const lists = new Map<string, Iterable<string>>();
const rows: readonly Row[] = [...arrangement(), ...(await filesTouched())];
rmSync(scratch, { recursive: true, force: true });
console.table(rows);
if (process.argv.includes('--files')) {
  for (const [title, names] of lists) console.log([`\n${title}:`, ...[...names].sort()].join('\n  '));
}

function arrangement(): readonly Row[] {
  const lines = new Map(files.map((path) => [path, readFileSync(path, 'utf8').split('\n').length - 1]));
  const folders = new Set(files.map((path) => dirname(path)));
  const sizes = [...lines.values()];
  const names = repeated(exportedNames());
  const fileNames = repeated(files.map((path) => basename(path)));
  lists.set('exported twice', names).set('file names used twice', fileNames);
  const isShred = (path: string) => (lines.get(path) ?? 0) < 40 && importers.get(path)?.size === 1;
  return [
    { measured: 'files / folders', now: `${files.length} / ${folders.size}`, wanted: '<= 560 / <= 95' },
    { measured: 'lines', now: String(sizes.reduce((sum, size) => sum + size, 0)), wanted: '<= 45000' },
    {
      measured: 'files under 30 lines; under 40 with one importer',
      now: `${sizes.filter((size) => size < 30).length}; ${files.filter(isShred).length}`,
      wanted: '<= 90; <= 20',
    },
    {
      measured: 'exported names in two files; file names used twice',
      now: `${names.length}; ${fileNames.length}`,
      wanted: '0 unless the same thing; <= 8',
    },
    { measured: 'import cycles', now: String(importCycles(graph).length), wanted: '0' },
  ];
}

function sourceFiles(folder: string): readonly string[] {
  return readdirSync(folder)
    .sort()
    .flatMap((name) => {
      const path = posix.join(folder, name);
      if (statSync(path).isDirectory()) return sourceFiles(path);
      return path.endsWith('.ts') && !path.endsWith('.test.ts') ? [path] : [];
    });
}

function exportedNames(): readonly string[] {
  const pattern = /^export (?:async )?(?:function\*?|const|type|interface|class) (\w+)/gm;
  return files.flatMap((path) => [
    ...new Set([...readFileSync(path, 'utf8').matchAll(pattern)].map((match) => match[1] ?? '')),
  ]);
}

function repeated(names: readonly string[]): readonly string[] {
  return [...new Set(names.filter((name, at) => names.indexOf(name) !== at))];
}

/** Bundles without minifying, so that every function can be traced to its file, and counts the files with a function that ran. */
async function filesTouched(): Promise<readonly Row[]> {
  const { builds } = await import(pathToFileURL(resolve('scripts/build-options.mjs')).href);
  const plain = { minify: false, outdir: join(scratch, 'dist'), plugins: builds.commands.plugins.slice(0, 1) };
  // Node says nothing about scripts that it did not load itself, so here the server is made of modules.
  const [, ...others] = builds.server.plugins.toReversed();
  const modules = { outExtension: {}, plugins: others };
  await build({ ...builds.server, ...plain, ...modules, outdir: join(scratch, 'dist/server') });
  writeFileSync(
    join(scratch, 'dist/server.cjs'),
    "exports.openScripts = () => ({ keep() {}, load: () => ({ serveMcp: async (...sent) => (await import('./server/server.js')).serveMcp(...sent) }) });\n",
  );
  await build({ ...builds.commands, ...plain });
  writeFileSync(
    join(scratch, 'take-coverage.mjs'),
    "import { takeCoverage } from 'node:v8';\nprocess.on('SIGUSR2', () => { takeCoverage(); process.stderr.write('taken\\n'); });\n",
  );
  const advance = await touchedByWarmAdvance();
  const check = touchedByCheck();
  lists.set('one warm advance', advance).set('workflow check', check);
  return [
    { measured: 'own files in one warm advance', now: String(advance.size), wanted: '<= 100' },
    { measured: 'own files in `workflow check` of one file', now: String(check.size), wanted: '<= 90' },
  ];
}

/** Six plain steps, in the folder of workflows of the scratch workspace. */
function writeWorkflow(): string {
  const file = join(scratch, '.workrail/workflows/house-walk.json');
  const steps = Array.from({ length: 6 }, (_, at) => ({
    id: `step-${at + 1}`,
    title: `Step ${at + 1}`,
    prompt: 'Do it, and say in the notes what you did.',
  }));
  mkdirSync(dirname(file), { recursive: true });
  mkdirSync(join(scratch, 'workflows'));
  writeFileSync(
    file,
    JSON.stringify({ id: 'house-walk', name: 'House walk', description: 'Six steps.', version: '1.0.0', steps }),
  );
  return file;
}

function environment(coverage: string): NodeJS.ProcessEnv {
  return { ...process.env, [COVERAGE_VARIABLE]: coverage, WORKRAIL_DATA_DIR: join(scratch, 'data'), HOME: scratch };
}

async function touchedByWarmAdvance(): Promise<ReadonlySet<string>> {
  const coverage = join(scratch, 'advance');
  const server = spawn(
    process.execPath,
    ['--import', join(scratch, 'take-coverage.mjs'), join(scratch, 'dist/workrail.js'), 'serve'],
    { env: environment(coverage), cwd: scratch, stdio: ['pipe', 'pipe', 'pipe'] },
  );
  const call = toolCaller(server);
  await call('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'house', version: '0' },
  });
  let reply = await callTool(call, 'start_workflow', { workflowId: 'house-walk', workspacePath: scratch });
  for (let step = 0; step < 4; step++) reply = await advanceOnce(call, reply);
  await serverRecorded();
  await taken(server);
  await advanceOnce(call, reply);
  await taken(server);
  server.stdin?.end();
  await new Promise((done) => server.on('exit', done));
  const reports = readdirSync(coverage)
    .map((name) => join(coverage, name))
    .sort((a, b) => statSync(a).mtimeMs - statSync(b).mtimeMs);
  return ownFiles(reports[1] ?? '');
}

/** A server says what it applied a moment after its first append: that is work of the start, not of an advance. */
async function serverRecorded(): Promise<void> {
  const folder = join(scratch, 'data/cache/servers');
  while (!existsSync(folder) || !readdirSync(folder).some((name) => name.endsWith('.json'))) await setTimeout(20);
}

function touchedByCheck(): ReadonlySet<string> {
  const coverage = join(scratch, 'check');
  spawnSync(process.execPath, [join(scratch, 'dist/workrail.js'), 'workflow', 'check', workflowFile], {
    env: environment(coverage),
    cwd: scratch,
  });
  const reports = readdirSync(coverage).map((name) => ownFiles(join(coverage, name)));
  return reports.reduce((most, one) => (one.size > most.size ? one : most));
}

type Call = (method: string, params: object) => Promise<{ readonly [key: string]: unknown }>;

function toolCaller(server: ChildProcess): Call {
  if (server.stdin === null || server.stdout === null) throw new Error('the server has no pipes');
  const { stdin } = server;
  const waiting = new Map<number, (result: { readonly [key: string]: unknown }) => void>();
  createInterface(server.stdout).on('line', (line) => {
    const { id, result } = JSON.parse(line);
    waiting.get(id)?.(result);
  });
  let last = 0;
  return (method, params) =>
    new Promise((done) => {
      last += 1;
      waiting.set(last, done);
      stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: last, method, params })}\n`);
    });
}

async function callTool(call: Call, name: string, args: object): Promise<{ readonly ackToken: string }> {
  const { structuredContent } = await call('tools/call', { name, arguments: args });
  const reply = structuredContent as { readonly kind: string; readonly ackToken?: string };
  if (reply.kind !== 'ok' || reply.ackToken === undefined) throw new Error(JSON.stringify(reply));
  return { ackToken: reply.ackToken };
}

function advanceOnce(call: Call, { ackToken }: { readonly ackToken: string }) {
  return callTool(call, 'continue_workflow', { ackToken, output: { notesMarkdown: 'The step is done.' } });
}

function taken(server: ChildProcess): Promise<unknown> {
  const written = new Promise((done) => server.stderr?.once('data', done));
  server.kill('SIGUSR2');
  return written;
}

/** The source files whose functions ran, by the comment the bundler puts before each of them. */
function ownFiles(report: string): ReadonlySet<string> {
  const touched = new Set<string>();
  const { result } = JSON.parse(readFileSync(report, 'utf8'));
  for (const { url, functions } of result) {
    if (!url.includes(scratch)) continue;
    const text = readFileSync(new URL(url), 'utf8');
    const starts = [...text.matchAll(/^\/\/ (\S+\.[cm]?[jt]s)$/gm)];
    for (const { functionName, ranges } of functions) {
      const [{ startOffset, count }] = ranges;
      if (count === 0 || (functionName === '' && startOffset === 0)) continue;
      const file = starts.findLast(({ index }) => index <= startOffset)?.[1];
      if (file !== undefined && /(?:^|\/)src\//.test(file) && !file.includes('node_modules')) touched.add(file);
    }
  }
  return touched;
}
