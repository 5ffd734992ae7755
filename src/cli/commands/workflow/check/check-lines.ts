import type { CheckedFile, CheckFinding, CheckReport } from '../../../../app/author/check-files.ts';
import type { MadeFix } from '../../../../app/bench/check/fix-files.ts';
import { scopeLines } from '../../../author/check-scope.ts';
import type { Line } from '../../../output/line.ts';
import { plural } from '../../../output/wording.ts';
import type { WorkflowCheckData } from '../../../shapes/workflow/check-shape.ts';
import { pathFrom } from '../short-path.ts';
import { codeFrame } from './code-frame.ts';

export type Checked = CheckReport & {
  readonly made: readonly MadeFix[];
  readonly totals: WorkflowCheckData['totals'];
};

export function checkLines(
  { scope, files, made, totals }: Checked,
  { workspace, isVerbose }: { readonly workspace: string; readonly isVerbose: boolean },
): readonly Line[] {
  const told = new Set<string>();
  const clean = files.filter(({ findings }) => findings.length === 0);
  return [
    ...made.map(({ path, title }): Line => [{ text: '✎ ', style: 'good' }, `${pathFrom(path, workspace)}: ${title}`]),
    ...files.flatMap((file) => file.findings.flatMap((finding) => findingLines(file, finding, { workspace, told }))),
    ...(isVerbose ? clean.map((file): Line => [{ text: '✓ ', style: 'good' }, pathFrom(file.path, workspace)]) : []),
    ...scopeLines(scope, { workspace, verb: 'Checked' }),
    summary(totals),
    ...(totals.errors === 0 ? [] : [[{ text: REST_OF_THE_RULES, style: 'dim' } as const]]),
  ];
}

const REST_OF_THE_RULES =
  'Of files with errors, only texts were looked at for quality; the other rules are applied when the errors are gone.';

/** What to do about a kind of finding is told once. */
function findingLines(
  { path, text }: CheckedFile,
  finding: CheckFinding,
  { workspace, told }: { readonly workspace: string; readonly told: Set<string> },
): readonly Line[] {
  const { code, severity, line, column, message, hint, fix, isLint, span } = finding;
  const isFirst = !told.has(code);
  told.add(code);
  return [
    [
      { text: `${pathFrom(path, workspace)}:${line}:${column}`, style: 'strong' },
      '  ',
      { text: severity, style: severity === 'error' ? 'bad' : 'notable' },
      { text: `  ${code}`, style: 'dim' },
    ],
    [`  ${message}`],
    ...codeFrame(text, { line, column, length: span?.length ?? 0 }),
    ...(hint === undefined || !isFirst ? [] : [[{ text: '  do: ', style: 'strong' } as const, hint]]),
    ...(fix === undefined ? [] : [[{ text: '  --fix: ', style: 'good' } as const, fix.title]]),
    ...(isLint && isFirst
      ? [[{ text: `  why: workrail workflow check --explain ${code}`, style: 'dim' } as const]]
      : []),
    [],
  ];
}

function summary({ files, errors, warnings, mendable }: WorkflowCheckData['totals']): Line {
  const isClean = errors + warnings === 0;
  return [
    { text: isClean ? '✓ ' : '', style: 'good' },
    `${plural(files, 'file')} checked: `,
    { text: plural(errors, 'error'), style: errors === 0 ? 'dim' : 'bad' },
    ', ',
    { text: plural(warnings, 'warning'), style: warnings === 0 ? 'dim' : 'notable' },
    ...(mendable === 0 ? [] : [`; ${mendable} can be mended with --fix`]),
  ];
}
