import { err, ok } from 'neverthrow';
import { removeSource } from '../../../app/machine/sources/look-after-sources.ts';
import type { RunCommand } from '../../command.ts';
import { sourcePlace, sourceProblem } from './source-words.ts';

export const sourceRemove: RunCommand = async ({ program }, { operands: [name = ''] }) => {
  const removed = await removeSource(await program.sources(), name);
  if (removed.isErr()) return err(sourceProblem(removed.error));
  const source = removed.value;
  return ok({
    kind: 'done',
    data: { source },
    lines: [[`Removed ${source.name}: ${sourcePlace(source)}. Runs that were started from it go on.`]],
    next: 'workrail source list',
  });
};
