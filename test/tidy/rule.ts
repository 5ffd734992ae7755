import { lineAt, type SourceFile } from './source-file.ts';

export type Finding = { readonly path: string; readonly line: number; readonly message: string };

/** A rule over the whole tree, with a text for every way to break it: a rule that cannot fire is worse than none. */
export type TidyRule = {
  readonly name: string;
  readonly find: (files: readonly SourceFile[]) => readonly Finding[];
  readonly planted: readonly (readonly Planted[])[];
};

/** Path and text of a file. */
export type Planted = readonly [path: string, text: string];

export type FindInFile = (file: SourceFile) => readonly Finding[];

export type Scope = (path: string) => boolean;

export const everywhere: Scope = () => true;
export const inSource: Scope = (path) => path.startsWith('src/');
export const inProgram: Scope = (path) => (inSource(path) || path.startsWith('console/')) && !isTest(path);
export const inCore: Scope = (path) => path.startsWith('src/core/') && !isTest(path);
export const outsideAdapters: Scope = (path) => inSource(path) && !path.startsWith('src/adapters/') && !isTest(path);

export function isTest(path: string): boolean {
  return /\.test\.tsx?$/.test(path);
}

/** Tests, and what only they use. */
export const isTestCode: Scope = (path) => path.startsWith('test/') || isTest(path);

/** A rule that looks at one file at a time. */
export function eachFile(scope: Scope, find: FindInFile): TidyRule['find'] {
  return (files) => files.filter(({ path }) => scope(path)).flatMap(find);
}

/** Findings for every match of a pattern in one form of the file. */
export function matches(form: 'code' | 'codeWithStrings', pattern: RegExp, message: string): FindInFile {
  return (file) =>
    [...file[form].matchAll(new RegExp(pattern, 'g'))].map((match) => ({
      path: file.path,
      line: lineAt(file.text, match.index),
      message: `${message}: ${match[0].trim()}`,
    }));
}

/** Findings for every comment that a pattern matches. */
export function commentsMatching(pattern: RegExp, message: string): FindInFile {
  return ({ path, comments }) =>
    comments.filter(({ text }) => pattern.test(text)).map(({ line }) => ({ path, line, message }));
}

/** A rule about the path alone. */
export function pathsMatching(pattern: RegExp, message: string): FindInFile {
  return ({ path }) => (pattern.test(path) ? [{ path, line: 1, message }] : []);
}

/** All that any of several searches finds. */
export function all(...finds: readonly FindInFile[]): FindInFile {
  return (file) => finds.flatMap((find) => find(file));
}
