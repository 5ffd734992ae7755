import type { Diagnostic, Edit, Fix } from './diagnostic.ts';

export type AppliedFixes = {
  readonly text: string;
  /** The diagnostics that were mended. */
  readonly mended: readonly Diagnostic[];
};

/**
 * The text with the fixes of these diagnostics made. A fix that touches what an earlier one changes is left for
 * another round, and a fix is made whole or not at all.
 */
export function applyFixes(text: string, diagnostics: readonly Diagnostic[]): AppliedFixes {
  const edits: Edit[] = [];
  const mended: Diagnostic[] = [];
  for (const diagnostic of diagnostics) {
    const { fix } = diagnostic;
    if (fix === undefined || !isApart(fix, edits)) continue;
    edits.push(...fix.edits);
    mended.push(diagnostic);
  }
  // From the end, so that no edit moves the place of one that is still to be made.
  const fixed = edits.toSorted((a, b) => b.offset - a.offset).reduce(applied, text);
  return { text: fixed, mended };
}

function applied(text: string, edit: Edit): string {
  return text.slice(0, edit.offset) + edit.text + text.slice(edit.offset + edit.length);
}

function isApart({ edits }: Fix, others: readonly Edit[]): boolean {
  return edits.every((edit) => others.every((other) => end(edit) < other.offset || end(other) < edit.offset));
}

function end({ offset, length }: Edit): number {
  return offset + length;
}
