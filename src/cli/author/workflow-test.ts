import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { type TestedFile, type TestedFiles, testWorkflows } from '../../app/author/test-workflows.ts';
import { type Coverage, percentOf } from '../../core/author/coverage.ts';
import { plural, shellWord, shortList, sizeOf } from '../../core/text/words.ts';
import { testedFileShape } from '../../core/wire/editor-shapes.ts';
import { command, done } from '../command.ts';
import { bad, dim, type Line, notable, strong } from '../output/line.ts';
import { type CommandProblem, usageProblem } from '../problem.ts';
import { ALL, authorProblem, checkProblem, ownScope, pathFrom, scopeLines } from './workflow-words.ts';

const count = z.int().min(0);

const workflowTestData = z.strictObject({
  /** Which workflows were tested. */
  scope: z.union([z.strictObject({ kind: z.enum(['named', 'all']) }), ownScope]),
  files: z.array(testedFileShape).readonly(),
  untested: z.array(z.string()).readonly(),
  totals: z.strictObject({ scenarios: count, failed: count }),
});
type WorkflowTestData = z.infer<typeof workflowTestData>;

export const workflowTest = command({
  operands: [
    {
      syntax: '[file-or-id...]',
      help: 'ids, files, folders or *.test.json (default: the workflows of this project, or your own)',
    },
  ],
  options: [
    {
      flags: '--min-coverage <percent>',
      help: 'fail below this coverage in percent: one number, or two (steps, outcomes of conditions) such as 100,90',
    },
    ALL,
  ],
  example: 'workrail workflow test wr.first_steps',
  data: workflowTestData,
  run: async ({ program, switches, progress }, { operands, options }) => {
    const wanted = minimumsIn(options['minCoverage']);
    if (wanted.isErr()) return err(wanted.error);
    progress.show({ label: 'running scenarios' });
    const author = await program.author();
    const asked = { names: operands, isAll: options['all'] === true };
    const tested = await testWorkflows(author, asked, ({ workflowId, ...step }) =>
      progress.show({ label: `testing ${workflowId}`, ...step }),
    );
    if (tested.isErr()) return err(authorProblem(tested.error));
    const report = tested.value;
    const scenarios = report.files.flatMap((file) => file.scenarios);
    const failed = scenarios.filter(({ failures }) => failures.length > 0).length;
    const data: WorkflowTestData = { ...report, totals: { scenarios: scenarios.length, failed } };
    const wrong = problemOf(report, { failed, scenarios: scenarios.length }, wanted.value);
    const failing = report.files.find(
      ({ problems, scenarios: played }) => problems.length > 0 || played.some(({ failures }) => failures.length > 0),
    );
    const words = failing === undefined ? operands : [failing.workflowId ?? failing.path];
    const covered = options['minCoverage'];
    const again = [
      ...words.map(shellWord),
      ...(options['all'] === true && failing === undefined ? ['--all'] : []),
      ...(typeof covered === 'string' ? ['--min-coverage', shellWord(covered)] : []),
    ];
    return done({
      data,
      lines: testLines(report, { isVerbose: switches.isVerbose, workspace: author.workspace }),
      problem: wrong,
      next:
        wrong === undefined
          ? 'workrail workflow check --strict'
          : ['workrail workflow test', ...again, '--verbose'].join(' '),
    });
  },
});

type Layout = { readonly isVerbose: boolean; readonly workspace: string };

const MISSING_SHOWN_MAX = 8;

/** One line per workflow, or per scenario that failed, and what no scenario covers. */
function testLines({ scope, files, untested }: TestedFiles, layout: Layout): readonly Line[] {
  const scenarios = files.flatMap((file) => file.scenarios);
  const failed = scenarios.filter(({ failures }) => failures.length > 0).length;
  const passed = `${scenarios.length - failed} passed`;
  return [
    ...files.flatMap((file) => fileLines(file, layout)),
    ...(untested.length === 0
      ? []
      : [[notable(`No test scenarios: ${layout.isVerbose ? untested.join(', ') : shortList(untested)}`)]]),
    ...scopeLines(scope, { workspace: layout.workspace, verb: 'Tested' }),
    [
      `${plural(scenarios.length, 'scenario')} in ${plural(files.length, 'file')}, each also with an agent that loses replies: `,
      { text: passed, style: failed === 0 ? 'good' : 'strong' },
      ...(failed === 0 ? [] : [', ', bad(`${failed} failed`)]),
    ],
  ];
}

