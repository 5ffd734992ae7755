import type { JsonValue } from '../../json/json-value.ts';
import { signatureReport } from '../../log/log-signatures.ts';
import { shownSecond } from '../../text/utc-time.ts';
import { visibleLine } from '../../text/visible-text.ts';
import { gapText, plural } from '../../text/words.ts';
import { isAgentsDecision } from '../../views/node-facts.ts';
import { gapFacts, gapState, gapStepLabel } from '../gap-words.ts';
import {
  type ArtifactView,
  artifactName,
  artifactView,
  type Outcome,
  outcomeOf,
  SHORTENED,
  shownContent,
  skippedLines,
  stepsSkippedAt,
} from '../outcome.ts';
import type { Report, ReportArtifact, ReportEntry, ReportGap, ReportRun, ReportSession } from '../report.ts';
import * as words from '../report-words.ts';
import { branchGraph } from './branch-graph.ts';
import { escapeHtml, textHtml } from './escape-html.ts';
import { noteHtml } from './note-html.ts';
import { STYLE, STYLE_HASH } from './style.ts';

/** Longer tables and graphs are folded, so that the notes are not far down. */
const OPEN_ROWS_MAX = 60;

/** The page loads nothing, runs nothing and has only our own style. */
const POLICY = `default-src 'none'; style-src '${STYLE_HASH}'; base-uri 'none'; form-action 'none'`;

/** A report as one page without scripts or requests. */
export function reportHtml(report: Report): string {
  const { sessions } = report;
  const title = visibleLine(words.reportTitle(sessions));
  const isOne = sessions.length === 1;
  return lines(
    '<!doctype html>',
    '<html lang="en">',
    '<head>',
    '<meta charset="utf-8">',
    `<meta http-equiv="Content-Security-Policy" content="${POLICY}">`,
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    '<meta name="referrer" content="no-referrer">',
    '<meta name="color-scheme" content="light dark">',
    `<title>${escapeHtml(title)}</title>`,
    `<style>${STYLE}</style>`,
    '</head>',
    '<body>',
    '<a class="skip" href="#report">Skip to the report</a>',
    `<header class="page"><p class="muted">WorkRail report</p><h1 dir="auto">${textHtml(title)}</h1></header>`,
    '<main id="report">',
    ...sessions.map((session) => sessionHtml(session, isOne)),
    '</main>',
    footerHtml(report),
    '</body>',
    '</html>\n',
  );
}

function sessionHtml(session: ReportSession, isOne: boolean): string {
  const { sessionId, salvage, runs, timeline } = session;
  const rows = timeline.map(
    ({ at, runId, text }) =>
      `<tr><td>${timeHtml(at)}</td><td>${runId?.slice(-4) ?? ''}</td><td dir="auto">${textHtml(text)}</td></tr>`,
  );
  return lines(
    `<section class="session" aria-label="Session ${sessionId}">`,
    !isOne && `<h2>Session <code>${sessionId}</code></h2>`,
    salvage !== undefined && `<p class="banner" role="note">${textHtml(words.salvageText(salvage))}</p>`,
    ...runs.map((run, i) => runHtml(run, { position: i + 1, total: runs.length, isTitle: isOne && i === 0 })),
    folded(
      'Timeline',
      `<div class="wide" tabindex="0"><table class="timeline"><thead><tr><th>Time (UTC)</th><th>Run</th><th>What happened</th></tr></thead><tbody>${rows.join('')}</tbody></table></div>`,
    ),
    folded(
      'Ids, hashes and settings',
      [factsHtml(words.sessionFacts(session)), ...runs.map((run) => factsHtml(words.runFacts(run)))].join('\n'),
    ),
    '</section>',
  );
}

/** A part that a reader opens if it matters; printed, it is open. */
function folded(title: string, html: string): string {
  return `<details class="fold"><summary><h3>${title}</h3></summary>${html}</details>`;
}

/** `isTitle`: the goal of the run is the title of the page. */
type RunPlace = { readonly position: number; readonly total: number; readonly isTitle: boolean };

