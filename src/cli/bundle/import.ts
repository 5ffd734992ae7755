import { err, safeTry } from 'neverthrow';
import * as z from 'zod';
import type { EarlierImport } from '../../app/bundle/earlier-import.ts';
import { type Imported, type ImportServices, importSession } from '../../app/bundle/import-session.ts';
import { acceptSession, readAcceptance } from '../../app/upkeep/accept-session.ts';
import { bundleIdSchema } from '../../core/bundle/bundle-document.ts';
import { defined } from '../../core/json/json-value.ts';
import { salvageSchema } from '../../core/log/health.ts';
import { SessionId } from '../../core/log/ids.ts';
import { acceptCommand, isTrusted } from '../../core/log/origin.ts';
import { plural, shellWord } from '../../core/text/words.ts';
import { type CommandContext, command, done } from '../command.ts';
import { isPersonThere } from '../loosening.ts';
import { type Line, notable } from '../output/line.ts';
import { EXIT, errorProblem, usageProblem } from '../problem.ts';
import { type CommandRefusal, refusalProblem } from '../refusal-problem.ts';
import { ACCEPTED, confirmAcceptance } from '../upkeep/session-accept.ts';
import { salvageLine } from './bundle-words.ts';
import { askPassphrase, PASSPHRASE_FILE } from './passphrase.ts';

const count = z.int().min(0);

const importData = z.strictObject({
  isDryRun: z.boolean(),
  /** Whether a session that was imported before was updated instead of making a copy. */
  isUpdate: z.boolean().exactOptional(),
  /** Whether the session is here already, exactly as in the bundle, so that nothing was written. */
  isUnchanged: z.boolean().exactOptional(),
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
  /** A session here that was imported from an earlier state of this one and not changed since. */
  earlier: z.strictObject({ sessionId: SessionId.schema, newEvents: count }).exactOptional(),
  /** Whether a person accepted it, so that agents can resume it; absent in a dry run. */
  isAccepted: z.boolean().exactOptional(),
  isEncrypted: z.literal(true).exactOptional(),
});
type ImportData = z.infer<typeof importData>;

export const importCommand = command({
  operands: [{ syntax: '<file>', help: 'a bundle written by workrail export' }],
  options: [
    { flags: '--dry-run', help: 'check the bundle; import nothing' },
    { flags: PASSPHRASE_FILE, help: 'take the passphrase of an encrypted bundle from the first line of this file' },
    { flags: '--no-accept', help: 'import without accepting; agents cannot resume the session until you accept it' },
    {
      flags: '--update',
      help: 'if this session was imported before, add only what is new in this bundle',
    },
    { flags: '--copy', help: 'if this session was imported before, make a second session' },
  ],
  example: 'workrail import session.json --dry-run',
  data: importData,
  run: (context, { operands: [file = ''], options }) =>
    safeTry(async function* () {
      const { program, progress } = context;
      if (options['update'] === true && options['copy'] === true) return err(BOTH);
      const isDryRun = options['dryRun'] === true;
      const dataDir = await program.dataDir();
      const refused = (refusal: CommandRefusal) => {
        const isMissing = refusal.code === 'input_failed' && refusal.cause === 'ENOENT';
        const { error, exitCode } = refusalProblem(refusal, dataDir);
        if (refusal.code === 'update_or_copy') {
          return errorProblem({ ...error, suggestion: updateOrCopyWords(file) }, EXIT.needsPerson);
        }
        return errorProblem(error, isMissing ? EXIT.notFound : exitCode);
      };
      progress.show({ label: 'reading the file' });
      const { services, input, seal } = await program.bundleAccess();
      const read = yield* (await input(file)).mapErr(refused);
      const isEncrypted = seal.isSealed(read);
      const passphraseFile = typeof options['passphraseFile'] === 'string' ? options['passphraseFile'] : undefined;
      const wanted = { file: passphraseFile, message: `The passphrase of ${file}:`, isNew: false };
      const bytes = isEncrypted
        ? yield* (await seal.open(read, yield* await askPassphrase(context, wanted))).mapErr(refused)
        : read;
      const imported = yield* (
        await importSession(
          services,
          {
            bytes,
            isDryRun,
            mustUpdate: options['update'] === true,
            mustCopy: options['copy'] === true,
            chooseUpdate: async (earlier) => chooseUpdate(context, earlier),
          },
          ({ doing, ...step }) =>
            progress.show({ label: doing === 'checking' ? 'checking the bundle' : 'writing the session', ...step }),
        )
      ).mapErr(refused);
      const { sessionId } = imported;
      const sealed = isEncrypted ? ({ isEncrypted } as const) : {};
      if (isDryRun || sessionId === undefined) {
        const hasNew = (imported.earlier?.newEvents ?? 0) > 0 && options['copy'] !== true;
        const next = `workrail import ${shellWord(file)}${hasNew ? ' --update' : ''}`;
        return done({ data: { ...dataOf(imported), ...sealed }, lines: linesOf(imported, file), next });
      }
      const isKnown = imported.kind === 'unchanged' && isTrusted(await services.marks.origin(sessionId));
      const isAccepted = isKnown || (options['accept'] !== false && (await accepted(context, services, imported)));
      const acceptedWords = isKnown ? 'It is accepted: agents can resume it.' : ACCEPTED(sessionId);
      return done({
        data: { ...dataOf(imported), ...sealed, isAccepted },
        lines: [...linesOf(imported, file), isAccepted ? [acceptedWords] : [notable(unacceptedWords(imported))]],
        next: nextFor(imported, { isAccepted }),
      });
    }),
});

