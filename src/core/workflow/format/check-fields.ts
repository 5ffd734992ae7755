import { GRADES } from '../../log/autonomy.ts';
import { CHECK_ID_BYTES_MAX } from '../../log/budgets.ts';
import * as f from './field.ts';
import { CHECK_COMMAND_BYTES_MAX, CHECK_TESTS_MAX, CHECK_TESTS_NEEDED_MAX } from './limits.ts';

const insidePath = f.text(512, { use: 'value', form: 'inside_path' });

/** A command whose result shows that the work of a step holds. */
export const check = f.closed(
  'check',
  {
    id: f.needed(
      f.text(CHECK_ID_BYTES_MAX, { use: 'label', form: 'plain_name', names: 'local' }),
      'Its name: `workrail attest TAG id` runs it, and an entry of `wr.verification_report` has it as `name`.',
    ),
    run: f.needed(
      f.text(CHECK_COMMAND_BYTES_MAX, { use: 'command' }),
      'The command, run with `sh -c` in the workspace. It may contain `{{values}}` of context.',
    ),
    minimum: f.needed(
      f.choice(GRADES),
      "The weakest evidence that counts: `asserted` takes the notes, `reported` an entry of the step's `wr.verification_report` with outcome `pass`, `observed` a run of `workrail attest`. `verified` a job of your CI system that reports to a team server; elsewhere a step that demands it cannot be passed.",
    ),
    expect: f.defaulted(
      f.choice(['pass', 'fail']),
      'How the command must end. `fail` is for a test that must be red first.',
      {
        otherwise: 'pass',
      },
    ),
    against: f.optional(
      f.choice(['base']),
      'Also runs the command on the commit at the start of the run, with the files of `tests` laid over it. It must fail there and pass here.',
    ),
    tests: f.optionalList(
      f.list(insidePath, { min: 1, max: CHECK_TESTS_MAX }),
      'With `against`: patterns of the test files, for example `test/**`.',
    ),
    link: f.optional(
      f.list(insidePath, { max: CHECK_TESTS_MAX }),
      'With `against`: ignored folders that the base needs too; `node_modules`, `.venv` and `vendor`, if left out.',
    ),
    report: f.optional(
      insidePath,
      'Where the test results are: `tap` for standard output, or the path of a JUnit XML file that the command writes.',
    ),
    atLeast: f.optional(
      f.integer(1, CHECK_TESTS_NEEDED_MAX),
      'With `report`: how many tests must have run; 1, if left out. Skipped tests do not count.',
    ),
    fresh: f.optional(f.choice(['head']), 'The run counts only while the files of the workspace are unchanged.'),
  },
  [
    {
      when: ['against', 'base'],
      needs: 'tests',
      problem: {
        code: 'missing_field',
        message: '"tests" is missing here: the files to lay over the base. Add it, for example ["test/**"].',
      },
    },
  ],
);

export type CheckSyntax = f.Value<typeof check>;
