import type { Diagnostic } from './diagnostic.ts';

/** More than anyone reads at once; a file with a million mistakes must not cost more than one with a hundred. */
export const DIAGNOSTICS_OF_A_KIND_MAX = 100;

/** Collects what is found in a file. Errors and warnings are counted apart, so that no number of warnings hides an error. */
export type Diagnostics = {
  readonly add: (diagnostic: Diagnostic) => void;
  /** Whether one more would only be counted; then its words need not be found. */
  readonly isFull: (severity: Diagnostic['severity']) => boolean;
  readonly count: (severity: Diagnostic['severity']) => void;
  readonly hasErrors: () => boolean;
  readonly all: () => readonly Diagnostic[];
};

export function collectDiagnostics(): Diagnostics {
  const kept: { readonly [severity in Diagnostic['severity']]: Diagnostic[] } = { error: [], warning: [] };
  const leftOut = { error: 0, warning: 0 };
  const reported = new Set<string>();
  const isFull = (severity: Diagnostic['severity']) => kept[severity].length >= DIAGNOSTICS_OF_A_KIND_MAX;
  const count = (severity: Diagnostic['severity']) => {
    leftOut[severity] += 1;
  };
  return {
    isFull,
    count,
    add: (diagnostic) => {
      const { code, severity, pointer } = diagnostic;
      if (isFull(severity)) {
        count(severity);
        return;
      }
      // The compiler looks at some texts more than once; a second time says nothing new.
      const words = `${code} ${pointer} ${diagnostic.message}`;
      if (!reported.has(words)) kept[severity].push(diagnostic);
      reported.add(words);
    },
    hasErrors: () => kept.error.length > 0,
    all: () => [
      ...[...kept.error, ...kept.warning].sort(inReadingOrder),
      ...(['error', 'warning'] as const).flatMap((severity) => theRest(severity, kept[severity], leftOut[severity])),
    ],
  };
}

function theRest(severity: Diagnostic['severity'], kept: readonly Diagnostic[], count: number): readonly Diagnostic[] {
  const last = kept.at(-1);
  if (last === undefined || count === 0) return [];
  const message = `${count} more ${severity === 'error' ? 'errors' : 'warnings'} are not listed. Fix these first.`;
  return [{ code: 'more_problems', severity, pointer: last.pointer, span: last.span, message }];
}

/** From top to bottom, as an author reads; what stands at one place by its code. */
function inReadingOrder(a: Diagnostic, b: Diagnostic): number {
  return a.span.offset - b.span.offset || order(a.code, b.code) || order(a.pointer, b.pointer);
}

function order(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
