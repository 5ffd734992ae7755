import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import { type Exported, exportSession } from '../../app/bundle/export-session.ts';
import type { BundleOutput, OutputFailure, OutputOptions, PdfFailure } from '../../app/ports/bundle-output.ts';
import { readReport } from '../../app/report.ts';
import { bundleIdSchema } from '../../core/bundle/bundle-document.ts';
import { defined } from '../../core/json/json-value.ts';
import { salvageSchema } from '../../core/log/health.ts';
import { SessionId } from '../../core/log/ids.ts';
import { WITHHELD_KINDS, type WithheldKind } from '../../core/passport/passport.ts';
import type { Withholding } from '../../core/passport/withhold.ts';
import { reportHtml } from '../../core/report/html/report-html.ts';
import { reportMarkdown } from '../../core/report/markdown/report-markdown.ts';
import { type Report, reportJson, reportSchema } from '../../core/report/report.ts';
import { encodeUtf8 } from '../../core/text/utf8.ts';
import { visibleLine } from '../../core/text/visible-text.ts';
import { plural, shellWord, sizeOf } from '../../core/text/words.ts';
import { type CommandContext, type CommandInput, type CommandOutcome, command, done } from '../command.ts';
import { dim, type Line, notable } from '../output/line.ts';
import { type CommandProblem, unknownWord, usageProblem } from '../problem.ts';
import { type CommandRefusal, refusalProblem } from '../refusal-problem.ts';
import { findSessions, SESSION_IDS } from '../session-ids.ts';
import { salvageLine } from './bundle-words.ts';
import { askPassphrase, PASSPHRASE_FILE } from './passphrase.ts';
import { passportData, passportOf, passportOutcome } from './passport.ts';

const count = z.int().min(0);

const bundleData = z.strictObject({
  sessionId: SessionId.schema,
  bundleId: bundleIdSchema,
  /** Where the bundle was written. */
  file: z.string(),
  events: count,
  artifacts: count,
  bytes: count,
  /** Present if only part of the session was intact; that part was exported. */
  salvage: salvageSchema.exactOptional(),
  isEncrypted: z.literal(true).exactOptional(),
});
type BundleData = z.infer<typeof bundleData>;

const reportData = z.strictObject({
  format: z.enum(['md', 'html', 'json', 'pdf']),
  sessionIds: z.array(SessionId.schema).min(1),
  /** Where the report was written. */
  file: z.string(),
  bytes: count,
  isRedacted: z.boolean(),
  /** What was hidden and how often; never the values. */
  hidden: reportSchema.shape.hidden,
});
type ReportData = z.infer<typeof reportData>;

type Exporting = Promise<
  Result<CommandOutcome<BundleData | ReportData | z.infer<typeof passportData>>, CommandProblem>
>;

