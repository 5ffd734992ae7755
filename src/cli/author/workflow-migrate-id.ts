import { err } from 'neverthrow';
import * as z from 'zod';
import { migrateId } from '../../app/author/migrate-id.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { command, done } from '../command.ts';
import { dim, good, type Line } from '../output/line.ts';
import { authorProblem, pathFrom } from './workflow-words.ts';

export const workflowMigrateId = command({
  operands: [
    { syntax: '<old-id>', help: 'the current id' },
    { syntax: '<new-id>', help: 'the new id, as namespace.name' },
  ],
  options: [{ flags: '--dry-run', help: 'show what would change; change nothing' }],
  example: 'workrail workflow migrate-id my-review team.review --dry-run',
  data: z.strictObject({
    oldId: z.string(),
    newId: z.string(),
    isDryRun: z.boolean(),
    files: z
      .array(
        z.strictObject({
          path: z.string(),
          movedTo: z.string().exactOptional(),
          /** JSON pointers of the changed values. */
          pointers: z.array(z.string()).readonly(),
        }),
      )
      .readonly(),
  }),
  run: async ({ program }, { operands, options }) => {
    const [oldId = '', newId = ''] = operands;
    const isDryRun = options['dryRun'] === true;
    const author = await program.author();
    const migrated = await migrateId(author, { oldId, newId, isDryRun });
    if (migrated.isErr()) return err(authorProblem(migrated.error));
    const files = migrated.value;
    const lines = files.flatMap(({ path, movedTo, pointers }): readonly Line[] => [
      [
        good(isDryRun ? '· ' : '✓ '),
        pathFrom(path, author.workspace),
        movedTo === undefined ? '' : ` → ${pathFrom(movedTo, author.workspace)}`,
      ],
      ...pointers.map((pointer): Line => [dim(`    ${pointer}`)]),
    ]);
    const count = plural(files.length, 'file');
    const changed = isDryRun ? `Would change ${count}; nothing was written.` : `Changed ${count}.`;
    return done({
      data: { oldId, newId, isDryRun, files },
      lines: [...lines, [`${changed} Existing runs keep the id they were started with.`]],
      next: isDryRun
        ? `workrail workflow migrate-id ${shellWord(oldId)} ${shellWord(newId)}`
        : `workrail workflow check ${shellWord(newId)}`,
    });
  },
});
