import type { DiagnosticCode } from './diagnostics/diagnostic.ts';

/** Something wrong that shows only when the file is looked at as a whole; located by the pointer of what was written. */
export type CompilerFinding = {
  readonly code: DiagnosticCode;
  readonly severity: 'error' | 'warning';
  /** Where this is not in the file (it was made while compiling), the nearest value above counts. */
  readonly at: string;
  readonly message: string;
  /** A name that does not exist and those that do: what was meant is looked for when the finding is shown. */
  readonly unknown?: {
    readonly name: string;
    readonly known: readonly string[];
    /** The name is the key of what `at` points at. */
    readonly isKey?: boolean;
  };
};