export const exportCommand = command({
  operands: [{ syntax: '<id...>', help: SESSION_IDS }],
  options: [
    {
      flags: '--as <format>',
      help: 'bundle: one session, to import elsewhere (default); md, html, json or pdf: a report of one or more sessions (pdf needs Chromium, Chrome or Edge); passport: one session, signed, for others to check',
    },
    { flags: '-o, --output <file>', help: 'the file to write (default: standard output)' },
    { flags: '--force', help: 'replace the file if it exists' },
    { flags: '--encrypt', help: 'encrypt the bundle with a passphrase that you type' },
    { flags: PASSPHRASE_FILE, help: 'with --encrypt: take the passphrase from the first line of this file' },
    {
      flags: '--withhold <what>',
      help: 'what to leave out of a passport, separated by commas: notes, context, artifacts, workspace, or single events by their number, such as 12,15',
    },
    { flags: '--tree <ref>', help: 'the commit that a passport is about (default: HEAD of the workspace of the run)' },
    {
      flags: '--author',
      help: 'keep the git name and email address of the author in a bundle or passport (default: left out)',
    },
    { flags: '--no-redact', help: 'do not hide paths, addresses, keys and passwords in a report' },
  ],
  example: 'workrail export 7f3a --as html -o report.html',
  data: z.union([bundleData, reportData, passportData]),
  run: async (context, { operands, options }) => {
    const format = options['as'] ?? 'bundle';
    const file = typeof options['output'] === 'string' ? options['output'] : undefined;
    const asked = operands.filter((id) => id.trim() !== '');
    if (asked.length === 0) {
      return err(usageProblem('A session id is missing.', 'Run: workrail export ID --as bundle -o FILE'));
    }
    if (!FORMATS.some((known) => known === format)) return err(unknownWord('format', format, FORMATS));
    const isEncrypted = options['encrypt'] === true;
    const passphraseFile = typeof options['passphraseFile'] === 'string' ? options['passphraseFile'] : undefined;
    if (passphraseFile !== undefined && !isEncrypted) {
      return err(usageProblem('--passphrase-file has no effect without --encrypt.', 'Add --encrypt, or remove it.'));
    }
    const mayReplace = options['force'] === true;
    const keepsAuthor = options['author'] === true;
    const isPassport = format === 'passport';
    if (!isPassport && (options['withhold'] ?? options['tree']) !== undefined) {
      return err(usageProblem('--withhold and --tree belong to a passport.', 'Add --as passport, or remove them.'));
    }
    if (isPassport && !isEncrypted) return exportAsPassport(context, { asked, file, mayReplace }, options);
    if (!isPassport && !isReportFormat(format))
      return exportBundle(context, { asked, file, mayReplace, isEncrypted, passphraseFile, keepsAuthor });
    if (isEncrypted || isPassport) {
      return err(usageProblem('Only a bundle can be encrypted.', 'Use --as bundle, or encrypt the report yourself.'));
    }
    return exportReport(context, { asked, file, mayReplace, format, isRedacted: options['redact'] !== false });
  },
});

type BundleRequest = OutputOptions & { readonly asked: readonly string[]; readonly file: string | undefined };
type BundleOptions = Encryption & { readonly keepsAuthor: boolean };
type Encryption = { readonly isEncrypted: boolean; readonly passphraseFile: string | undefined };

/** Writes one session so that another machine can continue it. */
async function exportBundle(
  context: CommandContext,
  { asked, file, mayReplace, isEncrypted, passphraseFile, keepsAuthor }: BundleRequest & BundleOptions,
): Exporting {
  return safeTry(async function* () {
    const { program, switches, progress } = context;
    if (asked.length > 1) return err(usageProblem('A bundle holds one session.', NAME_ONE));
    if (file === undefined && (switches.isJson || program.terminal.isOutput())) {
      const advice = `Name a file: workrail export ${shellWord(asked[0] ?? '')} --as bundle -o FILE`;
      return err(usageProblem('A bundle cannot be printed to the terminal.', advice));
    }
    progress.show({ label: 'looking for sessions' });
    const dataDir = await program.dataDir();
    const refused = (refusal: CommandRefusal) => refusalProblem(refusal, dataDir);
    const [sessionId] = yield* (await findSessions(await program.store(), asked)).mapErr(refused);
    if (sessionId === undefined) return err(usageProblem('A bundle holds one session.', NAME_ONE));
    const { services, output: open, seal } = await program.bundleAccess();
    const wanted = { file: passphraseFile, message: 'A passphrase for the bundle:', isNew: true };
    const plain = yield* (await open(file, { mayReplace })).mapErr(refused);
    const passphrase = isEncrypted ? await askPassphrase(context, wanted) : undefined;
    if (passphrase?.isErr()) await plain.abandon();
    const output = passphrase === undefined ? plain : await seal.output(plain, yield* passphrase);
    const exported = yield* (
      await exportSession(services, { sessionId, output, keepsAuthor }, (step) =>
        progress.show({ label: 'reading the session', ...step }),
      )
    ).mapErr(refused);
    const { salvage, ...rest } = exported;
    return done({
      data: { ...rest, file: file ?? '-', ...defined({ salvage }), ...(isEncrypted ? { isEncrypted } : {}) },
      lines: file === undefined ? [] : bundleLines(exported, file, isEncrypted),
      next: `workrail import ${file === undefined ? 'FILE' : shellWord(file)} --dry-run`,
    });
  });
}

