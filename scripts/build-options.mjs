import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { transform } from 'esbuild';
import { leanProtocol } from './lean-protocol.mjs';

const { version, devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Changes with everything that compiling a workflow depends on, so that what another compiler kept is not used. */
export const compilerId = (() => {
  const id = createHash('sha256').update(JSON.stringify(devDependencies));
  for (const path of [...sourcesIn('src/core'), 'src/adapters/patterns.ts']) {
    id.update(path).update(readFileSync(path));
  }
  return id.digest('hex').slice(0, 16);
})();

function sourcesIn(folder) {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .sort()
    .map((name) => join(folder, name));
}

const MAIN = 'dist/workrail.js';

/** The bundler makes the main file load its helpers even where only other chunks call them; nobody should wait for that. */
const leanMain = {
  name: 'lean-main',
  setup: (build) =>
    build.onEnd(({ metafile }) => {
      if (build.initialOptions.write === false) return;
      const main = metafile?.outputs[MAIN];
      const helpers = main?.imports.filter(({ path }) => isHelpers(metafile.outputs[path])) ?? [];
      for (const { path } of helpers) {
        const bareImport = new RegExp(`import ?"${path.replace('dist/', './')}";`);
        writeFileSync(MAIN, readFileSync(MAIN, 'utf8').replace(bareImport, ''));
      }
    }),
};

/** A chunk made of no source file. */
function isHelpers(output) {
  return output !== undefined && Object.keys(output.inputs).length === 0;
}

/** Makes scripts, each of one function, of the modules that the bundler wrote: only of a script can we keep the compiled form, on every Node. */
const asScripts = {
  name: 'as-scripts',
  setup: (build) =>
    build.onEnd(async ({ metafile }) => {
      const { write, minify, target, platform } = build.initialOptions;
      if (write === false) return;
      for (const path of Object.keys(metafile?.outputs ?? {}).filter((name) => name.endsWith('.cjs'))) {
        const { code } = await transform(readFileSync(path, 'utf8'), {
          format: 'cjs',
          platform,
          target,
          minifyWhitespace: minify,
          minifySyntax: minify,
          minifyIdentifiers: minify,
          supported: { 'dynamic-import': false },
        });
        if (minify && /[^\0-\x7f]/.test(code)) throw new Error(`${path} has a character that takes more than one byte`);
        writeFileSync(path, `(function(exports,require,module){${code}})`);
      }
    }),
};

const common = {
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  mainFields: ['module', 'main'],
  external: ['fs-native-extensions'],
  define: { WORKRAIL_VERSION: JSON.stringify(version), WORKRAIL_COMPILER: JSON.stringify(compilerId) },
  metafile: true,
  logLevel: 'warning',
};

/**
 * The library brings a validator of JSON schemas, which is half of its code and would validate the answers to our own
 * forms. The server passes a check of its own instead.
 */
const withoutValidator = {
  name: 'without-validator',
  setup: (build) => {
    build.onResolve({ filter: /^@modelcontextprotocol\/server\/_shims$/ }, () => ({
      path: 'shims',
      namespace: 'shims',
    }));
    build.onLoad({ filter: /.*/, namespace: 'shims' }, () => ({
      contents:
        "export { default as process } from 'node:process'; export const DefaultJsonSchemaValidator = undefined;",
    }));
  },
};

/** Makes each file import what is always loaded before it, so that the bundler puts that into one file for all of them. */
const inFewFiles = (loadedAfter) => ({
  name: 'in-few-files',
  setup: ({ onLoad }) =>
    onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, ({ path }) => {
      const name = relative('.', path).replaceAll('\\', '/');
      const before = loadedAfter.get(name)?.filter((one) => one !== name);
      if (before === undefined) return undefined;
      const imports = before.map((one) => `import ${JSON.stringify(resolve(one))};`);
      return { contents: [readFileSync(path, 'utf8'), ...imports].join('\n'), loader: 'ts' };
    }),
});

/**
 * What every command loads, what listing sessions adds, and what reading one adds. Most commands read sessions, so the
 * others load a little more than they need. One file for each combination of commands would take each of them longer.
 */
const PARSING = ['src/cli/run-command-line.ts'];
const LISTING = ['src/adapters/settings.ts', 'src/cli/sessions/session-list.ts', 'src/compose/open-session-list.ts'];
const READING = ['src/compose/open-store.ts', 'src/cli/sessions/status.ts', 'src/cli/sessions/session-show.ts'];
/** Shells wait for it when they start, and it reads no session. */
const COMPLETION = 'src/cli/completion.ts';

function loadedAfterParsing() {
  const lazy = sourcesIn('src').flatMap((path) =>
    Array.from(readFileSync(path, 'utf8').matchAll(/(?<!typeof )import\('(\..+?)'\)/g), ([, name]) =>
      join(dirname(path), name).replaceAll('\\', '/'),
    ),
  );
  const reading = lazy.filter((path) => path !== COMPLETION && !PARSING.includes(path) && !LISTING.includes(path));
  return new Map([
    ...[...LISTING, COMPLETION].map((path) => [path, [...PARSING, ...LISTING]]),
    ...reading.map((path) => [path, [...PARSING, ...LISTING, ...READING]]),
  ]);
}

