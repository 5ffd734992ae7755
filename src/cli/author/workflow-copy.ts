import { safeTry } from 'neverthrow';
import * as z from 'zod';
import { copyWorkflow } from '../../app/author/new-workflow.ts';
import { command, done } from '../command.ts';
import { good, type Line, notable } from '../output/line.ts';
import { authorProblem, pathFrom, readDestination, TO } from './workflow-words.ts';

export const workflowCopy = command({
  operands: [
    { syntax: '<id>', help: 'a workflow id or file' },
    {
      syntax: '[new-id]',
      help: 'the id of the copy, as namespace.name (default: project.NAME or user.NAME, depending on --to)',
    },
  ],
  options: [TO],
  example: 'workrail workflow copy wr.first_steps team.first_steps',
  data: z.strictObject({
    id: z.string(),
    from: z.string(),
    path: z.string(),
    /** The copied file of test scenarios. */
    scenarios: z.string().exactOptional(),
    /** Referenced documents that exist only next to the original. */
    lostReferences: z.array(z.string()).readonly(),
  }),
  run: ({ program }, { operands, options }) =>
    safeTry(async function* () {
      const [asked = '', newId] = operands;
      const to = yield* readDestination(options['to']);
      const author = await program.author();
      const copied = yield* (await copyWorkflow(author, { asked, newId, to })).mapErr(authorProblem);
      const { id, from, path, scenarios, lostReferences } = copied;
      const mark = good('✓ ');
      return done({
        data: copied,
        lines: [
          [mark, `Copied ${from} to ${id}: ${pathFrom(path, author.workspace)}`],
          ...(scenarios === undefined
            ? []
            : [[mark, `with its test scenarios: ${pathFrom(scenarios, author.workspace)}`]]),
          ...lostReferences.map(
            (source): Line => [
              notable('! '),
              `It refers to ${source}, which is next to the original. Copy that file into your project and set "resolveFrom": "workspace".`,
            ],
          ),
        ],
        next: `workrail workflow check ${id}`,
      });
    }),
});
