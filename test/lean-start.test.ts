import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { build } from 'esbuild';
import { beforeAll, expect, it } from 'vitest';
import { string } from '../src/core/json/lean-schema.ts';
import { enforces } from './enforces.ts';

type Output = {
  readonly entryPoint?: string;
  readonly inputs: object;
  readonly imports: readonly { readonly path: string; readonly kind: string }[];
};

type Outputs = { readonly [path: string]: Output };
let commands: Outputs;
let server: Outputs;
let loader: Outputs;

beforeAll(async () => {
  // Imported like this because it is no TypeScript: it runs before anything is installed.
  const { builds } = await import(`${process.cwd()}/scripts/build-options.mjs`);
  const built = [builds.commands, builds.server, builds.loader].map(outputsOf);
  [commands, server, loader] = (await Promise.all(built)) as [Outputs, Outputs, Outputs];
});

async function outputsOf(options: object): Promise<Outputs> {
  const { metafile } = await build({ ...options, write: false });
  return metafile?.outputs ?? expect.fail('the bundler says what it made');
}

/** Every source file that is loaded as soon as one of these is. */
function loadedWith(outputs: Outputs, sources: readonly string[]): readonly string[] {
  const first = Object.keys(outputs).filter((path) =>
    sources.some((source) => source in (outputs[path]?.inputs ?? {})),
  );
  return [...chunksWith(outputs, first)].flatMap((path) => Object.keys(outputs[path]?.inputs ?? {}));
}

/** Every file of the bundle that is loaded as soon as one of these is. */
function chunksWith(outputs: Outputs, first: readonly string[]): ReadonlySet<string> {
  const chunks = new Set(first);
  for (const path of chunks) {
    for (const { path: next, kind } of outputs[path]?.imports ?? []) {
      if (kind === 'import-statement' && next in outputs) chunks.add(next);
    }
  }
  return chunks;
}

it('`--version` loads three small files and nothing else', () => {
  enforces('cli_version_cost');
  expect([...loadedWith(commands, ['src/compose.ts'])].sort()).toEqual([
    'src/adapters/clients/called-as.ts',
    'src/cli/main.ts',
    'src/compose.ts',
  ]);
});

it('before its first reply the server loads the protocol and very little of our own code', () => {
  enforces('budget_spawn');
  const loaded = loadedWith(server, ['src/compose/serve-mcp.ts']);
  const ours = loaded.filter((path) => path.startsWith('src/'));
  expect(loaded.some((path) => path.includes('@modelcontextprotocol/server'))).toBe(true);
  expect(ours).toContain('src/mcp/server.ts');
  const heavy =
    /^src\/(?:app|core\/(?:approvals|log|passport|prompt|run|views|workflow)|adapters\/file-store|http|mcp\/tools)\//;
  expect(ours.filter((path) => heavy.test(path) || path.includes('answer-call'))).toEqual([]);
});

it('the code that a call needs is in the bundle, so the rule above looks at real file names', () => {
  const loaded = loadedWith(server, ['src/mcp/answer-call.ts']);
  expect(loaded).toEqual(expect.arrayContaining(['src/app/run/advance.ts', 'src/mcp/tools/continue-workflow-tool.ts']));
});

it('listing and starting bundled workflows loads neither the compiler nor the pattern engine', () => {
  enforces('library_is_compiled');
  const compiler =
    /^src\/core\/workflow\/(?:emit|expand\/(?!fill-)|lint|compile-workflow)|^src\/app\/catalog\/compile-files|re2js/;
  const compiling = loadedWith(server, ['src/compose/open-compiler.ts']).filter((path) => compiler.test(path));
  expect(compiling).toEqual(expect.arrayContaining(['src/core/workflow/compile-workflow.ts']));
  const loaded = loadedWith(server, ['src/mcp/answer-call.ts', 'src/compose/open-server-services.ts']);
  expect(loaded).toEqual(expect.arrayContaining(['src/app/catalog/workflow-catalog.ts']));
  expect(loaded.filter((path) => compiler.test(path))).toEqual([]);
});

it('before its first reply the server loads no validator of JSON schemas, and a call no schema of replies or workflows', () => {
  enforces('budget_spawn', 'budget_list_start_cpu');
  const started = loadedWith(server, ['src/compose/serve-mcp.ts']);
  expect(started.filter((path) => /ajv|cfWorker/i.test(path))).toEqual([]);
  const called = loadedWith(server, ['src/mcp/answer-call.ts', 'src/compose/open-server-services.ts']);
  const schemas =
    /reply-schema|reply-shapes|compiled\/(?:compiled-workflow|compiled-step|compiled-loop|condition-schema)/;
  expect(called.filter((path) => schemas.test(path))).toEqual([]);
  expect(
    called.filter((path) =>
      /file-store\/(?:audit\/(?:check-content|file-store)|upkeep\/file-(?:collector|session-bin))/.test(path),
    ),
  ).toEqual([]);
  const format = /core\/workflow\/(?:format\/(?!limits)|expand\/(?!fill-text)|builtins\/(?:features|refs))/;
  expect(called.filter((path) => format.test(path))).toEqual([]);
  const apart = loadedWith(server, ['src/core/workflow/compiled/compiled-workflow.ts']);
  expect(apart).toEqual(expect.arrayContaining(['src/core/workflow/compiled/condition-schema.ts']));
});

