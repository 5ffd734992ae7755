import { readSourceTree, type SourceFile, sourceFile } from '../tidy/source-file.ts';
import type { Claim } from './audit.ts';

/** Every claim of the tests below a root, in order of path. */
export function readClaims(root: string): readonly Claim[] {
  return readSourceTree(root).filter(isTestCode).flatMap(claimsIn);
}

/** The claims of one file: the ids in its `enforces(…)` calls. What stands in a comment or a text is no claim. */
function claimsIn(file: SourceFile): readonly Claim[] {
  return [...file.code.matchAll(/(?<!\bfunction\s+)\benforces\s*\(/g)].flatMap(({ 0: call, index }) => {
    const start = index + call.length;
    const list = file.codeWithStrings.slice(start, file.code.indexOf(')', start));
    // A text behind `===` is compared with, not claimed.
    return [...list.matchAll(/(=\s*)?(['"`])([^'"`]*)\2/g)]
      .filter(([, comparison]) => comparison === undefined)
      .map(([, , , id = '']) => ({ id, path: file.path }));
  });
}

/** The claims of a text that is not in the tree. */
export function claimsInText(path: string, text: string): readonly Claim[] {
  return claimsIn(sourceFile(path, text));
}

function isTestCode({ path }: SourceFile): boolean {
  return path.startsWith('test/') || /^src\/.*\.test\.tsx?$/.test(path);
}
