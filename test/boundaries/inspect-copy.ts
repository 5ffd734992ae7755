import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative, resolve } from 'node:path';
import { TIDY_RULES } from '../tidy/rules.ts';
import { readSourceTree } from '../tidy/source-file.ts';

export type Tool = 'tsc' | 'biome' | 'tidy';
export type Report = { readonly tool: Tool; readonly path: string; readonly rule: string };

export type AddedFile = {
  readonly path: string;
  readonly text: string;
  /** Not shown to the compiler: its complaints would be about other files. */
  readonly isHiddenFromCompiler?: boolean;
};

const PROJECTS = ['core', 'app', 'adapters', 'mcp', 'http', 'cli'].map((layer) => `src/${layer}`);
/** How the guards are set up, and what the added files import. The check looks at the program itself. */
const COPIED = [
  ...['biome', 'biome.json', 'package.json', 'tsconfig.base.json'],
  ...PROJECTS.map((project) => `${project}/tsconfig.json`),
  ...['src/core/json', 'src/core/text', 'src/core/assert.ts'],
];

/**
 * Copies the layers into a temporary folder, adds files to them and says what the three guards report. Nothing is
 * compiled in place: a wrong import could make the compiler write into `src`.
 */
export function inspectCopy(root: string, added: readonly AddedFile[]): readonly Report[] {
  const copy = realpathSync(mkdtempSync(join(tmpdir(), 'workrail-boundaries-')));
  try {
    for (const name of COPIED) cpSync(join(root, name), join(copy, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'), 'dir');
    for (const { path, text } of added) {
      mkdirSync(dirname(join(copy, path)), { recursive: true });
      writeFileSync(join(copy, path), text);
    }
    // The compiler comes last, because it leaves declarations beside the files it should not have reached.
    const reports = [...linterReports(copy), ...tidyReports(copy)];
    for (const { path } of added.filter(({ isHiddenFromCompiler }) => isHiddenFromCompiler)) rmSync(join(copy, path));
    return [...reports, ...compilerReports(copy)];
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function compilerReports(copy: string): readonly Report[] {
  const output = run(copy, ['node_modules/typescript/bin/tsc', '-b', '--pretty', 'false', ...PROJECTS]);
  return [...output.matchAll(/^(\S.*?)\(\d+,\d+\): error (TS\d+):/gm)].map(([, path = '', rule = '']) => ({
    tool: 'tsc',
    path,
    rule,
  }));
}

function linterReports(copy: string): readonly Report[] {
  const biome = 'node_modules/@biomejs/biome/bin/biome';
  const output = run(copy, [biome, 'lint', '--max-diagnostics=none', '--reporter=github', '--diagnostic-level=error']);
  return [...output.matchAll(/^::error title=([^,]+),file=([^,]+),/gm)].map(([, rule = '', path = '']) => ({
    tool: 'biome',
    path: relative(copy, resolve(copy, path)),
    rule,
  }));
}

function tidyReports(copy: string): readonly Report[] {
  const files = readSourceTree(copy);
  return TIDY_RULES.flatMap(({ name, find }) =>
    find(files).map(({ path }) => ({ tool: 'tidy', path, rule: name }) as const),
  );
}

function run(cwd: string, args: readonly string[]): string {
  const { stdout, stderr, error } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (error !== undefined) throw error;
  return stdout + stderr;
}
