import { err, ok } from 'neverthrow';
import { type ListedSource, listSources } from '../app/machine/sources/look-after-sources.ts';
import type { RunCommand } from './command.ts';
import { healthText, sourcePlace, sourceProblem } from './commands/source/source-words.ts';
import type { Line } from './output/line.ts';
import type { SourceListData } from './shapes/source/source-shapes.ts';

export const sourceList: RunCommand = async ({ program }) => {
  const listed = await listSources(await program.sources());
  if (listed.isErr()) return err(sourceProblem(listed.error));
  const data: SourceListData = { sources: [...listed.value] };
  const none: Line = ['No sources beside the bundle, ~/.workrail/workflows and the folders of a project.'];
  return ok({
    kind: 'done',
    data,
    lines: listed.value.length === 0 ? [none] : listed.value.flatMap(linesOf),
    next: listed.value.length === 0 ? 'workrail source add ADDRESS' : 'workrail workflow list',
  });
};

function linesOf({ source, health }: ListedSource): readonly Line[] {
  const style = health.kind === 'ready' && health.files > 0 ? 'good' : 'bad';
  return [
    [{ text: source.name, style: 'strong' }, `  ${source.kind}  ${sourcePlace(source)}`],
    ['  ', { text: healthText(health), style }],
  ];
}
