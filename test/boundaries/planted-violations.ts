/** A file that breaks one rule, and what each tool must say about it. A tool that is not named need not see it. */
export type PlantedViolation = {
  readonly what: string;
  readonly path: string;
  readonly text: string;
  readonly reports: { readonly tsc?: string; readonly biome?: string; readonly tidy?: string };
};

/** Harmless files, one for each layer, so that a planted import has something real to reach for. */
export const TARGETS = ['core', 'app', 'adapters', 'mcp', 'http', 'cli'].map((layer) => ({
  path: `src/${layer}/planted/target.ts`,
  text: `export const target = '${layer}';\n${'// Long enough for a file with a single importer.\n'.repeat(25)}`,
}));

const RESTRICTED_GLOBAL = 'lint/style/noRestrictedGlobals';
const RESTRICTED_IMPORT = 'lint/style/noRestrictedImports';

export const IMPURE_CORE: readonly PlantedViolation[] = [
  {
    what: 'core imports a Node module',
    path: 'src/core/planted/node-import.ts',
    text: "import { readFileSync } from 'fs';\n\nexport const read = readFileSync;\n",
    reports: { tsc: 'TS2591', biome: 'lint/correctness/noNodejsModules', tidy: 'no-node-below-adapters' },
  },
  {
    what: 'core imports a node: module',
    path: 'src/core/planted/node-protocol.ts',
    text: "import { createHash } from 'node:crypto';\n\nexport const hash = createHash;\n",
    reports: { tsc: 'TS2591', biome: 'lint/correctness/noNodejsModules', tidy: 'no-node-below-adapters' },
  },
  {
    what: 'core touches the DOM',
    path: 'src/core/planted/dom.ts',
    text: 'export const title = document.title;\n',
    reports: { tsc: 'TS2584', biome: RESTRICTED_GLOBAL },
  },
  {
    what: 'core reads the clock',
    path: 'src/core/planted/clock.ts',
    text: 'export const now = () => Date.now();\n',
    reports: { biome: 'plugin', tidy: 'core-takes-time-and-chance-from-outside' },
  },
  {
    what: 'core makes a date of the present moment',
    path: 'src/core/planted/present.ts',
    text: 'export const now = () => new Date();\n',
    reports: { biome: 'plugin', tidy: 'core-takes-time-and-chance-from-outside' },
  },
  {
    what: 'core writes the present moment as text',
    path: 'src/core/planted/present-text.ts',
    text: 'export const now = () => Date();\n',
    reports: { biome: 'plugin', tidy: 'core-takes-time-and-chance-from-outside' },
  },
  {
    what: 'core reads the clock through globalThis',
    path: 'src/core/planted/hidden-clock.ts',
    text: 'export const now = () => globalThis.Date.now();\n',
    reports: { biome: RESTRICTED_GLOBAL, tidy: 'global-this' },
  },
  {
    what: 'core reads the clock through a date format',
    path: 'src/core/planted/formatted-clock.ts',
    text: 'export const now = () => new Intl.DateTimeFormat().format();\n',
    reports: { biome: RESTRICTED_GLOBAL, tidy: 'core-takes-time-and-chance-from-outside' },
  },
  {
    what: 'core draws a random number out of a list',
    path: 'src/core/planted/listed-chance.ts',
    text: 'export const chance = () => [Math][0]?.random();\n',
    reports: { tidy: 'core-takes-time-and-chance-from-outside' },
  },
  {
    what: 'core draws a random number',
    path: 'src/core/planted/chance.ts',
    text: 'export const chance = () => Math.random();\n',
    reports: { biome: 'plugin', tidy: 'core-takes-time-and-chance-from-outside' },
  },
  {
    what: 'core takes Math.random under another name',
    path: 'src/core/planted/hidden-chance.ts',
    text: 'const { random } = Math;\nexport const chance = () => random();\n',
    reports: { tidy: 'core-takes-time-and-chance-from-outside' },
  },
  {
    what: 'core has an async function',
    path: 'src/core/planted/async-function.ts',
    text: 'export async function wait(first: number, second: number) {\n  return first + second;\n}\n',
    reports: { biome: 'plugin', tidy: 'core-is-synchronous' },
  },
  {
    what: 'core has an async method',
    path: 'src/core/planted/async-method.ts',
    text: 'export const queue = {\n  async wait() {\n    return 1;\n  },\n};\n',
    reports: { biome: 'plugin', tidy: 'core-is-synchronous' },
  },
  {
    what: 'core sets a timer',
    path: 'src/core/planted/timer.ts',
    text: 'export const later = (run: () => void) => setTimeout(run, 10);\n',
    reports: { tsc: 'TS2304', biome: RESTRICTED_GLOBAL, tidy: 'core-is-synchronous' },
  },
];