/** What is left to do: a session that nobody accepted can only be read. */
function nextFor({ sessionId, from, salvage }: Imported, { isAccepted }: { readonly isAccepted: boolean }): string {
  const here = sessionId ?? from;
  if (isAccepted) return `workrail session resume ${here}`;
  return salvage === undefined ? `workrail session accept ${here}` : `workrail session verify ${here}`;
}

/** A person decides between an update and a copy. Without one, nothing is written: a copy is rarely what is meant. */
async function chooseUpdate(context: CommandContext, earlier: EarlierImport): Promise<'update' | 'copy' | 'ask'> {
  if (!isPersonThere(context)) return 'ask';
  context.progress.stop();
  const { sessionId, newEvents } = earlier;
  const added = `${plural(newEvents, 'event is', 'events are')} new`;
  context.say([notable(`This session was imported before as ${sessionId} and not changed here; ${added}.`)]);
  const answer = await (await context.program.ask()).confirm('Update that session instead of making a copy?');
  if (answer === undefined) return 'ask';
  return answer ? 'update' : 'copy';
}

function updateOrCopyWords(file: string): string {
  const line = `workrail import ${shellWord(file)}`;
  return `To add what is new: ${line} --update. To make a second session: ${line} --copy.`;
}

const BOTH = usageProblem('"--update" and "--copy" exclude each other.', 'Choose one of them.');

/** Asks a person once. A session that is only part of one cannot be continued, so there is nothing to accept. */
async function accepted(
  context: CommandContext,
  services: ImportServices,
  { sessionId, salvage }: Imported,
): Promise<boolean> {
  if (sessionId === undefined || salvage !== undefined || !isPersonThere(context)) return false;
  const acceptance = await readAcceptance(services, sessionId);
  if (acceptance.isErr()) return false;
  if (isTrusted(acceptance.value.origin)) return true;
  const confirmed = await confirmAcceptance(context, acceptance.value, services.tools.sha256);
  if (confirmed.isErr()) return false;
  return (await acceptSession(services, sessionId)).isOk();
}

function unacceptedWords({ sessionId, salvage }: Imported): string {
  if (sessionId === undefined || salvage !== undefined) return 'Nobody has accepted it.';
  return `Nobody has accepted it, so agents cannot resume it. To accept it, in a terminal: ${acceptCommand({ sessionId })}`;
}

function dataOf({ kind, sessionId, salvage, earlier, ...rest }: Imported): ImportData {
  return {
    isDryRun: kind === 'would_import',
    ...(kind === 'updated' ? { isUpdate: true } : {}),
    ...(kind === 'unchanged' ? { isUnchanged: true } : {}),
    ...rest,
    ...defined({ sessionId, salvage }),
    ...(earlier === undefined ? {} : { earlier: { sessionId: earlier.sessionId, newEvents: earlier.newEvents } }),
  };
}

function linesOf(imported: Imported, file: string): readonly Line[] {
  const { kind, from, sessionId, events, runs, artifacts, salvage, earlier } = imported;
  if (kind === 'unchanged') {
    return [[`Nothing is new: this session was imported before as ${sessionId ?? from}. Nothing was written.`]];
  }
  if (kind === 'updated') return [[`Updated ${sessionId ?? from}: ${plural(earlier?.newEvents ?? 0, 'new event')}.`]];
  const content = `${plural(runs, 'run')}, ${plural(events, 'event')}, ${plural(artifacts, 'artifact')}`;
  if (kind === 'would_import' && earlier !== undefined) {
    return [
      [`The bundle is valid; nothing was written. It has ${content}.`],
      ...(salvage === undefined ? [] : [salvageLine(salvage)]),
      [earlierWords(earlier, file)],
    ];
  }
  const verb = kind === 'imported' ? 'Imported' : 'The bundle is valid; nothing was written. Would import';
  const as =
    sessionId === from
      ? `${from}`
      : `${from} as ${sessionId ?? 'a new session'}, because that id is already in use here`;
  return [[`${verb} ${as}: ${content}.`], ...(salvage === undefined ? [] : [salvageLine(salvage)])];
}

function earlierWords({ sessionId, newEvents }: EarlierImport, file: string): string {
  const before = `The same session was imported before as ${sessionId}`;
  if (newEvents === 0) return `${before}. Nothing is new in this file, so importing it writes nothing.`;
  return `${before} and not changed here. This file has ${plural(newEvents, 'new event')}. ${updateOrCopyWords(file)}`;
}