function fileLines({ path, workflowId, problems, scenarios, coverage }: TestedFile, layout: Layout): readonly Line[] {
  const file = pathFrom(path, layout.workspace);
  const isPassed = ({ failures }: TestedFile['scenarios'][number]) => failures.length === 0;
  const passed = scenarios.filter(isPassed).length;
  const shown = layout.isVerbose ? scenarios : scenarios.filter((one) => !isPassed(one));
  const count = passed === 0 ? [] : [`  ${plural(passed, 'scenario')} passed`];
  return [
    [strong(workflowId ?? file), ...(layout.isVerbose ? [] : count), dim(`  ${file}`)],
    ...problems.map(({ line, column, message }): Line => [bad('  ✗ '), `${file}:${line}:${column}  ${message}`]),
    ...shown.flatMap(({ name, mode, failures, path: steps, bytesRead }): readonly Line[] => [
      [
        { text: failures.length === 0 ? '  ✓ ' : '  ✗ ', style: failures.length === 0 ? 'good' : 'bad' },
        name,
        dim(`  ${mode}, ${plural(steps.length, 'step')}, ${sizeOf(bytesRead)} read`),
      ],
      ...failures.map((words): Line => [`      ${words}`]),
      ...(layout.isVerbose ? [[dim(`      ${steps.join(' → ')}`)]] : []),
    ]),
    ...(coverage === undefined ? [] : coverageLines(coverage, layout)),
  ];
}

function coverageLines({ steps, outcomes }: Coverage, { isVerbose }: Layout): readonly Line[] {
  const share = (of: { readonly reached: number; readonly total: number }) =>
    ({ text: `${of.reached}/${of.total}`, style: percentOf(of) === 100 ? 'good' : 'notable' }) as const;
  const unmet = outcomes.missing.map(({ condition, never }) => `never ${never}: ${condition}`);
  const missing = [...steps.missing.map((stepId) => `step never reached: ${stepId}`), ...unmet];
  const shown = isVerbose ? missing : missing.slice(0, MISSING_SHOWN_MAX);
  return [
    ['  covered: steps ', share(steps), ', condition outcomes ', share(outcomes)],
    ...shown.map((words): Line => [notable(`    ${words}`)]),
    ...(missing.length > shown.length ? [[dim(`    and ${missing.length - shown.length} more (--verbose)`)]] : []),
  ];
}

type Minimums = { readonly steps: number; readonly outcomes: number };

/** One percentage for both, or one for steps and one for condition outcomes. */
function minimumsIn(option: unknown): Result<Minimums, CommandProblem> {
  if (option === undefined) return ok({ steps: 0, outcomes: 0 });
  const numbers = String(option).split(',').map(Number);
  const [steps = Number.NaN, outcomes = steps, ...more] = numbers;
  const isShare = (value: number) => Number.isInteger(value) && value >= 0 && value <= 100;
  if (more.length === 0 && isShare(steps) && isShare(outcomes)) return ok({ steps, outcomes });
  return err(
    usageProblem(
      `--min-coverage needs percentages, not "${String(option)}".`,
      'Use --min-coverage 100 for both, or --min-coverage 100,90 for steps and condition outcomes.',
    ),
  );
}

function problemOf(
  { files, untested }: TestedFiles,
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
    ...(bare === 0 ? [] : [`${plural(bare, 'workflow')} without test scenarios`]),
    ...(unread === 0 ? [] : [`${plural(unread, 'file')} could not be run`]),
    ...(failed === 0 ? [] : [`${failed} of ${plural(scenarios, 'scenario')} failed`]),
    ...(thin.length === 0
      ? []
      : [
          `${plural(thin.length, 'workflow')} below ${wanted.steps} % of steps or ${wanted.outcomes} % of condition outcomes`,
        ]),
  ];
  if (said.length === 0) return undefined;
  const isOnlyThin = failed + unread + bare === 0;
  return checkProblem(
    `${said.join(', ')}.`,
    isOnlyThin
      ? 'Add a scenario for each line above that says "never".'
      : said.length === 1 && bare > 0
        ? 'Write test scenarios in a .test.json file next to the workflow; "workrail workflow new" creates an example.'
        : 'Fix the workflow, or fix the scenario if its expectation is wrong.',
  );
}
