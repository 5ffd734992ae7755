import { err, ok } from 'neverthrow';
import { addSource } from '../../../app/sources.ts';
import type { RunCommand } from '../../command.ts';
import { healthText, sourcePlace, sourceProblem } from './source-words.ts';

export const sourceAdd: RunCommand = async ({ program, progress }, { operands, options }) => {
  const [address = ''] = operands;
  const told = (name: string) => (typeof options[name] === 'string' ? { [name]: options[name] } : {});
  progress.show({ label: 'fetching' });
  const request = { address, ...told('name'), ...told('ref'), ...told('folder') };
  const added = await addSource(await program.sources(), request);
  if (added.isErr()) return err(sourceProblem(added.error));
  const { source, health } = added.value;
  return ok({
    kind: 'done',
    data: { source, health },
    lines: [['Added ', { text: source.name, style: 'strong' }, `: ${sourcePlace(source)}`], [healthText(health)]],
    next: 'workrail workflow list',
  });
};
