import { shownSecond } from '../../text/utc-time.ts';
import { visibleLine } from '../../text/visible-text.ts';
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
import { branchGraph } from './branch-graph.ts';
import { escapeHtml, textHtml } from './escape-html.ts';
import { noteHtml } from './note-html.ts';
import { STYLE, STYLE_HASH } from './style.ts';

/** Artifacts of this length are shown at once. */
const OPEN_LENGTH_MAX = 600;

const SIGNS: { readonly [kind in ReportEntry['kind']]: string } = {
  start: '○',
  step: '✓',
  blocked_attempt: '▲',
  checkpoint: '◆',
};

/** One entry of a run with its number in the line. */
function entryHtml(entry: ReportEntry, number: number): string {
  const { nodeId, kind, at } = entry;
  const facts = entryFacts(entry);
  const blockers = entry.kind === 'blocked_attempt' ? entry.blockers : [];
  const tag = kind === 'blocked_attempt' ? '<span class="chip bad">blocked</span>' : '';
  const again = entry.kind === 'step' && entry.isFork ? '<span class="chip">done again</span>' : '';
  const title = kind === 'start' || kind === 'checkpoint' ? '' : `<span class="number">${number}</span> `;
  return [
    `<article class="entry ${kind}" id="${nodeId}">`,
    `<header><span class="sign" aria-hidden="true">${SIGNS[kind]}</span>`,
    `<h4 dir="auto">${title}${textHtml(entryLabel(entry))}</h4>${tag}${again}${timeHtml(at)}</header>`,
    ...blockers.map(
      ({ code, message, suggestedFix }) =>
        `<div class="blocker"><code>${code}</code><p dir="auto">${textHtml(message)}</p>${
          suggestedFix === undefined ? '' : `<p dir="auto"><b>Fix:</b> ${textHtml(suggestedFix)}</p>`
        }</div>`,
    ),
    facts.length === 0
      ? ''
      : `<dl>${facts.map(([name, text]) => `<div><dt>${name}</dt><dd dir="auto">${textHtml(text)}</dd></div>`).join('')}</dl>`,
    ...entry.notes.map(
      ({ markdown, isSuperseded }) =>
        `${isSuperseded ? '<p class="muted">Corrected later:</p>' : ''}<div class="note" dir="auto">${noteHtml(markdown)}</div>`,
    ),
    ...entry.artifacts.map(artifactHtml),
    '</article>',
  ].join('');
}

function timeHtml(at: string | undefined): string {
  return at === undefined ? '' : `<time datetime="${escapeHtml(at)}">${escapeHtml(shownSecond(at))}</time>`;
}

function artifactHtml({ kind, contentType, byteLength, isSuperseded, content, sha256 }: ReportArtifact): string {
  const name = `<b>${kind === undefined ? 'Artifact' : textHtml(kind)}</b>`;
  const head = `${name} <span class="muted">${textHtml(contentType)}, ${sizeOf(byteLength)}${isSuperseded ? ', corrected later' : ''}</span>`;
  if (content === undefined) return `<p class="artifact">${head} <code>${sha256}</code></p>`;
  const { text, isCut } = shownContent(content);
  const isOpen = text.length <= OPEN_LENGTH_MAX ? ' open' : '';
  const rest = isCut ? '<p class="muted">The rest is left out here.</p>' : '';
  return `<details class="artifact"${isOpen}><summary>${head}</summary><pre tabindex="0"><code>${textHtml(text)}</code></pre>${rest}</details>`;
}

/** A longer one is folded, so that what was found out is not a long way down. */
const OPEN_ROWS_MAX = 60;

/** Nothing may be loaded or run; of styles only our own. */
const POLICY = `default-src 'none'; style-src '${STYLE_HASH}'; base-uri 'none'; form-action 'none'`;

/** A report as one page that needs nothing else: no script, no request. */
export function reportHtml(report: Report): string {
  const { sessions } = report;
  const title = visibleLine(reportTitle(sessions));
  const isOne = sessions.length === 1;
  return [
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
    '</html>',
    '',
  ].join('\n');
}

function sessionHtml(session: ReportSession, isOne: boolean): string {
  const { sessionId, salvage, events, firstAt, lastAt, workspace, runs, timeline } = session;
  const span = timeSpan(firstAt, lastAt);
  const latest = [...new Map(workspace.map(({ key, value }) => [key, value]))];
  const rows = timeline.map(
    ({ at, runId, text }) =>
      `<tr><td>${timeHtml(at)}</td><td>${runId?.slice(-4) ?? ''}</td><td dir="auto">${textHtml(text)}</td></tr>`,
  );
  return [
    `<section class="session" aria-label="Session ${sessionId}">`,
    isOne ? '' : `<h2>Session <code>${sessionId}</code></h2>`,
    salvage === undefined ? '' : `<p class="banner" role="note">${textHtml(salvageText(salvage))}</p>`,
    '<dl class="card facts">',
    fact('Session', `<code>${sessionId}</code> <span class="muted">${events} events</span>`),
    span === undefined ? '' : fact('Time', escapeHtml(span)),
    ...latest
      .filter(([key]) => key !== 'repo_root_hash')
      .map(([key, value]) =>
        fact(words(key), key === 'git_head_sha' ? `<code>${textHtml(value)}</code>` : textHtml(value)),
      ),
    '</dl>',
    ...runs.map((run, i) => runHtml(run, { position: i + 1, total: runs.length, isTitle: isOne && i === 0 })),
    `<section class="card"><details${timeline.length > OPEN_ROWS_MAX ? '' : ' open'}><summary><h3>Timeline</h3></summary>`,
    '<div class="wide" tabindex="0"><table class="timeline"><thead><tr><th>Time (UTC)</th><th>Run</th><th>What happened</th></tr></thead>',
    `<tbody>${rows.join('')}</tbody></table></div></details></section>`,
    '</section>',
  ].join('\n');
}

