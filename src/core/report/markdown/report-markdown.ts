import { signatureReport } from '../../log/log-signatures.ts';
import { shownSecond, shownTime } from '../../text/utc-time.ts';
import { visibleText } from '../../text/visible-text.ts';
import { gapText } from '../../text/words.ts';
import { gapFacts, gapState, gapStepLabel } from '../gap-words.ts';
import {
  artifactName,
  artifactView,
  type Outcome,
  outcomeOf,
  SHORTENED,
  shownContent,
  skippedLines,
} from '../outcome.ts';
import type { Report, ReportArtifact, ReportEntry, ReportGap, ReportRun, ReportSession } from '../report.ts';
import * as words from '../report-words.ts';
import { codeBlock, codeSpan, markdownLine } from './escape-markdown.ts';
import { noteMarkdown } from './note-markdown.ts';

type Lines = readonly string[];

/** A report as Markdown, for a pull request or a wiki. */
export function reportMarkdown(report: Report): string {
  const { sessions } = report;
  const isOne = sessions.length === 1;
  const hidden = words.hiddenWords(report);
  const signed = signatureReport(sessions);
  const parts: Lines = [
    `# ${markdownLine(words.reportTitle(sessions))}`,
    '',
    ...sessions.flatMap((session) => [
      ...(isOne ? [] : [`## Session ${session.sessionId}`, '']),
      ...sessionLines(session, isOne ? '##' : '###'),
    ]),
    '## What was hidden',
    '',
    ...(typeof hidden === 'string' ? [hidden] : hidden.map((line) => `- ${line}`)),
    ...(signed.length === 0 ? [] : ['', '## Signatures', '', ...signed.map((line) => `- ${markdownLine(line)}`)]),
  ];
  return `${parts.join('\n').trimEnd()}\n`;
}

function sessionLines(session: ReportSession, level: string): Lines {
  const { salvage, runs, timeline } = session;
  return [
    ...(salvage === undefined ? [] : ['> [!WARNING]', `> ${markdownLine(words.salvageText(salvage))}`, '']),
    ...runs.flatMap((run, i) => runLines(run, { level, name: `Run ${i + 1} of ${runs.length}` })),
    ...folded('Timeline', [
      '| Time (UTC) | Run | What happened |',
      '| --- | --- | --- |',
      ...timeline.map(
        ({ at, runId, text }) =>
          `| ${at === undefined ? '' : shownSecond(at)} | ${runId?.slice(-4) ?? ''} | ${markdownLine(text)} |`,
      ),
    ]),
    ...folded('Ids, hashes and settings', [
      ...words.sessionFacts(session).map(factLine),
      ...runs.flatMap((run) => words.runFacts(run).map(factLine)),
    ]),
  ];
}

/** A part that a reader opens if it matters. */
function folded(title: string, inside: Lines): Lines {
  return ['<details>', `<summary>${title}</summary>`, '', ...inside, '', '</details>', ''];
}

function runLines(run: ReportRun, { level, name }: { readonly level: string; readonly name: string }): Lines {
  const { workflow, goal, gaps } = run;
  const outcome = outcomeOf(run);
  const figures = words.runFigures(run).map(([noun, count]) => `${count} ${noun}`);
  return [
    `${level} ${name}: ${markdownLine(workflow.name)}`,
    '',
    `**${words.statusLabel(run)}** · ${[...figures, ...words.modeAndTimeWords(run)].join(' · ')}`,
    '',
    ...(goal === undefined ? [] : [`**Goal:** ${markdownLine(goal)}`, '']),
    ...(outcome.result === undefined ? [] : [`**Result:** ${markdownLine(outcome.result)}`, '']),
    ...outcomeLines(outcome),
    ...(gaps.length === 0 ? [] : [`${level}# Gaps`, '', ...gaps.map((gap) => gapLine(gap, run)), '']),
    ...words.entriesByBranch(run).flatMap((branch) => branchLines(run, branch, level)),
    ...(outcome.context.length === 0
      ? []
      : folded('Context at the end', tableLines(['Key', 'Value'], outcome.context))),
  ];
}

function outcomeLines({ checks, approvals, unanswered, files }: Outcome): Lines {
  const rows = checks.map(({ name, result, evidence }) => [name, result, evidence]);
  return [
    ...(rows.length === 0 ? [] : [...tableLines(['Check', 'Result', 'Evidence'], rows), '']),
    ...(approvals.length === 0
      ? [`**Approvals:** ${unanswered}`, '']
      : ['**Approvals:**', '', ...approvals.map((text) => `- ${markdownLine(text)}`), '']),
    ...(files.length === 0 ? [] : ['**Changed files:**', '', ...files.map((text) => `- ${markdownLine(text)}`), '']),
  ];
}

