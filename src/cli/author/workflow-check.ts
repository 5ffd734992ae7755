import { err, type Result } from 'neverthrow';
import * as z from 'zod';
import type { AuthorServices } from '../../app/author/author-services.ts';
import {
  type CheckedFile,
  type CheckFinding,
  type CheckReport,
  checkFiles,
  fixFiles,
  type MadeFix,
  shownFinding,
} from '../../app/author/check-files.ts';
import type { Asked } from '../../app/author/find-targets.ts';
import { defined } from '../../core/json/json-value.ts';
import { nearest } from '../../core/text/spelling.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { findingShape } from '../../core/wire/editor-shapes.ts';
import { DIAGNOSTIC_CODES } from '../../core/workflow/diagnostics/diagnostic.ts';
import { LINT_CODES } from '../../core/workflow/lint/lint-rule.ts';
import { LINT_RULES } from '../../core/workflow/lint/lint-workflow.ts';
import { type CommandContext, type CommandOutcome, command, done } from '../command.ts';
import { bad, dim, good, type Line, strong } from '../output/line.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import { ALL, authorProblem, checkProblem, ownScope, pathFrom, scopeLines, waitingLines } from './workflow-words.ts';

const count = z.int().min(0);

const workflowCheckData = z.strictObject({
  /** Which workflows were checked; `rule` if a rule was explained instead. */
  scope: z.union([z.strictObject({ kind: z.enum(['named', 'all', 'rule']) }), ownScope]),
  /** The rule that --explain named. */
  rule: z.strictObject({ code: z.string(), finds: z.string(), why: z.string(), hint: z.string() }).exactOptional(),
  files: z
    .array(
      z.strictObject({
        path: z.string(),
        workflowId: z.string().exactOptional(),
        findings: z.array(findingShape).readonly(),
      }),
    )
    .readonly(),
  /** What --fix changed. */
  made: z.array(z.strictObject({ path: z.string(), code: z.string(), title: z.string() })).readonly(),
  totals: z.strictObject({ files: count, errors: count, warnings: count, mendable: count }),
  /** The sources that nobody accepted on this machine, so that their workflows were not checked. */
  waiting: z.array(z.string()).readonly().exactOptional(),
});
type WorkflowCheckData = z.infer<typeof workflowCheckData>;

export const workflowCheck = command({
  operands: [
    {
      syntax: '[file-or-id...]',
      help: 'files, folders or ids (default: the workflows of this project or, if it has none, your own)',
    },
  ],
  options: [
    { flags: '--fix', help: 'fix what can be fixed automatically' },
    { flags: '--strict', help: 'fail on warnings too' },
    { flags: '--watch', help: 'check again after every change' },
    ALL,
    { flags: '--explain <rule>', help: 'explain a quality rule; check nothing' },
  ],
  example: 'workrail workflow check --strict',
  data: workflowCheckData,
  run: async (context, { operands, options }) => {
    const { program, switches, progress } = context;
    const isStrict = options['strict'] === true;
    if (typeof options['explain'] === 'string') return explainRule(options['explain']);
    if (options['watch'] === true && switches.isJson) {
      return err(
        usageProblem('--watch never ends, so it cannot print one JSON document.', 'Remove --watch or --json.'),
      );
    }
    progress.show({ label: 'checking workflows' });
    const author = await program.author();
    const isAll = options['all'] === true;
    const asked = { names: operands, isAll, isFixing: options['fix'] === true };
    const checked = await check(author, asked);
    if (checked.isErr()) return err(checked.error);
    if (options['watch'] === true) return watch(context, author, { ...asked, checked: checked.value });
    const wrong = problemOf(checked.value.totals, isStrict);
    return done({
      data: dataOf(checked.value),
      lines: checkLines(checked.value, { workspace: author.workspace, isVerbose: switches.isVerbose }),
      problem: wrong,
      next: nextOf(checked.value, { words: isAll ? ['--all'] : operands, isFailed: wrong !== undefined, isStrict }),
    });
  },
});

const WIDTH_MAX = 100;

/** How much of a long line is shown before the marked place. */
const LEAD = 40;

/** A longer span is marked only where it begins. */
const MARKS_MAX = 48;

