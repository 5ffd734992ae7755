import { shownSecond } from '../../text/utc-time.ts';
import { visibleLine } from '../../text/visible-text.ts';
import { gapText } from '../../text/words.ts';
import type { Report, ReportArtifact, ReportEntry, ReportGap, ReportRun, ReportSession } from '../report.ts';
import * as words from '../report-words.ts';
import { branchGraph } from './branch-graph.ts';
import { escapeHtml, textHtml } from './escape-html.ts';
import { noteHtml } from './note-html.ts';
import { STYLE, STYLE_HASH } from './style.ts';

/** Longer tables and graphs are folded, so that the notes are not far down. */
const OPEN_ROWS_MAX = 60;
/** Longer artifacts are folded. */
const OPEN_LENGTH_MAX = 600;

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
    factsHtml(words.sessionFacts(session)),
    ...runs.map((run, i) => runHtml(run, { position: i + 1, total: runs.length, isTitle: isOne && i === 0 })),
    `<section class="card"><details${open(timeline.length <= OPEN_ROWS_MAX)}><summary><h3>Timeline</h3></summary>`,
    '<div class="wide" tabindex="0"><table class="timeline"><thead><tr><th>Time (UTC)</th><th>Run</th><th>What happened</th></tr></thead>',
    `<tbody>${rows.join('')}</tbody></table></div></details></section>`,
    '</section>',
  );
}

/** `isTitle`: the goal of the run is the title of the page. */
type RunPlace = { readonly position: number; readonly total: number; readonly isTitle: boolean };

function runHtml(run: ReportRun, { position, total, isTitle }: RunPlace): string {
  const { workflow, goal, status, tag, entries, gaps, branches } = run;
  const figures = words.runFigures(run).map(([noun, count]) => `<div><dt>${noun}</dt><dd>${count}</dd></div>`);
  const numbers = words.stepNumbers(entries);
  return lines(
    `<section class="run" aria-label="Run ${position} of ${total}">`,
    `<header><p class="muted">Run ${position} of ${total} · ${tag}</p>`,
    `<h2 dir="auto">${textHtml(workflow.name)}</h2><span class="chip ${status}">${words.statusLabel(run)}</span></header>`,
    goal !== undefined && !isTitle && `<p class="goal" dir="auto">${textHtml(goal)}</p>`,
    `<dl class="figures">${figures.join('')}</dl>`,
    factsHtml(words.runFacts(run)),
    gaps.length > 0 && `<section class="card gaps"><h3>Gaps</h3><ul>${gaps.map(gapHtml).join('')}</ul></section>`,
    branches.length > 0 &&
      `<section class="card"><details${open(entries.length <= OPEN_ROWS_MAX)}><summary><h3>At a glance</h3></summary>${branchGraph(run)}</details></section>`,
    ...words.entriesByBranch(run).map((branch) => branchHtml(run, branch, numbers)),
    '</section>',
  );
}

function branchHtml(
  run: ReportRun,
  { branch, entries, fork }: words.BranchEntries,
  numbers: ReturnType<typeof words.stepNumbers>,
): string {
  const end = words.endLabel(branch, run);
  return lines(
    '<section class="line">',
    `<h3>${words.branchHeading(branch, run)}</h3>`,
    fork !== undefined &&
      `<p class="muted" dir="auto"><a href="#${fork.nodeId}">${textHtml(words.forkLabel(fork))}</a></p>`,
    ...entries.map((entry) => entryHtml(entry, numbers.get(entry.nodeId) ?? 0)),
    branch.isComplete && '<p class="ending complete">✓ Complete</p>',
    end !== undefined && `<p class="ending" dir="auto">○ ${textHtml(end)}</p>`,
    '</section>',
  );
}

function entryHtml(entry: ReportEntry, number: number): string {
  const { nodeId, kind, at } = entry;
  const tag = words.entryTag(entry);
  const facts = words.entryFacts(entry).map(([name, text]) => definition(name, textHtml(text)));
  const blockers = entry.kind === 'blocked_attempt' ? entry.blockers : [];
  return [
    `<article class="entry ${kind}" id="${nodeId}">`,
    `<header><span class="sign" aria-hidden="true">${words.ENTRY_MARKS[kind]}</span>`,
    `<h4 dir="auto">${words.isNumbered(entry) ? `<span class="number">${number}</span> ` : ''}${textHtml(words.entryLabel(entry))}</h4>`,
    tag === undefined ? '' : `<span class="chip${tag === 'blocked' ? ' bad' : ''}">${tag}</span>`,
    `${timeHtml(at)}</header>`,
    ...blockers.map(
      ({ code, message, suggestedFix }) =>
        `<div class="blocker"><code>${code}</code><p dir="auto">${textHtml(message)}</p>${
          suggestedFix === undefined ? '' : `<p dir="auto"><b>Fix:</b> ${textHtml(suggestedFix)}</p>`
        }</div>`,
    ),
    facts.length === 0 ? '' : `<dl>${facts.join('')}</dl>`,
    ...entry.notes.map(
      ({ markdown, isSuperseded }) =>
        `${isSuperseded ? '<p class="muted">Corrected later:</p>' : ''}<div class="note" dir="auto">${noteHtml(markdown)}</div>`,
    ),
    ...entry.artifacts.map(artifactHtml),
    '</article>',
  ].join('');
}

function artifactHtml(artifact: ReportArtifact): string {
  const { kind, content, sha256 } = artifact;
  const head = `<b>${kind === undefined ? 'Artifact' : textHtml(kind)}</b> ${muted(words.artifactFacts(artifact))}`;
  if (content === undefined) return `<p class="artifact">${head} <code>${sha256}</code></p>`;
  const { text, isCut } = words.shownContent(content);
  const rest = isCut ? `<p class="muted">${words.SHORTENED}</p>` : '';
  return `<details class="artifact"${open(text.length <= OPEN_LENGTH_MAX)}><summary>${head}</summary><pre tabindex="0"><code>${textHtml(text)}</code></pre>${rest}</details>`;
}

function gapHtml(gap: ReportGap): string {
  const step = words.gapStepLabel(gap);
  const label = `${step === undefined ? '' : `${step.replace(/^s/, 'S')}: `}${gapText(gap.summary)}`;
  return [
    `<li><span class="chip ${gap.isOpen ? 'bad' : 'complete'}">${words.gapState(gap)}</span> `,
    `<a href="#${gap.nodeId}" dir="auto">${textHtml(label)}</a><br>${muted(words.gapFacts(gap).join(' · '))}</li>`,
  ].join('');
}

function footerHtml(report: Report): string {
  const hidden = words.hiddenWords(report);
  const items =
    typeof hidden === 'string' ? `<p>${hidden}</p>` : `<ul>${hidden.map((line) => `<li>${line}</li>`).join('')}</ul>`;
  return `<footer><h2>What was hidden</h2>${items}</footer>`;
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
