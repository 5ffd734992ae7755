import {
  createScanner,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
  type SyntaxKind,
} from 'jsonc-parser';
import { err, ok, type Result } from 'neverthrow';

// The library declares these as a const enum, which only its own compilation can use.
const OPENING: readonly SyntaxKind[] = [1, 3];
const CLOSING: readonly SyntaxKind[] = [2, 4];
const END: SyntaxKind = 17;
/** Settings nest a handful of levels; deeper files are mistakes or attacks. */
const DEPTH_MAX = 200;

/** What is wrong with a file, and where. */
export type JsonTrouble = { readonly offset: number; readonly problem: string };

/** Parses JSON as people write it in settings: with comments, trailing commas and a byte order mark before it. */
export function parseLenientJson(text: string): Result<Node, JsonTrouble> {
  const body = text.replace(/^\uFEFF/, '');
  const deep = firstTooDeep(body);
  if (deep !== undefined) return err({ offset: deep, problem: `nested more than ${DEPTH_MAX} deep` });
  const errors: ParseError[] = [];
  const tree = parseTree(body, errors, { allowTrailingComma: true, disallowComments: false });
  const [first] = errors;
  if (first !== undefined) return err({ offset: first.offset, problem: `not valid JSON (${wordsOf(first)})` });
  return tree?.type === 'object' ? ok(tree) : err({ offset: tree?.offset ?? 0, problem: 'expected an object' });
}

/** Looked for before the tree is built, because building it recurses. */
function firstTooDeep(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let token = scanner.scan(); token !== END; token = scanner.scan()) {
    if (OPENING.includes(token)) depth += 1;
    if (CLOSING.includes(token)) depth -= 1;
    if (depth > DEPTH_MAX) return scanner.getTokenOffset();
  }
  return undefined;
}

/** The library names problems like `CommaExpected`. */
function wordsOf({ error }: ParseError): string {
  return printParseErrorCode(error)
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
}
