import { err, ok } from 'neverthrow';
import { type Imported, importSession } from '../../app/bundle/import-session.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import type { RunCommand } from '../command.ts';
import { EXIT, exitCodeOf } from '../exit-codes.ts';
import type { Line } from '../output/line.ts';
import { plural } from '../output/wording.ts';
import type { ImportData } from '../shapes/exchange/import-shape.ts';
import { type CommandRefusal, explainRefusal } from '../words/explain.ts';
import { salvageLine } from './salvage-line.ts';

export const importCommand: RunCommand = async ({ program, progress }, { operands, options }) => {
  const [file = ''] = operands;
  const isDryRun = options['dryRun'] === true;
  const dataDir = await program.dataDir();
  const refused = (refusal: CommandRefusal) => {
    const error = explainRefusal(refusal, dataDir);
    const isNotThere = refusal.code === 'input_failed' && refusal.cause === 'ENOENT';
    return err({ error, exitCode: isNotThere ? EXIT.notFound : exitCodeOf(error.code) });
  };
  progress.show({ label: 'reading the file' });
  const exchange = await program.exchange();
  const bytes = await exchange.input(file);
  if (bytes.isErr()) return refused(bytes.error);
  const imported = await importSession(exchange.services, { bytes: bytes.value, isDryRun }, ({ doing, done, total }) =>
    progress.show({ label: doing === 'checking' ? 'checking the bundle' : 'writing the session', done, total }),
  );
  if (imported.isErr()) return refused(imported.error);
  return ok({
    kind: 'done',
    data: dataOf(imported.value),
    lines: linesOf(imported.value),
    next: isDryRun
      ? `workrail import ${shellWord(file)}`
      : `workrail session verify ${imported.value.sessionId ?? ''}`.trim(),
  });
};

function dataOf({ kind, sessionId, salvage, ...rest }: Imported): ImportData {
  return {
    isDryRun: kind === 'would_import',
    ...rest,
    ...(sessionId === undefined ? {} : { sessionId }),
    ...(salvage === undefined ? {} : { salvage }),
  };
}

function linesOf(imported: Imported): readonly Line[] {
  const { kind, from, sessionId, events, runs, artifacts, salvage } = imported;
  const content = `${plural(runs, 'run')}, ${plural(events, 'event')}, ${plural(artifacts, 'artifact')}`;
  const verb = kind === 'imported' ? 'Imported' : 'Nothing is wrong with it; nothing was written. Would import';
  const as =
    sessionId === from ? `${from}` : `${from} as ${sessionId ?? 'a new session'}, because that id is taken here`;
  return [[`${verb} ${as}: ${content}.`], ...(salvage === undefined ? [] : [salvageLine(salvage)])];
}
