import { err, ok } from 'neverthrow';
import { type UpdatedSource, updateSources } from '../../../app/machine/sources/look-after-sources.ts';
import type { RunCommand } from '../../command.ts';
import type { Line } from '../../output/line.ts';
import type { SourceUpdateData } from '../../shapes/source/source-shapes.ts';
import { short, sourceProblem } from './source-words.ts';

export const sourceUpdate: RunCommand = async ({ program, progress }, { operands, options }) => {
  progress.show({ label: 'fetching' });
  const updated = await updateSources(await program.sources(), {
    names: operands,
    isForced: options['force'] === true,
  });
  if (updated.isErr()) return err(sourceProblem(updated.error));
  const failed = updated.value.flatMap(({ refusal }) => (refusal === undefined ? [] : [sourceProblem(refusal)]));
  const data: SourceUpdateData = {
    sources: updated.value.map(({ refusal, ...source }) => ({
      ...source,
      ...(refusal === undefined ? {} : { problem: sourceProblem(refusal).error.message }),
    })),
  };
  const [problem] = failed;
  return ok({
    kind: 'done',
    data,
    lines: updated.value.length === 0 ? [['No repositories to update.']] : updated.value.map(lineOf),
    ...(problem === undefined ? {} : { problem }),
    next: 'workrail source list',
  });
};

function lineOf({ name, from, to, refusal }: UpdatedSource): Line {
  if (refusal !== undefined) return [{ text: name, style: 'strong' }, ` stays at ${short(from)}`];
  return [
    { text: name, style: 'strong' },
    from === to ? ` is at ${short(to)} already` : ` ${short(from)} → ${short(to)}`,
  ];
}
