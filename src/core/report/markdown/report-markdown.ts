import { shownSecond, shownTime } from '../../text/utc-time.ts';
import { visibleText } from '../../text/visible-text.ts';
import { plural, sizeOf } from '../../text/words.ts';
import type { Report, ReportArtifact, ReportEntry, ReportGap, ReportRun, ReportSession } from '../report.ts';
import {
  type BranchEntries,
  branchTitle,
  endLabel,
  entriesByBranch,
  entryFacts,
  entryLabel,
  forkLabel,
  gapStepLabel,
  reportTitle,
  runFigures,
  salvageText,
  shownContent,
  statusLabel,
  stepNumbers,
  timeSpan,
  words,
} from '../report-words.ts';
import { codeBlock, codeSpan, markdownLine } from './escape-markdown.ts';
import { noteMarkdown } from './note-markdown.ts';

type Lines = readonly string[];

/** A report as Markdown that reads well on a forge. */
export function reportMarkdown(report: Report): string {
  const { sessions } = report;
  const isOne = sessions.length === 1;
  const parts: Lines = [
    `# ${markdownLine(reportTitle(sessions))}`,
    '',
    ...sessions.flatMap((session) => [
      ...(isOne ? [] : [`## Session ${session.sessionId}`, '']),
      ...sessionLines(session, isOne ? '##' : '###'),
    ]),
    ...hiddenLines(report),
  ];
  return `${parts.join('\n').trimEnd()}\n`;
}

function sessionLines(session: ReportSession, level: string): Lines {
  const { sessionId, salvage, events, firstAt, lastAt, workspace, runs, timeline } = session;
  const span = timeSpan(firstAt, lastAt);
  const latest = new Map(workspace.map(({ key, value }) => [key, value]));
  return [
    ...(salvage === undefined ? [] : ['> [!WARNING]', `> ${markdownLine(salvageText(salvage))}`, '']),
    `- Session: ${codeSpan(sessionId)}, ${events} events`,
    ...(span === undefined ? [] : [`- Time: ${span}`]),
    ...[...latest]
      .filter(([key]) => key !== 'repo_root_hash')
      .map(([key, value]) => `- ${words(key)}: ${markdownLine(value)}`),
    '',
    ...runs.flatMap((run, i) => runMarkdown(run, { level, name: `Run ${i + 1} of ${runs.length}` })),
    `${level} Timeline`,
    '',
    '| Time | Run | What happened |',
    '| --- | --- | --- |',
    ...timeline.map(
      ({ at, runId, text }) =>
        `| ${at === undefined ? '' : shownSecond(at)} | ${runId?.slice(-4) ?? ''} | ${markdownLine(text)} |`,
    ),
    '',
  ];
}

type Place = { readonly level: string; readonly name: string };

function runMarkdown(run: ReportRun, { level, name }: Place): Lines {
  const { workflow, goal, preferences, startedAt, lastAt, runId, entries, gaps } = run;
  const numbers = stepNumbers(entries);
  const span = timeSpan(startedAt, lastAt);
  const figures = runFigures(run).map(([name, number]) => `${number} ${name}`);
  const lines = entriesByBranch(run);
  return [
    `${level} ${name}: ${markdownLine(run.workflow.name)}`,
    '',
    `**${statusLabel(run)}** · ${figures.join(' · ')}`,
    '',
    ...(goal === undefined ? [] : [`- Goal: ${markdownLine(goal)}`]),
    `- Workflow: ${markdownLine(workflow.name)} (${codeSpan(workflow.workflowId)}, ${workflow.source.kind} ${markdownLine(workflow.source.ref)})${workflow.steps === undefined ? '' : `, ${workflow.steps} steps, numbered as in the workflow`}`,
    `- Workflow hash: ${codeSpan(workflow.hash)}`,
    `- Run: ${codeSpan(runId)}`,
    `- Mode: ${words(preferences.autonomy)}, ${preferences.riskPolicy}`,
    ...(span === undefined ? [] : [`- Time: ${span}`]),
    '',
    ...lines.flatMap((line) => lineMarkdown(run, line, { level, numbers })),
    ...gapLines(gaps, level),
  ];
}

type Numbered = { readonly level: string; readonly numbers: ReturnType<typeof stepNumbers> };

