import { readFileSync, writeFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));

const MAIN = 'dist/workrail.js';

/** The bundler makes the main file load its helpers even where only other chunks call them; nobody should wait for that. */
const leanMain = {
  name: 'lean-main',
  setup: (build) =>
    build.onEnd(({ metafile }) => {
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

/** How the program is bundled, once and while watching. Chunks are split so that a command loads only what it needs. */
export const buildOptions = {
  entryPoints: { workrail: 'src/compose.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node20',
  minify: true,
  chunkNames: 'chunks/[name]-[hash]',
  mainFields: ['module', 'main'],
  external: ['fs-native-extensions'],
  // commander is no ES module and asks for Node's modules by `require`.
  banner: { js: "import{createRequire}from'node:module';const require=createRequire(import.meta.url);" },
  define: { WORKRAIL_VERSION: JSON.stringify(version) },
  metafile: true,
  plugins: [leanMain],
  logLevel: 'warning',
};
