import { collectDiagnostics, type Position, type SourceSpan, sourcePosition } from '../diagnostics/diagnostic.ts';
import { openReader, readWorkflow } from '../format/read-workflow.ts';
import type { CompilePattern } from '../pattern.ts';
import { parseSource } from '../source/parse-source.ts';
import { nodeAt } from '../source/source-node.ts';
import { contextNeverSet, contextSetLater, unreachableStep, unusedCondition } from './condition-rules.ts';
import type { LintCode, LintedFile, LintedWorkflow, LintFinding, LintRule } from './lint-rule.ts';
import {
  asksTheUser,
  assuranceWithoutGate,
  flagOnlyValidation,
  minimumUnreachable,
  missingAbout,
  missingExamples,
  patternsTooLarge,
  promptTooLong,
  reservedLine,
  samplePasses,
  vagueOptOut,
} from './text-rules.ts';

/** A finding as an editor shows it. */
export type LocatedLint = Position & {
  readonly code: LintCode;
  readonly severity: 'error' | 'warning';
  readonly pointer: string;
  readonly span: SourceSpan;
  readonly message: string;
  readonly hint: string;
};

/** What could be better in a workflow that compiles, from top to bottom. */
export function lintWorkflow(
  text: string,
  { workflow, kind, sourceKind }: Pick<LintedWorkflow, 'workflow' | 'kind'> & { readonly sourceKind?: string },
  compilePattern: CompilePattern,
): readonly LocatedLint[] {
  const diagnostics = collectDiagnostics();
  const parsed = parseSource(text, diagnostics);
  if (parsed.isErr()) return [];
  const root = parsed.value;
  const syntax = readWorkflow(openReader(diagnostics, root));
  if (syntax === undefined) return [];
  const linted = { kind, text, root, syntax, workflow, compilePattern };
  const isBundled = sourceKind === 'bundled';
  return located(linted, (rule) => rule.find(linted), isBundled);
}

/** The same for a file that does not compile, by the rules that look at the file alone. */
export function lintFile(text: string): readonly LocatedLint[] {
  const parsed = parseSource(text, collectDiagnostics());
  if (parsed.isErr()) return [];
  const linted = { text, root: parsed.value };
  return located(linted, (rule) => (rule.looksAt === 'file' ? rule.find(linted) : []));
}

function located(
  { text, root }: LintedFile,
  findBy: (rule: LintRule) => readonly LintFinding[],
  isBundled = false,
): readonly LocatedLint[] {
  return LINT_RULES.flatMap((rule) =>
    findBy(rule).map(({ at, span, message }) => {
      const { pointer, span: whole } = nodeAt(root, at);
      const place = span ?? whole;
      const { code, hint } = rule;
      return {
        code,
        severity: rule.isError || (isBundled && rule.isErrorInBundled) ? ('error' as const) : ('warning' as const),
        pointer,
        span: place,
        ...sourcePosition(text, place),
        message,
        hint,
      };
    }),
  ).sort((a, b) => a.span.offset - b.span.offset);
}

/** Every rule about the quality of a workflow. */
export const LINT_RULES: readonly LintRule[] = [
  flagOnlyValidation,
  samplePasses,
  patternsTooLarge,
  vagueOptOut,
  asksTheUser,
  promptTooLong,
  unreachableStep,
  unusedCondition,
  contextNeverSet,
  contextSetLater,
  minimumUnreachable,
  assuranceWithoutGate,
  reservedLine,
  missingAbout,
  missingExamples,
];
