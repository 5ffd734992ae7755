import { isTestCode } from '../tidy/rule.ts';
import { closingBracket, readSourceTree, type SourceFile, sourceFile } from '../tidy/source-file.ts';
import type { Claim } from './audit.ts';

/** Every claim of the tests below a root, in order of path. */
export function readClaims(root: string): readonly Claim[] {
  return readSourceTree(root)
    .filter(({ path }) => isTestCode(path))
    .flatMap(claimsIn);
}

/** The claims of one file: the ids in its `enforces(…)` calls. What stands in a comment or a text is no claim. */
function claimsIn(file: SourceFile): readonly Claim[] {
  const calls = [...file.code.matchAll(/(?<!\bfunction\s+)\benforces\s*\(/g)];
  const skippable = calls.length === 0 ? [] : skippableParts(file.code);
  return calls.flatMap(({ 0: call, index }) => {
    const start = index + call.length;
    const list = file.codeWithStrings.slice(start, file.code.indexOf(')', start));
    const maySkip = skippable.some((part) => part.start < index && index < part.end);
    // A text behind `===` is compared with, not claimed.
    return [...list.matchAll(/(=\s*)?(['"`])([^'"`]*)\2/g)]
      .filter(([, comparison]) => comparison === undefined)
      .map(([, , , id = '']) => ({ id, path: file.path, ...(maySkip ? { maySkip } : {}) }));
  });
}

type Part = { readonly start: number; readonly end: number };

/** Tests that do not run everywhere: by a condition in front of them, or because they can skip themselves. */
function skippableParts(code: string): readonly Part[] {
  return [...code.matchAll(/\b(it|test|describe)((?:\.\w+)*)\s*\(/g)].flatMap(
    ({ 0: head, 1: kind, 2: how = '', index }) => {
      const end = callsEnd(code, index + head.length);
      const skipsItself = kind !== 'describe' && /\bskip\s*\(/.test(code.slice(index, end));
      return skipsItself || /\.(?:runIf|skipIf)\b/.test(how) ? [{ start: index, end }] : [];
    },
  );
}

/** Where a call ends, and those that follow it at once, as after a condition or a table. */
function callsEnd(code: string, start: number): number {
  const end = closingBracket(code, start);
  const [next] = /^\)\s*(?:\.\w+)*\s*\(/.exec(code.slice(end)) ?? [];
  return next === undefined ? end : callsEnd(code, end + next.length);
}

/** The claims of a text that is not in the tree. */
export function claimsInText(path: string, text: string): readonly Claim[] {
  return claimsIn(sourceFile(path, text));
}