/** The commands: split so that each of them loads only what it needs. */
const commands = {
  ...common,
  entryPoints: { workrail: 'src/compose.ts' },
  chunkNames: 'chunks/[name]-[hash]',
  // commander is no ES module and asks for Node's modules by `require`.
  banner: { js: "import{createRequire as requireFrom}from'node:module';const require=requireFrom(import.meta.url);" },
  plugins: [withoutValidator, leanProtocol, inFewFiles(loadedAfterParsing()), leanMain],
};

const SERVER = 'src/compose/serve-mcp.ts';
const CALL = 'src/mcp/answer-call.ts';
const SERVICES = 'src/compose/open-server-services.ts';

/**
 * What is loaded only after something else. Saying so lets the bundler put everything that the first reply needs into
 * one file, and everything that the first call adds into another, instead of a file for each combination of users.
 */
const LOADED_AFTER = new Map([
  [CALL, [SERVER, SERVICES]],
  [SERVICES, [SERVER, CALL]],
  ...['src/core/settings/settings-file.ts', 'src/compose/config-notices.ts', 'src/compose/serve-http.ts'].map(
    (path) => [path, [SERVER]],
  ),
  ...[
    'src/adapters/approvers.ts',
    'src/adapters/patterns.ts',
    'src/adapters/lock/system-locks.ts',
    'src/adapters/file-store/session/append-many.ts',
    'src/compose/open-compiler.ts',
    'src/core/workflow/compiled/compiled-workflow.ts',
    'src/mcp/ask-person.ts',
  ].map((path) => [path, [CALL]]),
]);

/** Code that reads stored documents. Its schemas are built in every process, so there is a library of our own for them. */
const STORED = /^src[/\\](?:core[/\\](?:log|token|workflow[/\\]compiled)|adapters[/\\]lock)[/\\]/;

const leanSchemas = {
  name: 'lean-schemas',
  setup: (build) =>
    build.onResolve({ filter: /^zod$/ }, ({ importer }) =>
      STORED.test(relative('.', importer)) ? { path: resolve('src/core/json/lean-schema.ts') } : undefined,
    ),
};

/** The server: split only where something is loaded after the first reply. */
const server = {
  ...common,
  outdir: 'dist/server',
  outExtension: { '.js': '.cjs' },
  entryPoints: { server: SERVER },
  plugins: [withoutValidator, leanProtocol, leanSchemas, inFewFiles(LOADED_AFTER), asScripts],
};

/** What loads these scripts. It is no module, because Node takes longer to load one. */
const loader = {
  ...common,
  splitting: false,
  format: 'cjs',
  outExtension: { '.js': '.cjs' },
  entryPoints: { server: 'src/adapters/code-cache.ts' },
};

/** What describes schemas, or what is wrong with a value. The viewer of bundles describes none, and says only where. */
const DESCRIBING =
  /[/\\](?:core[/\\](?:to-json-schema|json-schema-processors)\.js|locales[/\\]en\.js|text[/\\]spelling\.ts|builtins[/\\](?:contract-data|shape)\.ts)$/;

/** Contracts describe and check what agents send; the viewer only asks how an artifact of a kind is shown. */
const DESCRIBED = /[/\\]builtins[/\\](?:handoff|report|run)-contracts\.ts$/;
/** An example ends at the brace that is as far in as its line, and so do the fields of its schema. */
const EXAMPLE = /(?<=^( *))example: \{\n.*?\n\1\},/gms;
const FIELDS = /(?<=^( *))fields: \(\) => \(\{\n.*?\n\1\}\),/gms;
/** What a contract is for, and how it is asked for. */
const WORDING = /(?<=^ {2}(?:purpose|lead):\s*)(['"])(?:\\.|(?!\1).)*\1/gms;
const DESCRIPTION = /\s*\.describe\(\s*(['"`])(?:\\.|(?!\1).)*\1,?\s*\)/gs;

const withoutDescriptions = {
  name: 'without-descriptions',
  load: (path) => {
    if (DESCRIBED.test(path))
      return readFileSync(path, 'utf8')
        .replaceAll(DESCRIPTION, '')
        .replaceAll(EXAMPLE, 'example: {},')
        .replaceAll(FIELDS, 'fields: () => ({}),')
        .replaceAll(WORDING, "''");
    if (!DESCRIBING.test(path)) return undefined;
    const names = readFileSync(path, 'utf8').matchAll(/^export (?:const|function) (\w+)/gm);
    const left = Array.from(names, ([, name]) => `export const ${name} = () => { throw new Error('left out'); };`);
    return [...left, 'export default () => ({});'].join('\n');
  },
};

/** The page of the console. */
export const page = {
  configFile: false,
  root: 'console',
  plugins: [react()],
  logLevel: 'warn',
  worker: {
    format: 'es',
    plugins: () => [withoutDescriptions],
    // Hints for a bundler are of no use in a page.
    rolldownOptions: { output: { comments: false } },
  },
  build: {
    outDir: '../dist/console',
    emptyOutDir: true,
    modulePreload: false,
    reportCompressedSize: false,
    // How long parts of the build take depends on the machine and is nobody's warning.
    rolldownOptions: { checks: { bundlerTimings: false } },
  },
};

/** How the program is bundled, once and while watching. */
export const builds = { commands, server, loader };
