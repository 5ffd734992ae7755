import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { sourceRegions } from './source-regions.ts';

/** A source file in the forms the rules look at; all of them keep the line numbers of the text. */
export type SourceFile = {
  /** Relative to the root of the repository, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Without the content of comments, strings, templates and patterns. */
  readonly code: string;
  /** Without comments only, for rules about import specifiers. */
  readonly codeWithStrings: string;
  readonly comments: readonly Comment[];
};

export type Comment = { readonly line: number; readonly text: string };

const SOURCE_FOLDERS = ['src', 'test', 'scripts', 'bench', 'console'];
const SOURCE_EXTENSIONS = new Set(['.ts', '.tsx', '.mts', '.mjs', '.js']);

/** Every source file below a root, in order of path. */
export function readSourceTree(root: string): readonly SourceFile[] {
  return SOURCE_FOLDERS.flatMap((folder) => pathsBelow(root, folder))
    .filter((path) => SOURCE_EXTENSIONS.has(extname(path)))
    .sort()
    .map((path) => sourceFile(path, readFileSync(join(root, path), 'utf8')));
}

export function sourceFile(path: string, text: string): SourceFile {
  const regions = sourceRegions(text);
  const comments = regions
    .filter(({ kind }) => kind === 'comment')
    .map(({ start, end }) => ({ line: lineAt(text, start), text: text.slice(start, end) }));
  let code = '';
  let codeWithStrings = '';
  for (const { kind, start, end } of regions) {
    const part = text.slice(start, end);
    code += kind === 'code' ? part : blank(part);
    codeWithStrings += kind === 'comment' ? blank(part) : part;
  }
  return { path, text, code, codeWithStrings, comments };
}

/** The line, counted from 1, of a position in a text. */
export function lineAt(text: string, position: number): number {
  return text.slice(0, position).split('\n').length;
}

/** Where the round bracket ends that opens just before a position. */
export function closingBracket(code: string, start: number): number {
  let depth = 1;
  for (let i = start; i < code.length; i++) {
    if (code[i] === '(') depth += 1;
    if (code[i] === ')') depth -= 1;
    if (depth === 0) return i;
  }
  return code.length;
}

function blank(text: string): string {
  return text.replaceAll(/[^\n]/g, ' ');
}

function pathsBelow(root: string, folder: string): readonly string[] {
  const entries = readdirSync(root, { withFileTypes: true }).some(({ name }) => name === folder)
    ? readdirSync(join(root, folder), { withFileTypes: true, recursive: true })
    : [];
  return entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    );
}
