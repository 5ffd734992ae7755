import { err, ok, type Result, safeTry } from 'neverthrow';
import { readDocument } from '../../core/author/read-document.ts';
import { scenarioFileSchema } from '../../core/author/scenario.ts';
import type { Flow } from '../../core/flow.ts';
import { defined } from '../../core/json/json-value.ts';
import type { Finding } from '../../core/wire/editor-shapes.ts';
import {
  applyFixes,
  collectDiagnostics,
  type Diagnostic,
  type DiagnosticCode,
  type Fix,
  type Position,
  type SourceSpan,
  sourcePosition,
} from '../../core/workflow/diagnostics/diagnostic.ts';
import type { LintCode } from '../../core/workflow/lint/lint-rule.ts';
import { lintFile, lintWorkflow } from '../../core/workflow/lint/lint-workflow.ts';
import { parseSource } from '../../core/workflow/source/parse-source.ts';
import { nodeAt } from '../../core/workflow/source/source-node.ts';
import {
  type Catalog,
  type InvalidFile,
  type ListedWorkflow,
  waitingSources,
  waitsForUser,
} from '../catalog/catalog.ts';
import { unreadDiagnostic } from '../catalog/file-result.ts';
import type { WorkflowCatalog } from '../catalog/workflow-catalog.ts';
import type { FileFailure } from '../ports/author-files.ts';
import { type AuthorCatalog, authorCatalog } from './author-catalog.ts';
import type { AuthorServices } from './author-services.ts';
import {
  type Asked,
  findTargets,
  isScenarioPath,
  isWithin,
  type NothingOwn,
  nothingOwn,
  scopeOf,
  type TargetRefusal,
  type TargetScope,
} from './find-targets.ts';

/** A finding of the compiler, of a lint rule, or about scenarios. */
export type CheckFinding = Position & {
  readonly code: DiagnosticCode | LintCode | 'scenario_invalid';
  readonly severity: 'error' | 'warning';
  /** Whether it comes from a lint rule, which has its own documentation. */
  readonly isLint: boolean;
  readonly pointer: string;
  readonly span?: SourceSpan;
  readonly message: string;
  readonly hint?: string;
  readonly fix?: Fix;
};

/** Where quality rules are explained. */
const LINT_PAGE = 'docs/reference/lint.md';

/** A finding as `--json` prints it and the editor shows it. */
export function shownFinding(finding: CheckFinding): Finding {
  const { code, severity, line, column, pointer, message, hint, fix, isLint } = finding;
  const more = defined({ hint, docs: isLint ? `${LINT_PAGE}#${code}` : undefined, fix });
  return { code, severity, line, column, pointer, message, ...more };
}

export type CheckedFile = {
  readonly path: string;
  readonly workflowId?: string;
  readonly text: string;
  readonly findings: readonly CheckFinding[];
};

export type CheckReport = {
  readonly scope: TargetScope;
  readonly files: readonly CheckedFile[];
  /** The sources that nobody accepted on this machine: nothing is known of their files. */
  readonly waiting?: readonly string[];
};

/** Checks the selected files and the scenarios beside them. Changes nothing. */
export async function checkFiles(
  author: AuthorServices,
  asked: Asked,
): Promise<Result<CheckReport, TargetRefusal | NothingOwn>> {
  const scope = scopeOf(author, asked);
  const own = scope.kind === 'project' || scope.kind === 'user' ? scope.folders : [];
  const targets = await findTargets(author, [
    ...asked.names,
    ...own.filter((folder) => author.files.list(folder).length > 0),
  ]);
  if (targets.isErr()) return err(targets.error);
  const scenarios = targets.value.filter(isScenarioPath);
  const workflows = targets.value.filter((path) => !isScenarioPath(path));
  const { all, catalog } = await authorCatalog(author, workflows);
  const wanted = new Set(workflows);
  // Bindings are part of a project's workflows; the file is beside their folder.
  const bindings = scope.kind === 'project' ? `${author.workspace}/.workrail/bindings.json` : undefined;
  const isWanted = ({ file }: ListedWorkflow | InvalidFile) =>
    scope.kind === 'all' ||
    file.path === bindings ||
    wanted.has(author.files.resolve(file.path)) ||
    isWithin(author, own, file.path);
  const waiting = scope.kind === 'all' ? waitingSources(all.invalid) : [];
  const isChecked = (one: ListedWorkflow | InvalidFile) =>
    isWanted(one) && !(waiting.length > 0 && 'diagnostics' in one && waitsForUser(one));
  const checked = await checkedIn(author, { all, catalog }, isChecked);
  const files = [
    ...checked.filter(({ path }) => path !== bindings),
    ...checkedBindings(
      all,
      isWanted,
      checked.find(({ path }) => path === bindings),
    ),
    ...scenarios.map((path) => checkScenarios(author, path)),
  ];
  if (files.length === 0 && waiting.length === 0) return err(nothingOwn(author));
  return ok({ scope, files, ...(waiting.length === 0 ? {} : { waiting }) });
}

