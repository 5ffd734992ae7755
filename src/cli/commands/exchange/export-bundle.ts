import { err, ok, type Result } from 'neverthrow';
import { type Exported, exportSession } from '../../../app/bundle/export-session.ts';
import { shellWord } from '../../../core/text/shell-word.ts';
import { salvageLine } from '../../bundle/salvage-line.ts';
import type { CommandContext, CommandOutcome, CommandProblem } from '../../command.ts';
import { exitCodeOf } from '../../exit-codes.ts';
import { findSessions } from '../../ids.ts';
import type { Line } from '../../output/line.ts';
import { plural, sizeOf } from '../../output/wording.ts';
import type { BundleData } from '../../shapes/exchange/export-shape.ts';
import { type CommandRefusal, explainRefusal } from '../../words/explain.ts';
import { wrongUse } from './wrong-use.ts';

type BundleRequest = { readonly asked: readonly string[]; readonly file: string | undefined };

/** Writes one session for another machine to go on with. */
export async function exportBundle(
  { program, switches, progress }: CommandContext,
  { asked, file }: BundleRequest,
): Promise<Result<CommandOutcome, CommandProblem>> {
  if (asked.length > 1) return err(wrongUse('A bundle holds one session.', NAME_ONE));
  if (file === undefined && (switches.isJson || program.terminal.isOutput())) {
    return err(
      wrongUse(
        'A bundle is for a file, not for the screen.',
        `Say which: workrail export ${shellWord(asked[0] ?? '')} --as bundle -o FILE`,
      ),
    );
  }
  progress.show({ label: 'looking for sessions' });
  const dataDir = await program.dataDir();
  const refused = (refusal: CommandRefusal) => {
    const error = explainRefusal(refusal, dataDir);
    return err({ error, exitCode: exitCodeOf(error.code) });
  };
  const found = await findSessions(await program.store(), asked);
  if (found.isErr()) return refused(found.error);
  const [sessionId] = found.value;
  if (sessionId === undefined) return err(wrongUse('A bundle holds one session.', NAME_ONE));
  const exchange = await program.exchange();
  const output = await exchange.output(file);
  if (output.isErr()) return refused(output.error);
  const exported = await exportSession(exchange.services, { sessionId, output: output.value }, (step) =>
    progress.show({ label: 'reading the session', ...step }),
  );
  if (exported.isErr()) return refused(exported.error);
  const { salvage, ...rest } = exported.value;
  const data: BundleData = { ...rest, file: file ?? '-', ...(salvage === undefined ? {} : { salvage }) };
  return ok({
    kind: 'done',
    data,
    lines: file === undefined ? [] : linesOf(exported.value, file),
    next: file === undefined ? 'workrail import FILE --dry-run' : `workrail import ${shellWord(file)} --dry-run`,
  });
}

function linesOf({ sessionId, events, artifacts, bytes, salvage }: Exported, file: string): readonly Line[] {
  const content = `${plural(events, 'event')}, ${plural(artifacts, 'artifact')}, ${sizeOf(bytes)}`;
  return [
    [`${sessionId} is in ${file}: ${content}.`],
    ...(salvage === undefined ? [] : [salvageLine(salvage)]),
    [{ text: 'It holds notes and paths as they were recorded; look at it before you give it away.', style: 'dim' }],
  ];
}

const NAME_ONE = 'Type the id of one session: workrail export ID --as bundle -o FILE';