function bundleLines(
  { sessionId, events, artifacts, bytes, salvage }: Exported,
  file: string,
  isEncrypted: boolean,
): readonly Line[] {
  const content = `${plural(events, 'event')}, ${plural(artifacts, 'artifact')}, ${sizeOf(bytes)}`;
  return [
    [`Wrote ${sessionId} to ${file} (${content}).`],
    ...(salvage === undefined ? [] : [salvageLine(salvage)]),
    [
      dim(
        isEncrypted
          ? 'It is encrypted. Without the passphrase nobody can read it; WorkRail does not keep the passphrase.'
          : 'It contains notes and paths as they were recorded; check it before you share it, or add --encrypt.',
      ),
    ],
  ];
}

const NAME_ONE = 'Give the id of one session: workrail export ID --as bundle -o FILE';

/** A PDF is the page, printed. */
const WRITERS = { md: reportMarkdown, html: reportHtml, json: reportJson, pdf: reportHtml };
type ReportFormat = keyof typeof WRITERS;
const FORMATS: readonly string[] = ['bundle', ...Object.keys(WRITERS), 'passport'];

function isReportFormat(format: unknown): format is ReportFormat {
  return typeof format === 'string' && Object.hasOwn(WRITERS, format);
}

/** Writes one session as a signed file that others can check with the public key alone. */
async function exportAsPassport(
  context: CommandContext,
  { asked, file, mayReplace }: BundleRequest,
  options: CommandInput['options'],
): Exporting {
  return safeTry(async function* () {
    const { program } = context;
    if (asked.length > 1) return err(usageProblem('A passport is about one session.', 'Give the id of one session.'));
    if (file === undefined && (context.switches.isJson || program.terminal.isOutput())) {
      const advice = `Name a file: workrail export ${shellWord(asked[0] ?? '')} --as passport -o FILE`;
      return err(usageProblem('A passport cannot be printed to the terminal.', advice));
    }
    const withholding = yield* parseWithholding(options['withhold']);
    const ref = typeof options['tree'] === 'string' ? options['tree'] : undefined;
    const dataDir = await program.dataDir();
    const refused = (refusal: CommandRefusal) => refusalProblem(refusal, dataDir);
    const [sessionId] = yield* (await findSessions(await program.store(), asked)).mapErr(refused);
    if (sessionId === undefined) return err(usageProblem('A passport is about one session.', NAME_ONE));
    const keepsAuthor = options['author'] === true;
    const passport = yield* await passportOf(context, { sessionId, ref, withholding, keepsAuthor });
    const { output } = await program.bundleAccess();
    const opened = yield* (await output(file, { mayReplace })).mapErr(refused);
    yield* (await put(opened, passport.bytes)).mapErr(refused);
    return done(passportOutcome(passport, file));
  });
}

type ReportRequest = BundleRequest & { readonly format: ReportFormat; readonly isRedacted: boolean };