function runHtml(run: ReportRun, { position, total, isTitle }: RunPlace): string {
  const { workflow, goal, status, tag, entries, branches } = run;
  const numbers = words.stepNumbers(entries);
  const outcome = outcomeOf(run);
  return lines(
    `<section class="run" aria-label="Run ${position} of ${total}">`,
    `<header>${total === 1 ? '' : `<p class="muted">Run ${position} of ${total} · ${tag}</p>`}`,
    `<h2 dir="auto">${textHtml(workflow.name)}</h2><span class="chip ${status}">${words.statusLabel(run)}</span></header>`,
    goal !== undefined && !isTitle && `<p class="goal" dir="auto">${textHtml(goal)}</p>`,
    outcomeHtml(run, outcome),
    branches.length > 1 &&
      `<section class="card"><details${open(entries.length <= OPEN_ROWS_MAX)}><summary><h3>At a glance</h3></summary>${branchGraph(run)}</details></section>`,
    ...words.entriesByBranch(run).map((branch) => branchHtml(run, branch, numbers)),
    outcome.context.length > 0 &&
      folded(
        'Context at the end',
        tableHtml(
          ['Key', 'Value'],
          outcome.context.map((row) => [...row]),
        ),
      ),
    '</section>',
  );
}

const CHECK_CHIPS = { good: 'complete', open: 'complete_with_gaps', bad: 'bad' };

/** What a reader wants to know first: result, checks, approvals, changed files and gaps. */
function outcomeHtml(run: ReportRun, outcome: Outcome): string {
  const { result, checks, files, approvals, unanswered } = outcome;
  const figures = words.runFigures(run).filter(([noun, count]) => count > 0 || noun === 'open gaps');
  const numbers = [
    ...figures.map(([noun, count]) => `${count} ${noun}`),
    ...(outcome.skipped === 0 ? [] : [`${outcome.skipped} skipped`]),
  ];
  const checkRows = checks.map(({ name, result: how, evidence, state }) => {
    return `<tr><td dir="auto">${textHtml(name)}</td><td><span class="chip ${CHECK_CHIPS[state]}">${textHtml(how)}</span></td><td dir="auto">${textHtml(evidence)}</td></tr>`;
  });
  const list = (items: readonly string[]) =>
    `<ul>${items.map((item) => `<li dir="auto">${textHtml(item)}</li>`).join('')}</ul>`;
  return lines(
    '<section class="card outcome"><h3>Outcome</h3>',
    result !== undefined && `<p class="result" dir="auto">${textHtml(result)}</p>`,
    `<p class="muted">${[...numbers, ...words.modeAndTimeWords(run)].map(escapeHtml).join(' · ')}</p>`,
    '<div class="cols">',
    checkRows.length > 0 &&
      `<div class="broad"><h4>Checks</h4><div class="wide" tabindex="0"><table><thead><tr><th>Check</th><th>Result</th><th>Evidence</th></tr></thead><tbody>${checkRows.join('')}</tbody></table></div></div>`,
    `<div><h4>Approvals</h4>${approvals.length === 0 ? `<p class="muted">${unanswered}</p>` : list(approvals)}</div>`,
    files.length > 0 && `<div><h4>Changed files</h4>${list(files)}</div>`,
    run.gaps.length > 0 &&
      `<div class="gaps broad"><h4>Gaps</h4><ul>${run.gaps.map((gap) => gapHtml(gap, run)).join('')}</ul></div>`,
    '</div></section>',
  );
}

