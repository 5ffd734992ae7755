import { err, ok } from 'neverthrow';
import { migrateId } from '../../app/author/migrate-id.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import type { RunCommand } from '../command.ts';
import type { Line } from '../output/line.ts';
import { pathFrom, wrongUse } from './workflow-words.ts';
import { type WorkflowMigrateIdData, writeProblem } from './written-workflow.ts';

export const workflowMigrateId: RunCommand = async ({ program }, { operands, options }) => {
  const [oldId, newId, ...more] = operands;
  if (oldId === undefined || newId === undefined || more.length > 0) {
    return err(wrongUse('An old id and a new one are needed.', 'Type workrail workflow migrate-id OLD_ID NEW_ID'));
  }
  const isDryRun = options['dryRun'] === true;
  const bench = await program.bench();
  const migrated = await migrateId(bench, { oldId, newId, isDryRun });
  if (migrated.isErr()) return err(writeProblem(migrated.error));
  const files = migrated.value;
  const data: WorkflowMigrateIdData = { oldId, newId, isDryRun, files };
  const lines = files.flatMap(({ path, movedTo, pointers }): readonly Line[] => [
    [
      { text: isDryRun ? '· ' : '✓ ', style: 'good' },
      pathFrom(path, bench.workspace),
      movedTo === undefined ? '' : ` → ${pathFrom(movedTo, bench.workspace)}`,
    ],
    ...pointers.map((pointer): Line => [{ text: `    ${pointer}`, style: 'dim' }]),
  ]);
  const verb = isDryRun ? 'would be changed; nothing was written' : 'changed';
  return ok({
    kind: 'done',
    data,
    lines: [...lines, [`${plural(files.length, 'file')} ${verb}. Runs under way keep the id they were started with.`]],
    next: isDryRun
      ? `workrail workflow migrate-id ${shellWord(oldId)} ${shellWord(newId)}`
      : `workrail workflow check ${shellWord(newId)}`,
  });
};
