import type { TestedFile, TestReport } from '../../../../app/author/test-workflows.ts';
import { type Coverage, percentOf } from '../../../../core/author/coverage.ts';
import { scopeLines } from '../../../author/check-scope.ts';
import type { Line } from '../../../output/line.ts';
import { plural, shortList, sizeOf } from '../../../output/wording.ts';
import { pathFrom } from '../short-path.ts';

type Told = { readonly isVerbose: boolean; readonly workspace: string };

const MISSING_SHOWN_MAX = 8;

/** Every scenario on a line, what went wrong under it, and what no scenario reaches. */
export function testLines({ scope, files, untested }: TestReport, told: Told): readonly Line[] {
  const scenarios = files.flatMap((file) => file.scenarios);
  const failed = scenarios.filter(({ failures }) => failures.length > 0).length;
  const passed = `${scenarios.length - failed} passed`;
  return [
    ...files.flatMap((file) => fileLines(file, told)),
    ...(untested.length === 0
      ? []
      : [
          [
            {
              text: `no scenarios: ${told.isVerbose ? untested.join(', ') : shortList(untested)}`,
              style: 'notable',
            } as const,
          ],
        ]),
    ...scopeLines(scope, { workspace: told.workspace, verb: 'Tested' }),
    [
      `${plural(scenarios.length, 'scenario')} in ${plural(files.length, 'file')}, each also with a lossy agent: `,
      { text: passed, style: failed === 0 ? 'good' : 'strong' },
      ...(failed === 0 ? [] : [', ', { text: `${failed} failed`, style: 'bad' } as const]),
    ],
  ];
}

function fileLines({ path, workflowId, problems, scenarios, coverage }: TestedFile, told: Told): readonly Line[] {
  const file = pathFrom(path, told.workspace);
  return [
    [
      { text: workflowId ?? file, style: 'strong' },
      { text: `  ${file}`, style: 'dim' },
    ],
    ...problems.map(
      ({ line, column, message }): Line => [{ text: '  ✗ ', style: 'bad' }, `${file}:${line}:${column}  ${message}`],
    ),
    ...scenarios.flatMap(({ name, mode, failures, path: steps, bytesRead }): readonly Line[] => [
      [
        { text: failures.length === 0 ? '  ✓ ' : '  ✗ ', style: failures.length === 0 ? 'good' : 'bad' },
        name,
        { text: `  ${mode}, ${plural(steps.length, 'step')}, ${sizeOf(bytesRead)} read`, style: 'dim' },
      ],
      ...failures.map((words): Line => [`      ${words}`]),
      ...(told.isVerbose ? [[{ text: `      ${steps.join(' → ')}`, style: 'dim' } as const]] : []),
    ]),
    ...(coverage === undefined ? [] : coverageLines(coverage, told)),
  ];
}

function coverageLines({ steps, outcomes }: Coverage, { isVerbose }: Told): readonly Line[] {
  const share = (of: { readonly reached: number; readonly total: number }) =>
    ({ text: `${of.reached}/${of.total}`, style: percentOf(of) === 100 ? 'good' : 'notable' }) as const;
  const unmet = outcomes.missing.map(({ condition, never }) => `never ${never}: ${condition}`);
  const missing = [...steps.missing.map((stepId) => `step never due: ${stepId}`), ...unmet];
  const shown = isVerbose ? missing : missing.slice(0, MISSING_SHOWN_MAX);
  return [
    ['  covered: steps ', share(steps), ', condition outcomes ', share(outcomes)],
    ...shown.map((words): Line => [{ text: `    ${words}`, style: 'notable' }]),
    ...(missing.length > shown.length
      ? [[{ text: `    and ${missing.length - shown.length} more (--verbose)`, style: 'dim' } as const]]
      : []),
  ];
}
