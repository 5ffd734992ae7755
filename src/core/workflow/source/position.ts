import type { SourceSpan } from '../diagnostics/diagnostic.ts';

/** A place as editors show it: both counted from 1, columns in characters rather than UTF-16 units. */
export type Position = { readonly line: number; readonly column: number };

/** Where a span begins. */
export function sourcePosition(text: string, { offset }: SourceSpan): Position {
  let line = 1;
  let start = 0;
  for (let at = text.indexOf('\n'); at !== -1 && at < offset; at = text.indexOf('\n', start)) {
    line += 1;
    start = at + 1;
  }
  let column = 1;
  for (const _ of text.slice(start, offset)) column += 1;
  return { line, column };
}