/** Writes a report for people: all sessions in one document. */
async function exportReport(
  { program, switches, progress }: CommandContext,
  { asked, file, mayReplace, format, isRedacted }: ReportRequest,
): Exporting {
  return safeTry(async function* () {
    const isPage = format === 'html' || format === 'pdf';
    const isForTerminal = !isPage || !program.terminal.isOutput();
    if (file === undefined && (switches.isJson || !isForTerminal)) {
      const why = switches.isJson
        ? 'With --json, a report needs a file.'
        : `${format === 'pdf' ? 'A PDF' : 'HTML'} cannot be printed to the terminal.`;
      const ids = asked.map(shellWord).join(' ');
      return err(usageProblem(why, `Name a file: workrail export ${ids} --as ${format} -o FILE`));
    }
    progress.show({ label: 'looking for sessions' });
    const dataDir = await program.dataDir();
    const refused = (refusal: CommandRefusal) => refusalProblem(refusal, dataDir);
    const sessionIds = yield* (await findSessions(await program.store(), asked)).mapErr(refused);
    const { services, homes, output, pdf } = await program.bundleAccess();
    const report = yield* (
      await readReport(services, { sessionIds, isRedacted, homes }, (step) =>
        progress.show({ label: 'reading the session', ...step }),
      )
    ).mapErr(refused);
    const text = WRITERS[format](report);
    if (format === 'pdf') progress.show({ label: 'printing the report' });
    const bytes = format === 'pdf' ? yield* (await pdf(text)).mapErr(pdfProblem) : encodeUtf8(text);
    const opened = yield* (await output(file, { mayReplace })).mapErr(refused);
    yield* (await put(opened, bytes)).mapErr(refused);
    const data: ReportData = {
      format,
      sessionIds: [...sessionIds],
      file: file ?? '-',
      bytes: bytes.length,
      isRedacted,
      hidden: report.hidden,
    };
    return done({
      data,
      lines: file === undefined ? [] : reportLines(report, data),
      next: isRedacted ? 'check the report before you share it' : 'do not share the report: nothing in it is hidden',
    });
  });
}

function pdfProblem(failure: PdfFailure): CommandProblem {
  const other = 'Or use --as html and print it from any browser.';
  if (failure.code === 'no_browser') {
    return usageProblem(
      'No browser was found that can print a PDF.',
      `Install Chromium, Chrome or Edge, or set CHROMIUM_PATH to one. ${other}`,
    );
  }
  return usageProblem(`${failure.browser} did not print the report: ${failure.cause}.`, other);
}

/** Writes a file completely or not at all. */
export async function put(output: BundleOutput, bytes: Uint8Array): Promise<Result<void, OutputFailure>> {
  const written = await output.write(bytes);
  if (written.isOk()) return output.finish();
  await output.abandon();
  return written;
}

function reportLines({ sessions, isRedacted, hidden }: Report, { file, bytes }: ReportData): readonly Line[] {
  const [first] = sessions;
  const what = sessions.length === 1 ? first?.sessionId : plural(sessions.length, 'session');
  const secrets = hidden.map(({ kind, count }) => `${kind} (${count})`).join(', ');
  const shown = secrets === '' ? 'Found nothing that looks like a secret.' : `Hidden: ${secrets}.`;
  return [
    [`Wrote the report of ${what} to ${file} (${sizeOf(bytes)}).`],
    ...sessions.flatMap(({ salvage }) => (salvage === undefined ? [] : [salvageLine(salvage)])),
    isRedacted ? [shown] : [notable('Nothing was hidden.')],
  ];
}

/** What `--withhold` names: kinds of content, numbers of events and ranges of numbers. */
function parseWithholding(text: unknown): Result<Withholding, CommandProblem> {
  const words =
    text === undefined
      ? []
      : String(text)
          .split(',')
          .map((word) => word.trim());
  const kinds: WithheldKind[] = [];
  const events: number[] = [];
  for (const word of words) {
    const kind = WITHHELD_KINDS.find((known) => known === word);
    const [, first, last = first] = /^(\d{1,7})(?:-(\d{1,7}))?$/.exec(word) ?? [];
    if (kind !== undefined) kinds.push(kind);
    else if (first !== undefined && Number(first) <= Number(last)) {
      for (let event = Number(first); event <= Number(last); event++) events.push(event);
    } else {
      return err(
        usageProblem(
          `--withhold does not know "${visibleLine(word)}".`,
          `Name one or more of ${WITHHELD_KINDS.join(', ')}, or numbers of events like 12 or 20-25, with commas between them.`,
        ),
      );
    }
  }
  return ok({ kinds: [...new Set(kinds)], events: [...new Set(events)] });
}