function lineMarkdown(run: ReportRun, { branch, entries }: BranchEntries, { level, numbers }: Numbered): Lines {
  const fork = run.entries.find(({ nodeId }) => nodeId === branch.forkNodeId);
  const end = endLabel(branch, run);
  return [
    ...(run.branches.length === 1 ? [`${level}# Steps`, ''] : [`${level}# ${branchTitle(branch.name)}`, '']),
    ...(fork === undefined ? [] : [`${markdownLine(forkLabel(fork))}.`, '']),
    ...entries.flatMap((entry) =>
      entryMarkdown(entry, { level: `${level}##`, number: numbers.get(entry.nodeId) ?? 0 }),
    ),
    ...(branch.isComplete ? ['*Complete.*', ''] : []),
    ...(end === undefined ? [] : [`*${markdownLine(end)}*`, '']),
  ];
}

function gapLines(gaps: readonly ReportGap[], level: string): Lines {
  if (gaps.length === 0) return [];
  return [
    `${level}# Gaps`,
    '',
    ...gaps.map(({ isOpen, severity, category, detail, summary, step, branch, resolvedOn, at }) => {
      const state = isOpen ? '**open**' : `resolved${resolvedOn.length === 0 ? '' : ` on ${resolvedOn.join(', ')}`}`;
      const facts = `${severity}, ${words(category)}: ${words(detail)}, on ${branch}`;
      return `- ${state}${step === null ? '' : ` at ${markdownLine(gapStepLabel(step))}`}: ${markdownLine(summary)} (${facts}${at === undefined ? '' : `, ${shownTime(at)}`})`;
    }),
    '',
  ];
}

function hiddenLines({ isRedacted, hidden }: Report): Lines {
  if (!isRedacted) return ['## Nothing was hidden', '', 'This report was made without hiding anything.', ''];
  return [
    '## What was hidden',
    '',
    ...(hidden.length === 0
      ? ['Nothing in it looked like a secret.']
      : hidden.map(({ kind, count }) => `- ${kind}: ${plural(count, 'place')}`)),
    '',
  ];
}

/** One entry of a run with its number in the line. */
function entryMarkdown(
  entry: ReportEntry,
  { level, number }: { readonly level: string; readonly number: number },
): Lines {
  const facts = entryFacts(entry);
  const blockers = entry.kind === 'blocked_attempt' ? entry.blockers : [];
  return [
    `${level} ${headingOf(entry, number)}`,
    '',
    ...(entry.at === undefined ? [] : [`*${shownTime(entry.at)}*`, '']),
    ...blockers.flatMap(({ code, message, suggestedFix }) => [
      `- ${codeSpan(code)}: ${markdownLine(message)}${suggestedFix === undefined ? '' : ` Fix: ${markdownLine(suggestedFix)}`}`,
    ]),
    ...facts.map(([name, text]) => `- ${name}: ${markdownLine(text)}`),
    ...(blockers.length + facts.length === 0 ? [] : ['']),
    ...entry.notes.flatMap(({ markdown, isSuperseded }) => [
      ...(isSuperseded ? ['*Corrected later:*', ''] : []),
      ...noteMarkdown(markdown),
      '',
    ]),
    ...entry.artifacts.flatMap(artifactLines),
  ];
}

function headingOf(entry: ReportEntry, number: number): string {
  const label = markdownLine(entryLabel(entry));
  switch (entry.kind) {
    case 'start':
      return label;
    case 'step':
      return `✓ ${number}. ${label}${entry.isFork ? ' (again)' : ''}`;
    case 'blocked_attempt':
      return `▲ ${number}. ${label}: blocked`;
    default:
      return `◆ ${label}`;
  }
}

function artifactLines({ kind, contentType, byteLength, isSuperseded, content, sha256 }: ReportArtifact): Lines {
  const name = kind === undefined ? 'Artifact' : `Artifact ${codeSpan(visibleText(kind))}`;
  const head = `${name} (${markdownLine(contentType)}, ${sizeOf(byteLength)}${isSuperseded ? ', corrected later' : ''})`;
  if (content === undefined) return [`${head}: ${codeSpan(sha256)}`, ''];
  const { text, isCut } = shownContent(content);
  return [
    `${head}:`,
    '',
    ...codeBlock(visibleText(text), 'json'),
    '',
    ...(isCut ? ['*The rest is left out here.*', ''] : []),
  ];
}