/** The line with the one before it, and a mark under the place. Long lines are cut around it. */
function codeFrame(
  text: string,
  { line, column, length }: { readonly line: number; readonly column: number; readonly length: number },
): readonly Line[] {
  const lines = text.replaceAll('\t', ' ').split('\n');
  const here = lines[line - 1];
  if (here === undefined || here.trim() === '') return [];
  const characters = [...here.replace(/\r$/, '')];
  const from =
    characters.length <= WIDTH_MAX ? 0 : Math.max(0, Math.min(column - 1 - LEAD, characters.length - WIDTH_MAX));
  const shown = characters.slice(from, from + WIDTH_MAX).join('');
  const lead = from > 0 ? '…' : '';
  const tail = from + WIDTH_MAX < characters.length ? '…' : '';
  const at = column - 1 - from + lead.length;
  const marked = Math.max(1, Math.min(length, WIDTH_MAX - (column - 1 - from), characters.length - column + 1));
  const marks = marked > MARKS_MAX ? 1 : marked;
  const gutter = String(line).length;
  const before = lines[line - 2];
  const isShown = before !== undefined && before.trim() !== '' && before.length <= WIDTH_MAX;
  return [
    ...(isShown ? [[dim(`    ${String(line - 1).padStart(gutter)} │ ${before}`)]] : []),
    [dim(`  ▸ ${line} │ `), `${lead}${shown}${tail}`],
    [dim(`    ${' '.repeat(gutter)} │ ${' '.repeat(at)}`), bad('^'.repeat(marks))],
  ];
}

type Checked = CheckReport & {
  readonly made: readonly MadeFix[];
  readonly totals: WorkflowCheckData['totals'];
};

function checkLines(
  { scope, files, made, totals, waiting = [] }: Checked,
  { workspace, isVerbose }: { readonly workspace: string; readonly isVerbose: boolean },
): readonly Line[] {
  const seen = new Set<string>();
  const clean = files.filter(({ findings }) => findings.length === 0);
  return [
    ...made.map(({ path, title }): Line => [good('✎ '), `${pathFrom(path, workspace)}: ${title}`]),
    ...files.flatMap((file) => file.findings.flatMap((finding) => findingLines(file, finding, { workspace, seen }))),
    ...(isVerbose ? clean.map((file): Line => [good('✓ '), pathFrom(file.path, workspace)]) : []),
    ...waitingLines(waiting),
    ...scopeLines(scope, { workspace, verb: 'Checked' }),
    summary(totals),
    ...(totals.errors === 0 ? [] : [[dim(REST_OF_THE_RULES)]]),
  ];
}

const REST_OF_THE_RULES =
  'In files with errors, only the quality rules for texts were applied. The other rules run once the errors are fixed.';

/** The advice for a kind of finding is shown once. */
function findingLines(
  { path, text }: CheckedFile,
  finding: CheckFinding,
  { workspace, seen }: { readonly workspace: string; readonly seen: Set<string> },
): readonly Line[] {
  const { code, severity, line, column, message, hint, fix, isLint, span } = finding;
  const isFirst = !seen.has(code);
  seen.add(code);
  return [
    [
      strong(`${pathFrom(path, workspace)}:${line}:${column}`),
      '  ',
      { text: severity, style: severity === 'error' ? 'bad' : 'notable' },
      dim(`  ${code}`),
    ],
    [`  ${message}`],
    ...codeFrame(text, { line, column, length: span?.length ?? 0 }),
    ...(hint === undefined || !isFirst ? [] : [[strong('  fix: '), hint]]),
    ...(fix === undefined ? [] : [[good('  --fix: '), fix.title]]),
    ...(isLint && isFirst ? [[dim(`  why: workrail workflow check --explain ${code}`)]] : []),
    [],
  ];
}

function summary({ files, errors, warnings, mendable: fixable }: WorkflowCheckData['totals']): Line {
  const isClean = errors + warnings === 0;
  return [
    good(isClean ? '✓ ' : ''),
    `${plural(files, 'file')} checked: `,
    { text: plural(errors, 'error'), style: errors === 0 ? 'dim' : 'bad' },
    ', ',
    { text: plural(warnings, 'warning'), style: warnings === 0 ? 'dim' : 'notable' },
    ...(fixable === 0 ? [] : [`; ${fixable} can be fixed with --fix`]),
  ];
}