it('schemas of stored documents are built with our own library', () => {
  enforces('budget_list_start_cpu');
  const called = loadedWith(server, ['src/mcp/answer-call.ts', 'src/compose/open-server-services.ts']);
  expect(called).toEqual(expect.arrayContaining(['src/core/json/lean-schema.ts', 'src/core/log/event.ts']));
});

it('the server is bundled into a few files and contains no commands', () => {
  enforces('budget_spawn');
  expect(Object.keys(server).length).toBeLessThan(20);
  const ours = Object.values(commands).flatMap(({ inputs }) => Object.keys(inputs));
  expect(ours).toContain('src/cli/serve.ts');
  expect(ours.filter((path) => /compose\/serve-(?:mcp|http)/.test(path))).toEqual([]);
});

it('what loads the server is one small file', () => {
  enforces('budget_spawn');
  expect(Object.keys(loader)).toEqual(['dist/server.cjs']);
  const ours = loadedWith(loader, ['src/adapters/code-cache.ts']).filter((path) => path.startsWith('src/'));
  expect(ours).toContain('src/adapters/data-dir.ts');
  expect(ours.filter((path) => /^src\/(?!adapters|core\/text)/.test(path))).toEqual([]);
});

it('the first reply loads two files of the server, and the first call at most six more', () => {
  enforces('budget_spawn', 'budget_list_start_cpu');
  expect(chunksWith(server, ['dist/server/server.cjs']).size).toBe(2);
  const called = Object.keys(server).filter((path) => /(?:answer-call|open-server-services|system-locks)-/.test(path));
  expect(called).toHaveLength(3);
  expect(chunksWith(server, ['dist/server/server.cjs', ...called]).size).toBeLessThanOrEqual(8);
});

it('`session list` loads the index and not the code that reads or writes a session', () => {
  const loaded = loadedWith(commands, [
    'src/compose.ts',
    'src/cli/run-command-line.ts',
    'src/cli/sessions/session-list.ts',
    'src/compose/open-session-list.ts',
  ]);
  expect(loaded).toEqual(expect.arrayContaining(['src/adapters/file-store/index/file-session-index.ts']));
  const heavy =
    /^src\/(?:mcp|http|core\/(?:log\/events?|prompt|workflow|views\/session-view)|adapters\/(?:patterns|file-store\/file-store\.ts))/;
  expect(loaded.filter((path) => heavy.test(path))).toEqual([]);
  expect(
    loadedWith(commands, ['src/compose/open-store.ts', 'src/adapters/file-store/file-store.ts']).some((path) =>
      heavy.test(path),
    ),
  ).toBe(true);
});

it('`--help` loads at most 5 files, `session list` 10 and `status` 12', () => {
  const filesFor = (...sources: readonly string[]) => {
    const needed = ['src/compose.ts', 'src/cli/run-command-line.ts', ...sources];
    const first = Object.keys(commands).filter((path) => needed.includes(commands[path]?.entryPoint ?? ''));
    expect(first).toHaveLength(needed.length);
    return chunksWith(commands, first).size;
  };
  const settings = 'src/adapters/settings.ts';
  expect(filesFor()).toBeLessThanOrEqual(5);
  const list = filesFor(settings, 'src/cli/sessions/session-list.ts', 'src/compose/open-session-list.ts');
  expect(list).toBeLessThanOrEqual(10);
  expect(filesFor(settings, 'src/cli/sessions/status.ts', 'src/compose/open-store.ts')).toBeLessThanOrEqual(12);
});

it('the server asks the schemas of stored documents only for what its own library for them has', () => {
  const known = new Set([...Object.keys(Object.getPrototypeOf(string())), 'options']);
  const files = new Set(Object.values(server).flatMap(({ inputs }) => Object.keys(inputs)));
  const asked = [...files].filter((path) => path.startsWith('src/')).flatMap((path) => schemaUses(path));
  expect(asked.length).toBeGreaterThan(50);
  expect(asked.filter(({ member }) => !known.has(member))).toEqual([]);
});

const STORED = /^src\/(?:core\/(?:log|token|workflow\/compiled)|adapters\/lock)\//;

/** What a file asks of the schemas that are built with that library: those it imports, or all if it makes them itself. */
function schemaUses(
  path: string,
): readonly { readonly path: string; readonly name: string; readonly member: string }[] {
  const text = readFileSync(path, 'utf8');
  const imported = [...text.matchAll(/^import (?:type )?\{([^}]*)\} from '([^']+)';$/gm)]
    .filter(([, , from = '']) => STORED.test(join(dirname(path), from)))
    .flatMap(([, names = '']) => names.split(',').map((name) => name.trim().replace(/^.* as /, '')));
  const uses = [...text.matchAll(/\b(\w*[sS]chema)\.(?!ts\b)(\w+)/g)].map(([, name = '', member = '']) => ({
    path,
    name,
    member,
  }));
  return uses.filter(({ name }) => STORED.test(path) || imported.includes(name));
}