function branchHtml(
  run: ReportRun,
  { branch, entries, fork }: words.BranchEntries,
  numbers: ReturnType<typeof words.stepNumbers>,
): string {
  const end = words.endLabel(branch, run);
  const { label, look } = words.completeEnd(branch, run);
  return lines(
    '<section class="line">',
    `<h3>${words.branchHeading(branch, run)}</h3>`,
    fork !== undefined &&
      `<p class="muted" dir="auto"><a href="#${fork.nodeId}">${textHtml(words.forkLabel(fork))}</a></p>`,
    ...entries.map((entry) => entryHtml(entry, run, numbers.get(entry.nodeId) ?? 0)),
    branch.isComplete && `<p class="ending ${look}">✓ ${label}</p>`,
    end !== undefined && `<p class="ending" dir="auto">○ ${textHtml(end)}</p>`,
    '</section>',
  );
}

const TAG_CHIPS = { bad: 'chip bad', gaps: 'chip complete_with_gaps', plain: 'chip' };

function entryHtml(entry: ReportEntry, run: ReportRun, number: number): string {
  const { nodeId, kind, at } = entry;
  const tags = words.entryTags(entry, run).map(({ text, look }) => `<span class="${TAG_CHIPS[look]}">${text}</span>`);
  const title = `<span class="sign" aria-hidden="true">${words.ENTRY_MARKS[kind]}</span><h4 dir="auto">${words.isNumbered(entry) ? `<span class="number">${number}</span> ` : ''}${textHtml(words.entryLabel(entry))}</h4>${tags.join('')}${timeHtml(at)}`;
  const said = [
    ...words
      .plainFacts(entry)
      .map(([name, text]) => `<p class="said" dir="auto"><b>${name}:</b> ${textHtml(text)}</p>`),
    ...entry.notes.map(
      ({ markdown, isSuperseded }) =>
        `${isSuperseded ? '<p class="muted">Corrected later:</p>' : ''}<div class="note" dir="auto">${noteHtml(markdown)}</div>`,
    ),
    ...entry.artifacts.map(artifactHtml),
    skippedHtml(entry),
  ];
  const details = words.detailFacts(entry).map(([name, text]) => definition(textHtml(name), textHtml(text)));
  if (entry.kind === 'start' && said.every((html) => html === '')) {
    const facts = details.length === 0 ? '' : `<dl>${details.join('')}</dl>`;
    return `<article class="entry ${kind}" id="${nodeId}"><details><summary><span class="head">${title}</span></summary>${facts}</details></article>`;
  }
  if (details.length > 0)
    said.push(`<details class="more"><summary>Details</summary><dl>${details.join('')}</dl></details>`);
  if (entry.kind === 'blocked_attempt') {
    const blockers = entry.blockers.map(blockerHtml).join('');
    return `<article class="entry ${kind}" id="${nodeId}"><details><summary><span class="head">${title}</span></summary>${blockers}${said.join('')}</details></article>`;
  }
  return `<article class="entry ${kind}" id="${nodeId}"><header>${title}</header>${said.join('')}</article>`;
}

/** One line; the reasons of further groups are folded. */
function skippedHtml(entry: ReportEntry): string {
  const [first, ...others] = skippedLines(entry);
  if (first === undefined) return '';
  if (others.length === 0) return `<p class="muted said" dir="auto">Skipped: ${textHtml(first)}.</p>`;
  const items = [first, ...others].map((line) => `<li dir="auto">${textHtml(line)}</li>`).join('');
  return `<details class="more"><summary>Skipped ${plural(stepsSkippedAt(entry), 'step')}: ${textHtml(first)} …</summary><ul>${items}</ul></details>`;
}

function blockerHtml({
  code,
  message,
  suggestedFix,
}: Extract<ReportEntry, { kind: 'blocked_attempt' }>['blockers'][number]): string {
  const fix = suggestedFix === undefined ? '' : `<p dir="auto"><b>Fix:</b> ${textHtml(suggestedFix)}</p>`;
  return `<div class="blocker"><code>${code}</code><p dir="auto">${textHtml(message)}</p>${fix}</div>`;
}