/** `isTitle`: the page bears its goal as its title. */
type RunPlace = { readonly position: number; readonly total: number; readonly isTitle: boolean };

function runHtml(run: ReportRun, { position, total, isTitle }: RunPlace): string {
  const { workflow, goal, status, preferences, startedAt, lastAt, runId, tag, entries, gaps, branches } = run;
  const span = timeSpan(startedAt, lastAt);
  const figures = runFigures(run).map(([name, number]) => `<div><dt>${name}</dt><dd>${number}</dd></div>`);
  const numbers = stepNumbers(entries);
  const isShort = entries.length <= OPEN_ROWS_MAX;
  return [
    `<section class="run" aria-label="Run ${position} of ${total}">`,
    `<header><p class="muted">Run ${position} of ${total} · ${tag}</p>`,
    `<h2 dir="auto">${textHtml(workflow.name)}</h2><span class="chip ${status}">${statusLabel(run)}</span></header>`,
    goal === undefined || isTitle ? '' : `<p class="goal" dir="auto">${textHtml(goal)}</p>`,
    `<dl class="figures">${figures.join('')}</dl>`,
    '<dl class="card facts">',
    fact(
      'Workflow',
      `<code>${textHtml(workflow.workflowId)}</code> <span class="muted">${workflow.source.kind}, ${textHtml(workflow.source.ref)}</span>`,
    ),
    fact('Hash', `<code>${workflow.hash}</code>`),
    fact('Run', `<code>${runId}</code>`),
    fact('Mode', `${words(preferences.autonomy)}, ${preferences.riskPolicy}`),
    span === undefined ? '' : fact('Time', escapeHtml(span)),
    '</dl>',
    gapsHtml(gaps),
    branches.length === 0
      ? ''
      : `<section class="card"><details${isShort ? ' open' : ''}><summary><h3>At a glance</h3></summary>${branchGraph(run)}</details></section>`,
    ...entriesByBranch(run).map((line) => lineHtml(run, line, numbers)),
    '</section>',
  ].join('\n');
}

function lineHtml(run: ReportRun, { branch, entries }: BranchEntries, numbers: ReturnType<typeof stepNumbers>): string {
  const fork = run.entries.find(({ nodeId }) => nodeId === branch.forkNodeId);
  const end = endLabel(branch, run);
  const { isComplete, name } = branch;
  return [
    '<section class="line">',
    `<h3>${run.branches.length === 1 ? 'Steps' : branchTitle(name)}</h3>`,
    fork === undefined
      ? ''
      : `<p class="muted" dir="auto"><a href="#${fork.nodeId}">${textHtml(forkLabel(fork))}</a></p>`,
    ...entries.map((entry) => entryHtml(entry, numbers.get(entry.nodeId) ?? 0)),
    isComplete ? '<p class="ending complete">✓ Complete</p>' : '',
    end === undefined ? '' : `<p class="ending" dir="auto">○ ${textHtml(end)}</p>`,
    '</section>',
  ].join('\n');
}

function gapsHtml(gaps: readonly ReportGap[]): string {
  if (gaps.length === 0) return '';
  const items = gaps.map(({ isOpen, severity, category, detail, summary, step, branch, resolvedOn, nodeId }) => {
    const on = resolvedOn.length === 0 ? '' : ` on ${resolvedOn.join(', ')}`;
    const state = isOpen ? '<span class="chip bad">open</span>' : `<span class="chip complete">resolved${on}</span>`;
    const facts = `${severity} · ${words(category)}: ${words(detail)} · ${branchTitle(branch)}`;
    return `<li>${state} <a href="#${nodeId}" dir="auto">${textHtml(`${step === null ? '' : `${gapStepLabel(step)}: `}${summary}`)}</a><br><span class="muted">${facts}</span></li>`;
  });
  return `<section class="card gaps"><h3>Gaps</h3><ul>${items.join('')}</ul></section>`;
}

function footerHtml({ isRedacted, hidden }: Report): string {
  const items = hidden.map(({ kind, count }) => `<li>${kind}: ${plural(count, 'place')}</li>`);
  const list = items.length === 0 ? '<p>Nothing in it looked like a secret.</p>' : `<ul>${items.join('')}</ul>`;
  const told = isRedacted ? list : '<p>This report was made without hiding anything.</p>';
  return `<footer><h2>What was hidden</h2>${told}</footer>`;
}

function fact(name: string, html: string): string {
  return `<div><dt>${name}</dt><dd>${html}</dd></div>`;
}
