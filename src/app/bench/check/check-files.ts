import { err, ok, type Result } from 'neverthrow';
import { readDocument } from '../../../core/run/scenario/read-document.ts';
import { scenarioFileSchema } from '../../../core/run/scenario/scenario.ts';
import type { DiagnosticCode, Fix, Span } from '../../../core/workflow/diagnostics/diagnostic.ts';
import type { LintCode } from '../../../core/workflow/lint/lint-rule.ts';
import { lintWorkflow } from '../../../core/workflow/lint/lint-workflow.ts';
import type { Position } from '../../../core/workflow/source/position.ts';
import type { Catalog, InvalidFile, ListedWorkflow } from '../../catalog/catalog.ts';
import type { AuthorBench } from '../author-bench.ts';
import { benchCatalog } from '../files/bench-catalog.ts';
import { findTargets, isScenarioPath, type TargetRefusal } from '../files/find-targets.ts';

/** Something that an author should know: of the compiler, of a rule of quality, or about scenarios. */
export type CheckFinding = Position & {
  readonly code: DiagnosticCode | LintCode | 'scenario_invalid';
  readonly severity: 'error' | 'warning';
  /** Whether it is about quality: the rule is explained on the page of the rules. */
  readonly isLint: boolean;
  readonly pointer: string;
  readonly span?: Span;
  readonly message: string;
  readonly hint?: string;
  readonly fix?: Fix;
};

export type CheckedFile = {
  readonly path: string;
  readonly workflowId?: string;
  readonly text: string;
  readonly findings: readonly CheckFinding[];
};

/** Looks at these files, or at every workflow there is. Nothing is changed. */
export async function checkFiles(
  bench: AuthorBench,
  asked: readonly string[],
): Promise<Result<readonly CheckedFile[], TargetRefusal>> {
  const targets = await findTargets(bench, asked);
  if (targets.isErr()) return err(targets.error);
  const scenarios = targets.value.filter(isScenarioPath);
  const workflows = targets.value.filter((path) => !isScenarioPath(path));
  const isAll = asked.length === 0;
  const { all } = await benchCatalog(bench, workflows);
  const wanted = new Set(workflows);
  const isWanted = ({ file }: ListedWorkflow | InvalidFile) => isAll || wanted.has(bench.files.resolve(file.path));
  return ok([...checkedIn(all, isWanted), ...scenarios.map((path) => checkScenarios(bench, path))]);
}

function checkedIn(all: Catalog, isWanted: (one: ListedWorkflow | InvalidFile) => boolean): readonly CheckedFile[] {
  const listed = all.workflows.filter(isWanted).map((one): CheckedFile => {
    const text = textOf(one);
    const lints = lintWorkflow(text, one).map((lint) => ({ ...lint, isLint: true }));
    const warnings = one.warnings.map((warning) => ({ ...warning, isLint: false }));
    return { path: one.file.path, workflowId: one.id, text, findings: inOrder([...warnings, ...lints]) };
  });
  const invalid = all.invalid.filter(isWanted).map((one): CheckedFile => {
    const findings = one.diagnostics.map((diagnostic) => ({ ...diagnostic, isLint: false }));
    const id = one.id === undefined ? {} : { workflowId: one.id };
    return { path: one.file.path, ...id, text: textOf(one), findings: inOrder(findings) };
  });
  return [...listed, ...invalid].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function textOf({ file }: ListedWorkflow | InvalidFile): string {
  return file.content.kind === 'text' ? file.content.text : '';
}

function inOrder(findings: readonly CheckFinding[]): readonly CheckFinding[] {
  return findings.toSorted((a, b) => a.line - b.line || a.column - b.column);
}

function checkScenarios({ files }: AuthorBench, path: string): CheckedFile {
  const text = files.read(path).unwrapOr('');
  const read = readDocument(text, scenarioFileSchema);
  const problems = read.isErr() ? read.error : [];
  const findings = problems.map((problem): CheckFinding => {
    return { ...problem, code: 'scenario_invalid', severity: 'error', isLint: false };
  });
  const id = read.isOk() ? { workflowId: read.value.workflowId } : {};
  return { path, ...id, text, findings };
}