function artifactHtml(artifact: ReportArtifact): string {
  const { kind, content, sha256 } = artifact;
  const name = `<b>${textHtml(artifactName(kind))}</b>`;
  const head = `${name} ${muted(words.artifactFacts(artifact))}`;
  if (content === undefined) return `<p class="artifact">${head} <code>${sha256}</code></p>`;
  const view = artifactView(content);
  const body = view === undefined ? jsonHtml(content) : viewHtml(view);
  const title = view === undefined || artifact.isSuperseded ? head : name;
  return `<details class="artifact" open><summary>${title}</summary>${body}</details>`;
}

function jsonHtml(content: JsonValue): string {
  const { text, isCut } = shownContent(content);
  return `<pre tabindex="0"><code>${textHtml(text)}</code></pre>${isCut ? `<p class="muted">${SHORTENED}</p>` : ''}`;
}

function viewHtml({ facts, lists, tables, isCut }: ArtifactView): string {
  const items = facts.map(([name, text]) => definition(textHtml(name), textHtml(text)));
  const points = lists.map(({ name, items: texts }) =>
    definition(textHtml(name), `<ul>${texts.map((text) => `<li dir="auto">${textHtml(text)}</li>`).join('')}</ul>`),
  );
  const all = [...items, ...points];
  return lines(
    all.length > 0 && `<dl>${all.join('')}</dl>`,
    ...tables.map(({ columns, rows }) => tableHtml(columns, rows)),
    isCut && `<p class="muted">${SHORTENED}</p>`,
  );
}

function tableHtml(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = columns.map((name) => `<th>${textHtml(name)}</th>`).join('');
  const body = rows.map((row) => `<tr>${row.map((cell) => `<td dir="auto">${textHtml(cell)}</td>`).join('')}</tr>`);
  return `<div class="wide" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${body.join('')}</tbody></table></div>`;
}

function gapHtml(gap: ReportGap, run: ReportRun): string {
  const step = gapStepLabel(gap);
  const label = `${step === undefined ? '' : `${step.replace(/^s/, 'S')}: `}${gapText(gap.summary)}`;
  const chip = gap.isOpen ? 'chip bad' : isAgentsDecision(gap) ? 'chip' : 'chip complete';
  return [
    `<li><span class="${chip}">${gapState(gap, run)}</span> `,
    `<a href="#${gap.nodeId}" dir="auto">${textHtml(label)}</a> ${muted(gapFacts(gap, run).join(' · '))}</li>`,
  ].join('');
}

function footerHtml(report: Report): string {
  const hidden = words.hiddenWords(report);
  const items =
    typeof hidden === 'string' ? `<p>${hidden}</p>` : `<ul>${hidden.map((line) => `<li>${line}</li>`).join('')}</ul>`;
  const lines = signatureReport(report.sessions).map((line) => `<li dir="auto">${textHtml(line)}</li>`);
  const signed =
    lines.length === 0
      ? ''
      : `<details class="fold"><summary><h2>Signatures</h2></summary><ul>${lines.join('')}</ul></details>`;
  // The signatures refer to the list before them.
  return `<footer><h2>What was hidden</h2>${items}${signed}</footer>`;
}

function factsHtml(facts: readonly words.ReportFact[]): string {
  const items = facts.map(({ name, parts }) => definition(name, parts.map(partHtml).join(' ')));
  return lines('<dl class="card facts">', ...items, '</dl>');
}

function partHtml({ kind, text }: words.FactPart): string {
  if (kind === 'secondary') return muted(text);
  return kind === 'code' ? `<code>${textHtml(text)}</code>` : textHtml(text);
}

function definition(name: string, html: string): string {
  return `<div><dt>${name}</dt><dd dir="auto">${html}</dd></div>`;
}

function muted(text: string): string {
  return `<span class="muted">${textHtml(text)}</span>`;
}

function timeHtml(at: string | undefined): string {
  return at === undefined ? '' : `<time datetime="${escapeHtml(at)}">${escapeHtml(shownSecond(at))}</time>`;
}

function open(isOpen: boolean): string {
  return isOpen ? ' open' : '';
}

function lines(...html: readonly (string | false)[]): string {
  return html.filter((line) => line !== false).join('\n');
}
