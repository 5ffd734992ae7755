import { safeTry } from 'neverthrow';
import * as z from 'zod';
import { type Imported, importSession } from '../../app/bundle/import-session.ts';
import { bundleIdSchema } from '../../core/bundle/bundle-document.ts';
import { defined } from '../../core/json/json-value.ts';
import { salvageSchema } from '../../core/log/health.ts';
import { SessionId } from '../../core/log/ids.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { command, done } from '../command.ts';
import type { Line } from '../output/line.ts';
import { EXIT, errorProblem } from '../problem.ts';
import { type CommandRefusal, refusalProblem } from '../words.ts';
import { salvageLine } from './bundle-words.ts';

const count = z.int().min(0);

const importData = z.strictObject({
  isDryRun: z.boolean(),
  bundleId: bundleIdSchema,
  /** The session in the bundle. */
  from: SessionId.schema,
  /** The session here: a new id if the bundle's id is in use, which a dry run does not know yet. */
  sessionId: SessionId.schema.exactOptional(),
  events: count,
  runs: count,
  artifacts: count,
  /** Present if this is only part of a session, which can be read and exported but not continued. */
  salvage: salvageSchema.exactOptional(),
});
type ImportData = z.infer<typeof importData>;

export const importCommand = command({
  operands: [{ syntax: '<file>', help: 'a bundle written by workrail export' }],
  options: [{ flags: '--dry-run', help: 'check the bundle; import nothing' }],
  example: 'workrail import session.json --dry-run',
  data: importData,
  run: ({ program, progress }, { operands: [file = ''], options }) =>
    safeTry(async function* () {
      const isDryRun = options['dryRun'] === true;
      const dataDir = await program.dataDir();
      const refused = (refusal: CommandRefusal) => {
        const isMissing = refusal.code === 'input_failed' && refusal.cause === 'ENOENT';
        const { error, exitCode } = refusalProblem(refusal, dataDir);
        return errorProblem(error, isMissing ? EXIT.notFound : exitCode);
      };
      progress.show({ label: 'reading the file' });
      const { services, input } = await program.bundleAccess();
      const bytes = yield* (await input(file)).mapErr(refused);
      const imported = yield* (
        await importSession(services, { bytes, isDryRun }, ({ doing, ...step }) =>
          progress.show({ label: doing === 'checking' ? 'checking the bundle' : 'writing the session', ...step }),
        )
      ).mapErr(refused);
      return done({
        data: dataOf(imported),
        lines: linesOf(imported),
        next: isDryRun
          ? `workrail import ${shellWord(file)}`
          : `workrail session verify ${imported.sessionId ?? ''}`.trim(),
      });
    }),
});

function dataOf({ kind, sessionId, salvage, ...rest }: Imported): ImportData {
  return {
    isDryRun: kind === 'would_import',
    ...rest,
    ...defined({ sessionId, salvage }),
  };
}

function linesOf(imported: Imported): readonly Line[] {
  const { kind, from, sessionId, events, runs, artifacts, salvage } = imported;
  const content = `${plural(runs, 'run')}, ${plural(events, 'event')}, ${plural(artifacts, 'artifact')}`;
  const verb = kind === 'imported' ? 'Imported' : 'The bundle is valid; nothing was written. Would import';
  const as =
    sessionId === from
      ? `${from}`
      : `${from} as ${sessionId ?? 'a new session'}, because that id is already in use here`;
  return [[`${verb} ${as}: ${content}.`], ...(salvage === undefined ? [] : [salvageLine(salvage)])];
}
