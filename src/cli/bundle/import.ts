import { err, ok } from 'neverthrow';
import * as z from 'zod';
import { type Imported, importSession } from '../../app/bundle/import-session.ts';
import { bundleIdSchema } from '../../core/bundle/bundle-document.ts';
import { salvageSchema } from '../../core/log/health.ts';
import { SessionId } from '../../core/log/ids.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { EXIT, exitCodeOf, type RunCommand } from '../command.ts';
import { commandShape } from '../command-shape.ts';
import type { Line } from '../output/line.ts';
import { type CommandRefusal, explainRefusal } from '../words.ts';
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

const count = z.int().min(0);

const importData = z.strictObject({
  isDryRun: z.boolean(),
  bundleId: bundleIdSchema,
  /** The session in the bundle. */
  from: SessionId.schema,
  /** The session here. Another one when that id is taken; not known yet in a dry run that finds it taken. */
  sessionId: SessionId.schema.exactOptional(),
  events: count,
  runs: count,
  artifacts: count,
  /** Told when it is only part of a session: it can be read and exported, and never goes on. */
  salvage: salvageSchema.exactOptional(),
});
type ImportData = z.infer<typeof importData>;

/** What `workrail import --json` prints. */
export const importShape = commandShape('import', importData);
