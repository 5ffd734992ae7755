import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { GeneratedFile } from './generated-files.ts';

/** Every file in this folder is generated, so that a file which no longer is can be found. */
const GENERATED_FOLDER = 'schemas';

export type GenerateOutcome = { readonly lines: readonly string[]; readonly exitCode: 0 | 1 };

/** Writes the generated files below `target`, or with `isCheck` compares them byte for byte and writes nothing. */
export function runGenerate(options: {
  readonly files: readonly GeneratedFile[];
  readonly target: string;
  readonly isCheck: boolean;
}): GenerateOutcome {
  const { files, target } = options;
  const stale = staleFiles(target, files);
  if (!options.isCheck) {
    for (const path of stale) write(target, path, files);
    return { lines: [`${files.length} generated files, ${stale.length} changed`, ...stale], exitCode: 0 };
  }
  if (stale.length === 0) return { lines: [`${files.length} generated files are up to date`], exitCode: 0 };
  return {
    lines: [...stale.map((path) => `out of date: ${path}`), 'To bring them up to date: npm run generate'],
    exitCode: 1,
  };
}

function staleFiles(target: string, files: readonly GeneratedFile[]): readonly string[] {
  const changed = files.filter(({ path, text }) => stored(target, path) !== text).map(({ path }) => path);
  const left = list(join(target, GENERATED_FOLDER))
    .map((name) => `${GENERATED_FOLDER}/${name}`)
    .filter((path) => !files.some((file) => file.path === path));
  return [...changed, ...left].sort();
}

function write(target: string, path: string, files: readonly GeneratedFile[]): void {
  const file = files.find((candidate) => candidate.path === path);
  if (file === undefined) {
    rmSync(join(target, path));
    return;
  }
  mkdirSync(dirname(join(target, path)), { recursive: true });
  writeFileSync(join(target, path), file.text);
}

function stored(target: string, path: string): string | undefined {
  try {
    return readFileSync(join(target, path), 'utf8');
  } catch {
    return undefined;
  }
}

function list(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
