import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { type Exported, exportSession } from '../../app/bundle/export-session.ts';
import type { BundleOutput, OutputFailure } from '../../app/ports/bundle-output.ts';
import { readReport } from '../../app/report.ts';
import { bundleIdSchema } from '../../core/bundle/bundle-document.ts';
import { salvageSchema } from '../../core/log/health.ts';
import { SessionId } from '../../core/log/ids.ts';
import { reportHtml } from '../../core/report/html/report-html.ts';
import { reportMarkdown } from '../../core/report/markdown/report-markdown.ts';
import { type Report, reportJson, reportSchema } from '../../core/report/report.ts';
import { encodeUtf8 } from '../../core/text/utf8.ts';
import { plural, shellWord, sizeOf } from '../../core/text/words.ts';
import {
  type CommandContext,
  type CommandOutcome,
  type CommandProblem,
  exitCodeOf,
  type RunCommand,
} from '../command.ts';
import { commandShape } from '../command-shape.ts';
import { findSessions } from '../ids.ts';
import type { Line } from '../output/line.ts';
import { type CommandRefusal, explainRefusal } from '../words.ts';
import { salvageLine, wrongUse } from './salvage-line.ts';

type BundleRequest = { readonly asked: readonly string[]; readonly file: string | undefined };

/** Writes one session for another machine to go on with. */
async function exportBundle(
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
    lines: file === undefined ? [] : bundleLines(exported.value, file),
    next: file === undefined ? 'workrail import FILE --dry-run' : `workrail import ${shellWord(file)} --dry-run`,
  });
}

function bundleLines({ sessionId, events, artifacts, bytes, salvage }: Exported, file: string): readonly Line[] {
  const content = `${plural(events, 'event')}, ${plural(artifacts, 'artifact')}, ${sizeOf(bytes)}`;
  return [
    [`${sessionId} is in ${file}: ${content}.`],
    ...(salvage === undefined ? [] : [salvageLine(salvage)]),
    [{ text: 'It holds notes and paths as they were recorded; look at it before you give it away.', style: 'dim' }],
  ];
}

const NAME_ONE = 'Type the id of one session: workrail export ID --as bundle -o FILE';

const WRITERS = { md: reportMarkdown, html: reportHtml, json: reportJson };
export type ReportFormat = keyof typeof WRITERS;

function isReportFormat(format: unknown): format is ReportFormat {
  return typeof format === 'string' && Object.hasOwn(WRITERS, format);
}

type ReportRequest = {
  readonly asked: readonly string[];
  readonly file: string | undefined;
  readonly format: ReportFormat;
  readonly isRedacted: boolean;
};

/** Tells sessions to people: all of them in one document. */
async function exportReport(
  { program, switches, progress }: CommandContext,
  { asked, file, format, isRedacted }: ReportRequest,
): Promise<Result<CommandOutcome, CommandProblem>> {
  const isForScreen = format !== 'html' || !program.terminal.isOutput();
  if (file === undefined && (switches.isJson || !isForScreen)) {
    const why = switches.isJson ? 'With --json the report needs a file.' : 'A page is for a file, not for the screen.';
    return err(wrongUse(why, `Say which: workrail export ${asked.map(shellWord).join(' ')} --as ${format} -o FILE`));
  }
  progress.show({ label: 'looking for sessions' });
  const dataDir = await program.dataDir();
  const refused = (refusal: CommandRefusal) => {
    const error = explainRefusal(refusal, dataDir);
    return err({ error, exitCode: exitCodeOf(error.code) });
  };
  const found = await findSessions(await program.store(), asked);
  if (found.isErr()) return refused(found.error);
  const { services, homes, output } = await program.exchange();
  const report = await readReport(services, { sessionIds: found.value, isRedacted, homes }, (step) =>
    progress.show({ label: 'reading the session', ...step }),
  );
  if (report.isErr()) return refused(report.error);
  const bytes = encodeUtf8(WRITERS[format](report.value));
  const opened = await output(file);
  if (opened.isErr()) return refused(opened.error);
  const written = await put(opened.value, bytes);
  if (written.isErr()) return refused(written.error);
  const data: ReportData = {
    format,
    sessionIds: [...found.value],
    file: file ?? '-',
    bytes: bytes.length,
    isRedacted,
    hidden: report.value.hidden,
  };
  return ok({
    kind: 'done',
    data,
    lines: file === undefined ? [] : reportLines(report.value, data),
    next: isRedacted ? 'look through it before you give it away' : 'nothing in it is hidden: keep it to yourself',
  });
}

/** A file is there whole or not at all. */
async function put(output: BundleOutput, bytes: Uint8Array): Promise<Result<void, OutputFailure>> {
  const written = await output.write(bytes);
  if (written.isOk()) return output.finish();
  await output.abandon();
  return written;
}

function reportLines({ sessions, isRedacted, hidden }: Report, { file, bytes }: ReportData): readonly Line[] {
  const [first] = sessions;
  const what = sessions.length === 1 ? first?.sessionId : plural(sessions.length, 'session');
  const secrets = hidden.map(({ kind, count }) => `${kind} (${count})`).join(', ');
  const told = secrets === '' ? 'Nothing in it looked like a secret.' : `Hidden: ${secrets}.`;
  return [
    [`${what} ${sessions.length === 1 ? 'is' : 'are'} told in ${file}: ${sizeOf(bytes)}.`],
    ...sessions.flatMap(({ salvage }) => (salvage === undefined ? [] : [salvageLine(salvage)])),
    isRedacted ? [told] : [{ text: 'Nothing was hidden.', style: 'notable' }],
  ];
}

export const exportCommand: RunCommand = async (context, { operands, options }) => {
  const format = options['as'] ?? 'bundle';
  const file = typeof options['output'] === 'string' ? options['output'] : undefined;
  const asked = operands.filter((id) => id.trim() !== '');
  if (asked.length === 0) {
    return err(wrongUse('A session is missing.', 'Type its id: workrail export ID --as bundle -o FILE'));
  }
  if (format === 'bundle') return exportBundle(context, { asked, file });
  if (isReportFormat(format)) {
    return exportReport(context, { asked, file, format, isRedacted: options['redact'] !== false });
  }
  return err(wrongUse(`There is no format "${String(format)}".`, 'Use --as bundle, md, html or json.'));
};

const count = z.int().min(0);

const bundleData = z.strictObject({
  sessionId: SessionId.schema,
  bundleId: bundleIdSchema,
  /** Where the bundle was written. */
  file: z.string(),
  events: count,
  artifacts: count,
  bytes: count,
  /** Told when only part of the session could be trusted: that part was exported. */
  salvage: salvageSchema.exactOptional(),
});
type BundleData = z.infer<typeof bundleData>;

const reportData = z.strictObject({
  format: z.enum(['md', 'html', 'json']),
  sessionIds: z.array(SessionId.schema).min(1),
  /** Where the report was written. */
  file: z.string(),
  bytes: count,
  isRedacted: z.boolean(),
  /** What was hidden, and in how many places; never the values. */
  hidden: reportSchema.shape.hidden,
});
type ReportData = z.infer<typeof reportData>;

/** What `workrail export --json` prints. */
export const exportShape = commandShape('export', z.union([bundleData, reportData]));
