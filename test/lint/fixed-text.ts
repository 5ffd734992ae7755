import { applyFixes, type Diagnostic } from '../../src/core/workflow/diagnostics/diagnostic.ts';

/** A file with every fix made that is offered for it. */
export function fixedText(text: string, diagnosticsOf: (text: string) => readonly Diagnostic[]): string {
  const { text: fixed } = applyFixes(text, diagnosticsOf(text));
  return fixed === text ? text : fixedText(fixed, diagnosticsOf);
}
