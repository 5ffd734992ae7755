import { visibleText } from '../../text/visible-text.ts';
import { entryFacts } from '../entry-facts.ts';
import type { ReportArtifact, ReportEntry } from '../report.ts';
import { entryLabel } from '../report-words.ts';
import { shownContent, shownSize } from '../run-lines.ts';
import { shownTime } from '../utc-time.ts';
import { codeBlock, codeSpan, markdownLine } from './escape-markdown.ts';
import { noteMarkdown } from './note-markdown.ts';

type Lines = readonly string[];

/** One entry of a run with its number in the line. */
export function entryMarkdown(
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
  const head = `${name} (${markdownLine(contentType)}, ${shownSize(byteLength)}${isSuperseded ? ', corrected later' : ''})`;
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