export const WRONG_WAY_IMPORTS: readonly PlantedViolation[] = [
  wrongWay({ from: 'core', to: 'app' }),
  wrongWay({ from: 'app', to: 'adapters' }),
  wrongWay({ from: 'mcp', to: 'adapters' }),
  wrongWay({ from: 'http', to: 'mcp' }),
  wrongWay({ from: 'cli', to: 'mcp' }),
  wrongWay({ from: 'adapters', to: 'cli' }),
  {
    ...wrongWay({ from: 'adapters', to: 'app' }),
    // The compiler cannot tell the ports of app from the rest of it.
    reports: { biome: RESTRICTED_IMPORT, tidy: 'layer-direction' },
  },
  {
    what: 'cli imports compose',
    path: 'src/cli/planted/imports-compose.ts',
    text: "import '../../compose.ts';\n",
    // The compiler refuses it too, but then complains about every file that compose brings along.
    reports: { biome: RESTRICTED_IMPORT, tidy: 'layer-direction' },
  },
  {
    what: 'app imports a node: module',
    path: 'src/app/planted/node-protocol.ts',
    text: "import { readFileSync } from 'node:fs';\n\nexport const read = readFileSync;\n",
    reports: { tsc: 'TS2591', biome: 'lint/correctness/noNodejsModules', tidy: 'no-node-below-adapters' },
  },
  {
    what: 'console imports app',
    path: 'console/planted/imports-app.ts',
    text: "import { target } from '../../src/app/planted/target.ts';\n\nexport const reached = target;\n",
    reports: { biome: RESTRICTED_IMPORT, tidy: 'layer-direction' },
  },
];

export const CAUGHT_OUTSIDE_ADAPTERS: readonly PlantedViolation[] = ['core', 'app', 'mcp', 'http', 'cli'].map(
  (layer) => ({
    what: `${layer} catches an exception`,
    path: `src/${layer}/planted/catches.ts`,
    text: 'export function attempt(run: () => void) {\n  try {\n    run();\n  } catch {\n    return false;\n  }\n  return true;\n}\n',
    reports: { biome: 'plugin', tidy: 'caught-in-adapters-only' },
  }),
);

export const NON_HOUSE_CODE: readonly PlantedViolation[] = [
  {
    what: 'a barrel file',
    path: 'src/app/planted/index.ts',
    text: "export { target } from './target.ts';\n",
    reports: { biome: 'lint/performance/noBarrelFile', tidy: 'no-barrels' },
  },
  {
    what: 'a version suffix in a file name',
    path: 'src/app/planted/start-v2.ts',
    text: 'export const start = 1;\n',
    reports: { tidy: 'version-in-name' },
  },
  {
    what: 'a version suffix in an identifier',
    path: 'src/app/planted/start.ts',
    text: 'export const startV2 = 1;\n',
    reports: { tidy: 'version-in-name' },
  },
  {
    what: 'a default export',
    path: 'src/app/planted/by-default.ts',
    text: 'export default function start() {}\n',
    reports: { biome: 'lint/style/noDefaultExport' },
  },
  {
    what: 'an ad-hoc string is hashed',
    path: 'src/app/planted/hashes-text.ts',
    text: "import type { Sha256 } from '../../core/json/canonical-json.ts';\n\nexport const digest = (sha256: Sha256) => sha256('text');\n",
    reports: { tsc: 'TS2345' },
  },
  {
    what: 'bytes that are not canonical are hashed',
    path: 'src/app/planted/hashes-bytes.ts',
    text: "import type { Sha256 } from '../../core/json/canonical-json.ts';\n\nexport const digest = (sha256: Sha256) => sha256(new Uint8Array(1));\n",
    reports: { tsc: 'TS2345' },
  },
  {
    what: 'a function of 61 lines',
    path: 'src/app/planted/long-function.ts',
    text: `export function long(run: () => void) {\n${'  run();\n'.repeat(61)}}\n`,
    reports: { biome: 'lint/complexity/noExcessiveLinesPerFunction' },
  },
  {
    what: 'a function of four parameters',
    path: 'src/app/planted/wide-function.ts',
    text: 'export const sum = (a: number, b: number, c: number, d: number) => a + b + c + d;\n',
    reports: { biome: 'lint/complexity/useMaxParams' },
  },
  {
    what: 'a file name in camel case',
    path: 'src/app/planted/camelCase.ts',
    text: 'export const start = 1;\n',
    reports: { biome: 'lint/style/useFilenamingConvention' },
  },
  {
    what: 'an import without its extension',
    path: 'src/app/planted/no-extension.ts',
    text: "import { target } from './target';\n\nexport const reached = target;\n",
    reports: { tsc: 'TS2835', biome: 'lint/correctness/useImportExtensions' },
  },
];

function wrongWay({ from, to }: { readonly from: string; readonly to: string }): PlantedViolation {
  return {
    what: `${from} imports ${to}`,
    path: `src/${from}/planted/imports-${to}.ts`,
    text: `import { target } from '../../${to}/planted/target.ts';\n\nexport const reached = target;\n`,
    reports: { tsc: 'TS6307', biome: RESTRICTED_IMPORT, tidy: 'layer-direction' },
  };
}
