/** A stretch of a source text, counted in UTF-16 code units. */
export type SourceSpan = { readonly offset: number; readonly length: number };

/** A change to a source text that fixes a diagnostic. */
export type Edit = SourceSpan & { readonly text: string };

export type Fix = { readonly title: string; readonly edits: readonly Edit[] };

/** Something about a workflow file that its author should know, and where. Only errors keep a file from being used. */
export type Diagnostic = {
  readonly code: DiagnosticCode;
  readonly severity: 'error' | 'warning';
  /** JSON pointer of the value, or of the object that lacks one. */
  readonly pointer: string;
  readonly span: SourceSpan;
  /** What is wrong and what to do about it. */
  readonly message: string;
  /** A change that a machine can make, where there is just one right one. */
  readonly fix?: Fix;
};

export const DIAGNOSTIC_CODES = [
  'file_too_large',
  'file_unreadable',
  'link_leads_outside',
  'copy_edited',
  'source_not_accepted',
  'too_many_files',
  'not_json',
  'trailing_comma',
  'too_deep',
  'too_many_values',
  'duplicate_key',
  'reserved_key',
  'bad_text',
  'hidden_character',
  'bad_number',
  'unknown_key',
  'missing_field',
  'wrong_type',
  'wrong_value',
  'text_too_long',
  'text_empty',
  'text_too_short',
  'bad_id',
  'legacy_id',
  'reserved_namespace',
  'duplicate_id',
  'id_too_long',
  'file_name_differs',
  'prompt_missing',
  'prompt_twice',
  'unknown_condition',
  'two_operators',
  'unknown_operator',
  'condition_cycle',
  'bad_pattern',
  'unknown_contract',
  'unknown_assessment',
  'unknown_level',
  'unknown_function',
  'function_not_shown',
  'wrong_scope',
  'unknown_template',
  'broken_template',
  'template_recursion',
  'template_too_deep',
  'template_conflict',
  'missing_argument',
  'unknown_argument',
  'argument_undeclared',
  'argument_unused',
  'unknown_feature',
  'unknown_ref',
  'ref_misplaced',
  'ref_budget',
  'unknown_slot',
  'wrong_kind',
  'placeholder_left',
  'place_not_filled',
  'place_unsupported',
  'loop_without_limit',
  'loop_over_limit',
  'loop_without_control',
  'loop_control_misplaced',
  'setting_unused',
  'body_not_found',
  'context_loop',
  'schema_rule_not_enforced',
  'reference_outside',
  'reference_missing',
  'choice_kind_missing',
  'secret_in_context',
  'too_many_steps',
  'more_problems',
] as const;
export type DiagnosticCode = (typeof DIAGNOSTIC_CODES)[number];

/** A problem that shows only when the file is looked at as a whole; located by the pointer of what was written. */
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

/** A name that does not exist; those that do tell what was meant. */
export function unknownName(
  what: 'condition' | 'assessment' | 'contract' | 'feature' | 'function',
  at: string,
  { name, known }: NonNullable<CompilerFinding['unknown']>,
): CompilerFinding {
  const message = `Unknown ${what} "${name}".`;
  return { code: `unknown_${what}`, severity: 'error', at, message, unknown: { name, known } };
}

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

export type AppliedFixes = {
  readonly text: string;
  /** The diagnostics that were fixed. */
  readonly fixed: readonly Diagnostic[];
};

/**
 * The text with the fixes of these diagnostics made. A fix that touches what an earlier one changes is left for
 * another round, and a fix is made whole or not at all.
 */
export function applyFixes(text: string, diagnostics: readonly Diagnostic[]): AppliedFixes {
  const edits: Edit[] = [];
  const fixed: Diagnostic[] = [];
  for (const diagnostic of diagnostics) {
    const { fix } = diagnostic;
    if (fix === undefined || !isApart(fix, edits)) continue;
    edits.push(...fix.edits);
    fixed.push(diagnostic);
  }
  // From the end, so that no edit moves the place of one that is still to be made.
  return { text: edits.toSorted((a, b) => b.offset - a.offset).reduce(applied, text), fixed };
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
