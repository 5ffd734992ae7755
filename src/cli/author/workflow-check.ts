import { err, ok, type Result } from 'neverthrow';
import type { AuthorServices } from '../../app/author/author-services.ts';
import { type CheckReport, checkFiles } from '../../app/author/check-files.ts';
import { fixFiles } from '../../app/bench/check/fix-files.ts';
import type { Asked } from '../../app/bench/files/scope.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import type { CommandContext, CommandProblem, RunCommand } from '../command.ts';
import { type Checked, checkLines } from '../commands/workflow/check/check-lines.ts';
import { explainRule } from '../commands/workflow/check/explain-rule.ts';
import { EXIT } from '../exit-codes.ts';
import { plural } from '../output/wording.ts';
import type { WorkflowCheckData } from '../shapes/workflow/check-shape.ts';
import { benchProblem, problem, wrongUse } from './workflow-words.ts';

/** Where the rules of quality are explained. */
const LINT_PAGE = 'docs/reference/lint.md';

export const workflowCheck: RunCommand = async (context, { operands, options }) => {
  const { program, switches, progress } = context;
  const isStrict = options['strict'] === true;
  if (typeof options['explain'] === 'string') return explainRule(options['explain']);
  if (options['watch'] === true && switches.isJson) {
    return err(
      wrongUse(
        '--watch talks to a person and never ends, so it cannot be one JSON document.',
        'Leave out one of them.',
      ),
    );
  }
  progress.show({ label: 'checking workflows' });
  const bench = await program.bench();
  const isAll = options['all'] === true;
  const asked = { names: operands, isAll, isFixing: options['fix'] === true };
  const checked = await check(bench, asked);
  if (checked.isErr()) return err(checked.error);
  if (options['watch'] === true) return watch(context, bench, { ...asked, checked: checked.value });
  const wrong = problemOf(checked.value.totals, isStrict);
  return ok({
    kind: 'done',
    data: dataOf(checked.value),
    lines: checkLines(checked.value, { workspace: bench.workspace, isVerbose: switches.isVerbose }),
    ...(wrong === undefined ? {} : { problem: wrong }),
    next: nextOf(checked.value, { words: isAll ? ['--all'] : operands, isFailed: wrong !== undefined, isStrict }),
  });
};

type CheckAsked = Asked & { readonly isFixing: boolean };

async function check(
  bench: AuthorServices,
  { isFixing, ...asked }: CheckAsked,
): Promise<Result<Checked, CommandProblem>> {
  if (isFixing) {
    const fixed = await fixFiles(bench, asked);
    return fixed.map((done) => ({ ...done, totals: totalsOf(done) })).mapErr(benchProblem);
  }
  const checked = await checkFiles(bench, asked);
  return checked.map((done) => ({ ...done, made: [], totals: totalsOf(done) })).mapErr(benchProblem);
}

function totalsOf({ files }: CheckReport): WorkflowCheckData['totals'] {
  const findings = files.flatMap((file) => file.findings);
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const mendable = findings.filter(({ fix }) => fix !== undefined).length;
  return { files: files.length, errors, warnings: findings.length - errors, mendable };
}

/** Checks again whenever something changes, until the process is told to end. */
async function watch(
  { progress, say, switches }: CommandContext,
  bench: AuthorServices,
  { checked, ...asked }: CheckAsked & { readonly checked: Checked },
): Promise<Result<never, CommandProblem>> {
  progress.stop();
  let last = checked;
  let changed = bench.files.changed(watchedFolders(bench, last));
  for (;;) {
    for (const line of checkLines(last, { workspace: bench.workspace, isVerbose: switches.isVerbose })) say(line);
    say([{ text: 'Watching; Ctrl-C ends it.', style: 'dim' }]);
    await changed;
    // Watched from before it is read, so that no change falls in between.
    changed = bench.files.changed(watchedFolders(bench, last));
    const again = await check(bench, asked);
    if (again.isErr()) return err(again.error);
    say([]);
    last = again.value;
  }
}

function watchedFolders({ files, folders }: AuthorServices, { files: checked }: Checked): readonly string[] {
  const own = [folders.project, folders.user].filter((folder) => files.kindOf(folder) === 'folder');
  return [...new Set([...own, ...checked.map(({ path }) => path.slice(0, path.lastIndexOf('/')))])];
}

function problemOf(
  { errors, warnings, mendable }: WorkflowCheckData['totals'],
  isStrict: boolean,
): CommandProblem | undefined {
  if (errors === 0 && (!isStrict || warnings === 0)) return undefined;
  const counted = errors + (isStrict ? warnings : 0);
  const found = [
    ...(errors === 0 ? [] : [plural(errors, 'error')]),
    ...(isStrict && warnings > 0 ? [`${plural(warnings, 'warning')}, which --strict does not let pass`] : []),
  ];
  return problem(EXIT.checkFailed, {
    code: 'WORKFLOW_INVALID',
    message: `There ${counted === 1 ? 'is' : 'are'} ${found.join(' and ')}.`,
    suggestion: mendable > 0 ? 'Add --fix to let the mendable ones be mended.' : 'Mend what is told above.',
  });
}

function nextOf(
  { totals }: Checked,
  {
    words,
    isFailed,
    isStrict,
  }: { readonly words: readonly string[]; readonly isFailed: boolean; readonly isStrict: boolean },
): string {
  const named = words.length === 0 ? '' : ` ${words.map(shellWord).join(' ')}`;
  const again = `workrail workflow check${named}${isStrict ? ' --strict' : ''}`;
  if (totals.mendable > 0) return `${again} --fix`;
  return isFailed ? `${again} --watch` : `workrail workflow test${named}`;
}

function dataOf({ scope, files, made, totals }: Checked): WorkflowCheckData {
  return {
    scope,
    made,
    totals,
    files: files.map(({ path, workflowId, findings }) => ({
      path,
      ...(workflowId === undefined ? {} : { workflowId }),
      findings: findings.map(({ code, severity, line, column, pointer, message, hint, fix, isLint }) => ({
        code,
        severity,
        line,
        column,
        pointer,
        message,
        ...(hint === undefined ? {} : { hint }),
        ...(isLint ? { docs: `${LINT_PAGE}#${code}` } : {}),
        ...(fix === undefined ? {} : { fix }),
      })),
    })),
  };
}