type CheckAsked = Asked & { readonly isFixing: boolean };

async function check(
  author: AuthorServices,
  { isFixing, ...asked }: CheckAsked,
): Promise<Result<Checked, CommandProblem>> {
  if (isFixing) {
    const fixed = await fixFiles(author, asked);
    return fixed.map((done) => ({ ...done, totals: totalsOf(done) })).mapErr(authorProblem);
  }
  const checked = await checkFiles(author, asked);
  return checked.map((done) => ({ ...done, made: [], totals: totalsOf(done) })).mapErr(authorProblem);
}

function totalsOf({ files }: CheckReport): WorkflowCheckData['totals'] {
  const findings = files.flatMap((file) => file.findings);
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const fixable = findings.filter(({ fix }) => fix !== undefined).length;
  return { files: files.length, errors, warnings: findings.length - errors, mendable: fixable };
}

/** Checks again after every change, until the process is stopped. */
async function watch(
  { progress, say, switches }: CommandContext,
  author: AuthorServices,
  { checked, ...asked }: CheckAsked & { readonly checked: Checked },
): Promise<Result<never, CommandProblem>> {
  progress.stop();
  let last = checked;
  let changed = author.files.changed(watchedFolders(author, last));
  for (;;) {
    for (const line of checkLines(last, { workspace: author.workspace, isVerbose: switches.isVerbose })) say(line);
    say([dim('Watching for changes. Press Ctrl-C to stop.')]);
    await changed;
    // Watching starts before the files are read, so that no change is missed.
    changed = author.files.changed(watchedFolders(author, last));
    const again = await check(author, asked);
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
  { errors, warnings, mendable: fixable }: WorkflowCheckData['totals'],
  isStrict: boolean,
): CommandProblem | undefined {
  if (errors === 0 && (!isStrict || warnings === 0)) return undefined;
  const found = [
    ...(errors === 0 ? [] : [plural(errors, 'error')]),
    ...(isStrict && warnings > 0 ? [`${plural(warnings, 'warning')} (--strict)`] : []),
  ];
  const others = errors + warnings - fixable;
  const suggestion =
    fixable === 0
      ? 'Correct each finding above and run the command again.'
      : `Run again with --fix, which fixes ${others === 0 ? 'all findings' : `${fixable} of the findings; fix the others by hand`}.`;
  return checkProblem(`Found ${found.join(' and ')}.`, suggestion);
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
  if (isFailed) return `${again} --watch`;
  // The tests end with a strict check, so this one does not lead back to them.
  return isStrict ? 'workrail workflow list' : `workrail workflow test${named}`;
}

function dataOf({ scope, files, made, totals, waiting }: Checked): WorkflowCheckData {
  return {
    scope,
    made,
    totals,
    ...defined({ waiting }),
    files: files.map(({ path, workflowId, findings }) => ({
      path,
      ...defined({ workflowId }),
      findings: findings.map(shownFinding),
    })),
  };
}

function explainRule(code: string): Result<CommandOutcome<WorkflowCheckData>, CommandProblem> {
  const rule = LINT_RULES.find((one) => one.code === code);
  if (rule === undefined) {
    if (DIAGNOSTIC_CODES.some((known) => known === code)) {
      const message = `"${code}" is about the format of the file, so it has no quality rule.`;
      return err(
        problem(EXIT.notFound, message, 'Its finding says what to change; "workrail workflow check" shows it.'),
      );
    }
    const meant = nearest(code, LINT_CODES);
    return err(
      problem(
        EXIT.notFound,
        `Unknown quality rule "${code}".`,
        meant === undefined ? `The rules are ${LINT_CODES.join(', ')}.` : `Did you mean ${meant}?`,
      ),
    );
  }
  const { finds, why, hint } = rule;
  return done({
    data: {
      scope: { kind: 'rule' },
      files: [],
      made: [],
      totals: { files: 0, errors: 0, warnings: 0, mendable: 0 },
      rule: { code: rule.code, finds, why, hint },
    },
    lines: [[strong(code), `  finds ${finds}.`], [why], [strong('Instead: '), hint]],
    next: 'workrail workflow check',
  });
}