function tableLines(columns: Lines, rows: readonly Lines[]): Lines {
  const cells = (row: Lines) => `| ${row.map((cell) => markdownLine(cell)).join(' | ')} |`;
  return [cells(columns), `|${' --- |'.repeat(columns.length)}`, ...rows.map(cells)];
}

function branchLines(run: ReportRun, { branch, entries, fork }: words.BranchEntries, level: string): Lines {
  const numbers = words.stepNumbers(run.entries);
  const end = words.endLabel(branch, run);
  return [
    `${level}# ${words.branchHeading(branch, run)}`,
    '',
    ...(fork === undefined ? [] : [`${markdownLine(words.forkLabel(fork))}.`, '']),
    ...entries.flatMap((entry) => [
      `${level}## ${entryHeading(entry, run, numbers.get(entry.nodeId) ?? 0)}`,
      '',
      ...entryLines(entry),
    ]),
    ...(branch.isComplete ? [`*${words.completeEnd(branch, run).label}*`, ''] : []),
    ...(end === undefined ? [] : [`*${markdownLine(end)}*`, '']),
  ];
}

function entryHeading(entry: ReportEntry, run: ReportRun, number: number): string {
  const tags = words.entryTags(entry, run).map(({ text }) => ` (${text})`);
  return `${words.ENTRY_MARKS[entry.kind]} ${words.isNumbered(entry) ? `${number}. ` : ''}${markdownLine(words.entryLabel(entry))}${tags.join('')}`;
}

function entryLines(entry: ReportEntry): Lines {
  const blockers = entry.kind === 'blocked_attempt' ? entry.blockers : [];
  const facts = words.plainFacts(entry);
  const details = words.detailFacts(entry);
  const body: Lines = [
    ...blockers.map(
      ({ code, message, suggestedFix }) =>
        `- ${codeSpan(code)}: ${markdownLine(message)}${suggestedFix === undefined ? '' : ` Fix: ${markdownLine(suggestedFix)}`}`,
    ),
    ...facts.map(([name, text]) => `- ${name}: ${markdownLine(text)}`),
    ...(blockers.length + facts.length === 0 ? [] : ['']),
    ...entry.notes.flatMap(({ markdown, isSuperseded }) => [
      ...(isSuperseded ? ['*Corrected later:*', ''] : []),
      ...noteMarkdown(markdown),
      '',
    ]),
    ...entry.artifacts.flatMap(artifactLines),
    ...(entry.skipped.length === 0 ? [] : [`*Skipped: ${markdownLine(skippedLines(entry).join('; '))}.*`, '']),
    ...(details.length === 0
      ? []
      : folded(
          'Details',
          details.map(([name, text]) => `- ${markdownLine(name)}: ${markdownLine(text)}`),
        )),
  ];
  const time = entry.at === undefined ? [] : [`*${shownTime(entry.at)}*`, ''];
  return entry.kind === 'blocked_attempt' ? folded('What was missing', [...time, ...body]) : [...time, ...body];
}

function artifactLines(artifact: ReportArtifact): Lines {
  const { kind, content, sha256 } = artifact;
  const head = `**${markdownLine(artifactName(kind))}** (${markdownLine(words.artifactFacts(artifact))})`;
  if (content === undefined) return [`${head}: ${codeSpan(sha256)}`, ''];
  const view = artifactView(content);
  if (view === undefined) {
    const { text, isCut } = shownContent(content);
    return [`${head}:`, '', ...codeBlock(visibleText(text), 'json'), '', ...(isCut ? [`*${SHORTENED}*`, ''] : [])];
  }
  return [
    head,
    '',
    ...view.facts.map(([name, text]) => `- ${markdownLine(name)}: ${markdownLine(text)}`),
    ...view.lists.flatMap(({ name, items }) => [
      `- ${markdownLine(name)}:`,
      ...items.map((text) => `  - ${markdownLine(text)}`),
    ]),
    '',
    ...view.tables.flatMap(({ columns, rows }) => [...tableLines(columns, rows), '']),
    ...(view.isCut ? [`*${SHORTENED}*`, ''] : []),
  ];
}

function gapLine(gap: ReportGap, run: ReportRun): string {
  const step = gapStepLabel(gap);
  const at = step === undefined ? '' : ` at ${markdownLine(step)}`;
  const facts = [...gapFacts(gap, run), ...(gap.at === undefined ? [] : [shownTime(gap.at)])];
  const state = gap.isOpen ? '**open**' : gapState(gap, run);
  return `- ${state}${at}: ${markdownLine(gapText(gap.summary))} (${facts.join(', ')})`;
}

function factLine({ name, parts }: words.ReportFact): string {
  const values = parts.map(({ kind, text }) => (kind === 'code' ? codeSpan(text) : markdownLine(text)));
  return `- ${name}: ${values.join(', ')}`;
}