async function checkedIn(
  author: AuthorServices,
  { all, catalog }: AuthorCatalog,
  isWanted: (one: ListedWorkflow | InvalidFile) => boolean,
): Promise<readonly CheckedFile[]> {
  const { yieldNow, compilePattern } = author;
  const files: CheckedFile[] = [];
  for (const one of [...all.workflows, ...all.invalid].filter(isWanted)) {
    await yieldNow();
    const { file, id: workflowId } = one;
    const text = file.content.kind === 'text' ? file.content.text : '';
    const lints = 'diagnostics' in one ? lintFile(text) : lintWorkflow(text, one, compilePattern);
    const findings = [
      ...('diagnostics' in one ? one.diagnostics : one.warnings).map((found) => ({ ...found, isLint: false })),
      ...lints.map((lint) => ({ ...lint, isLint: true })),
      ...('diagnostics' in one ? [] : await missingDocuments(author, catalog, one)),
    ];
    const inOrder = findings.sort((a, b) => a.line - b.line || a.column - b.column);
    files.push({ path: file.path, ...defined({ workflowId }), text, findings: inOrder });
  }
  return files.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Documents of a project that are not there. A workflow for several projects may name those that only some have. */
async function missingDocuments(
  author: AuthorServices,
  catalog: WorkflowCatalog,
  { file, workflow, sourceKind }: ListedWorkflow,
): Promise<readonly CheckFinding[]> {
  const { references } = workflow;
  if (sourceKind !== 'project' || references.length === 0 || file.content.kind !== 'text') return [];
  const { text } = file.content;
  const places = { workspace: author.workspace, file: file.path };
  const { references: documents } = await author.services(catalog);
  const found = await documents.find(references, places);
  const root = parseSource(text, collectDiagnostics());
  if (root.isErr()) return [];
  return found.flatMap(({ isResolved, path, title }, i): CheckFinding[] => {
    // Those of called routines come after the file's own.
    const { pointer, span } = nodeAt(root.value, `/references/${i}/source`);
    if (isResolved || !pointer.endsWith('/source')) return [];
    const message = `The document "${title}" was not found at ${path}. Correct the path, or add the file.`;
    return [
      {
        code: 'reference_missing',
        severity: 'warning',
        isLint: false,
        pointer,
        span,
        ...sourcePosition(text, span),
        message,
      },
    ];
  });
}

/** The bindings with what each of the workflows has to say about them. */
function checkedBindings(
  { workflows }: Catalog,
  isWanted: (one: ListedWorkflow) => boolean,
  alone: CheckedFile | undefined,
): readonly CheckedFile[] {
  const found = workflows.filter(isWanted).flatMap(({ bindingProblems }) => bindingProblems ?? []);
  const [first] = found;
  if (first === undefined) return alone === undefined ? [] : [alone];
  const { content, path } = first.file;
  const findings = new Map(
    [...found.flatMap(({ diagnostics }) => diagnostics), ...(alone?.findings ?? [])].map((one) => [
      `${one.pointer} ${one.message}`,
      { ...one, isLint: false },
    ]),
  );
  return [{ path, text: content.kind === 'text' ? content.text : '', findings: [...findings.values()] }];
}

function checkScenarios({ files }: AuthorServices, path: string): CheckedFile {
  const content = files.content(path);
  const text = content.kind === 'text' ? content.text : '';
  const read =
    content.kind === 'text'
      ? readDocument(text, scenarioFileSchema)
      : err([{ line: 1, column: 1, pointer: '', message: unreadDiagnostic(content.reason).message }]);
  const findings = (read.isErr() ? read.error : []).map(
    (problem): CheckFinding => ({ ...problem, code: 'scenario_invalid', severity: 'error', isLint: false }),
  );
  const id = read.isOk() ? { workflowId: read.value.workflowId } : {};
  return { path, ...id, text, findings };
}

/** A change that was made, with the title of its fix. */
export type MadeFix = { readonly path: string; readonly code: string; readonly title: string };

type FixReport = CheckReport & { readonly made: readonly MadeFix[] };
type FixRefusal = TargetRefusal | NothingOwn | FileFailure;

/** One fix may uncover the next. More rounds than this would mean two fixes that undo each other. */
const ROUNDS_MAX = 10;

/** Applies every automatic fix and reports what is left. Nothing else in a file changes. */
export async function fixFiles(author: AuthorServices, asked: Asked): Promise<Result<FixReport, FixRefusal>> {
  return safeTry(async function* (): Flow<FixReport, FixRefusal> {
    const made: MadeFix[] = [];
    for (let round = 0; ; round += 1) {
      const checked = yield* await checkFiles(author, asked);
      const before = made.length;
      const { scope, files } = checked;
      for (const file of round < ROUNDS_MAX ? files.filter((one) => isOwn(author, one, scope)) : []) {
        made.push(...(yield* fixFile(author, file)));
      }
      if (made.length === before) return ok({ ...checked, made });
    }
  });
}

/** Installed files are changed only if they are named. */
function isOwn(author: AuthorServices, { path }: CheckedFile, { kind }: TargetScope): boolean {
  return kind === 'named' || isWithin(author, [author.workspace, author.folders.user], path);
}

function fixFile(
  { files }: AuthorServices,
  { path, text, findings }: CheckedFile,
): Result<readonly MadeFix[], FileFailure> {
  const fixable = findings.filter((finding) => finding.fix !== undefined) as readonly Diagnostic[];
  const { text: fixed, fixed: applied } = applyFixes(text, fixable);
  if (fixed === text) return ok([]);
  const made = applied.flatMap(({ code, fix }) => (fix === undefined ? [] : [{ path, code, title: fix.title }]));
  return files.write(path, fixed).map(() => made);
}
