import { err, ok } from 'neverthrow';
import { copyWorkflow } from '../../app/author/new-workflow.ts';
import type { RunCommand } from '../command.ts';
import type { Line } from '../output/line.ts';
import { pathFrom, wrongUse } from './workflow-words.ts';
import { readDestination, type WorkflowCopyData, writeProblem } from './written-workflow.ts';

export const workflowCopy: RunCommand = async ({ program }, { operands, options }) => {
  const [asked, newId, ...more] = operands;
  if (asked === undefined || more.length > 0) {
    return err(wrongUse('One workflow is copied at a time.', 'Type workrail workflow copy ID NEW_ID'));
  }
  const to = readDestination(options['to']);
  if (to.isErr()) return err(to.error);
  const bench = await program.bench();
  const copied = await copyWorkflow(bench, { asked, newId, to: to.value });
  if (copied.isErr()) return err(writeProblem(copied.error));
  const { id, from, path, scenarios, lostReferences } = copied.value;
  const done = { text: '✓ ', style: 'good' } as const;
  return ok({
    kind: 'done',
    data: copied.value satisfies WorkflowCopyData,
    lines: [
      [done, `${from} is copied as ${id}: ${pathFrom(path, bench.workspace)}`],
      ...(scenarios === undefined ? [] : [[done, `with its scenarios: ${pathFrom(scenarios, bench.workspace)}`]]),
      ...lostReferences.map(
        (source): Line => [
          { text: '! ', style: 'notable' },
          `it points at ${source}, which lies beside the original; put a copy into your project and set "resolveFrom": "workspace"`,
        ],
      ),
    ],
    next: `workrail workflow check ${id}`,
  });
};
