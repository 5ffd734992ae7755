import { err, ok, type Result } from 'neverthrow';
import { type TestReport, testWorkflows } from '../../app/author/test-workflows.ts';
import { percentOf } from '../../core/author/coverage.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import type { CommandProblem, RunCommand } from '../command.ts';
import { testLines } from '../commands/workflow/test/test-lines.ts';
import { EXIT } from '../exit-codes.ts';
import { plural } from '../output/wording.ts';
import type { WorkflowTestData } from '../shapes/workflow/test-shape.ts';
import { benchProblem, problem, wrongUse } from './workflow-words.ts';

export const workflowTest: RunCommand = async ({ program, switches, progress }, { operands, options }) => {
  const wanted = minimumsIn(options['minCoverage']);
  if (wanted.isErr()) return err(wanted.error);
  progress.show({ label: 'playing scenarios' });
  const bench = await program.bench();
  const asked = { names: operands, isAll: options['all'] === true };
  const tested = await testWorkflows(bench, asked, (step) => progress.show({ label: 'playing scenarios', ...step }));
  if (tested.isErr()) return err(benchProblem(tested.error));
  const report = tested.value;
  const scenarios = report.files.flatMap((file) => file.scenarios);
  const failed = scenarios.filter(({ failures }) => failures.length > 0).length;
  const data: WorkflowTestData = { ...report, totals: { scenarios: scenarios.length, failed } };
  const wrong = problemOf(report, { failed, scenarios: scenarios.length }, wanted.value);
  const failing = report.files.find(
    ({ problems, scenarios: played }) => problems.length > 0 || played.some(({ failures }) => failures.length > 0),
  );
  const named = failing === undefined ? '' : ` ${shellWord(failing.workflowId ?? failing.path)}`;
  return ok({
    kind: 'done',
    data,
    lines: testLines(report, { isVerbose: switches.isVerbose, workspace: bench.workspace }),
    ...(wrong === undefined ? {} : { problem: wrong }),
    next: wrong === undefined ? 'workrail workflow check --strict' : `workrail workflow test${named} --verbose`,
  });
};

type Minimums = { readonly steps: number; readonly outcomes: number };

/** One number for both, or steps and condition outcomes apart. */
function minimumsIn(option: unknown): Result<Minimums, CommandProblem> {
  if (option === undefined) return ok({ steps: 0, outcomes: 0 });
  const numbers = String(option).split(',').map(Number);
  const [steps = Number.NaN, outcomes = steps, ...more] = numbers;
  const isShare = (value: number) => Number.isInteger(value) && value >= 0 && value <= 100;
  if (more.length === 0 && isShare(steps) && isShare(outcomes)) return ok({ steps, outcomes });
  return err(
    wrongUse(
      `--min-coverage is "${String(option)}"; it takes percentages.`,
      'Type --min-coverage 100 for all, or --min-coverage 100,90 for steps and condition outcomes.',
    ),
  );
}

function problemOf(
  { files, untested }: TestReport,
  { failed, scenarios }: { readonly failed: number; readonly scenarios: number },
  wanted: Minimums,
): CommandProblem | undefined {
  const unread = files.filter(({ problems }) => problems.length > 0).length;
  const thin = files.filter(
    ({ coverage }) =>
      coverage !== undefined &&
      (percentOf(coverage.steps) < wanted.steps || percentOf(coverage.outcomes) < wanted.outcomes),
  );
  const bare = wanted.steps + wanted.outcomes > 0 ? untested.length : 0;
  const said = [
    ...(bare === 0 ? [] : [`${plural(bare, 'workflow')} without scenarios`]),
    ...(unread === 0 ? [] : [`${plural(unread, 'file')} could not be played`]),
    ...(failed === 0 ? [] : [`${failed} of ${plural(scenarios, 'scenario')} failed`]),
    ...(thin.length === 0
      ? []
      : [
          `${plural(thin.length, 'workflow')} covered less than ${wanted.steps} % of steps or ${wanted.outcomes} % of outcomes`,
        ]),
  ];
  if (said.length === 0) return undefined;
  return problem(EXIT.checkFailed, {
    code: 'WORKFLOW_INVALID',
    message: `${said.join(', ')}.`,
    suggestion:
      said.length === 1 && bare > 0
        ? 'Write scenarios into a .test.json file beside the workflow; "workrail workflow new" shows how they look.'
        : 'Mend the workflow where it is wrong, or the scenario where it expects the wrong thing.',
  });
}
