import { err, ok, type Result } from 'neverthrow';
import type { BundleOutput, OutputFailure } from '../../../app/ports/bundle-output.ts';
import { readReport } from '../../../app/report.ts';
import { reportHtml } from '../../../core/report/html/report-html.ts';
import { reportMarkdown } from '../../../core/report/markdown/report-markdown.ts';
import type { Report } from '../../../core/report/report.ts';
import { reportJson } from '../../../core/report/report-json.ts';
import { shellWord } from '../../../core/text/shell-word.ts';
import { encodeUtf8 } from '../../../core/text/utf8.ts';
import { salvageLine } from '../../bundle/salvage-line.ts';
import type { CommandContext, CommandOutcome, CommandProblem } from '../../command.ts';
import { exitCodeOf } from '../../exit-codes.ts';
import { findSessions } from '../../ids.ts';
import type { Line } from '../../output/line.ts';
import { plural, sizeOf } from '../../output/wording.ts';
import type { ReportData } from '../../shapes/exchange/export-shape.ts';
import { type CommandRefusal, explainRefusal } from '../../words/explain.ts';
import { wrongUse } from './wrong-use.ts';

const WRITERS = { md: reportMarkdown, html: reportHtml, json: reportJson };
export type ReportFormat = keyof typeof WRITERS;

export function isReportFormat(format: unknown): format is ReportFormat {
  return typeof format === 'string' && Object.hasOwn(WRITERS, format);
}

type ReportRequest = {
  readonly asked: readonly string[];
  readonly file: string | undefined;
  readonly format: ReportFormat;
  readonly isRedacted: boolean;
};

/** Tells sessions to people: all of them in one document. */
export async function exportReport(
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
    lines: file === undefined ? [] : linesOf(report.value, data),
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

function linesOf({ sessions, isRedacted, hidden }: Report, { file, bytes }: ReportData): readonly Line[] {
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
