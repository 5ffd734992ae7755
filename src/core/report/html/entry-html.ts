import { entryFacts } from '../entry-facts.ts';
import type { ReportArtifact, ReportEntry } from '../report.ts';
import { entryLabel } from '../report-words.ts';
import { shownContent, shownSize } from '../run-lines.ts';
import { shownSecond } from '../utc-time.ts';
import { escapeHtml, textHtml } from './escape-html.ts';
import { noteHtml } from './note-html.ts';

/** Artifacts of this length are shown at once. */
const OPEN_LENGTH_MAX = 600;

const SIGNS: { readonly [kind in ReportEntry['kind']]: string } = {
  start: '○',
  step: '✓',
  blocked_attempt: '▲',
  checkpoint: '◆',
};

/** One entry of a run with its number in the line. */
export function entryHtml(entry: ReportEntry, number: number): string {
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

export function timeHtml(at: string | undefined): string {
  return at === undefined ? '' : `<time datetime="${escapeHtml(at)}">${escapeHtml(shownSecond(at))}</time>`;
}

function artifactHtml({ kind, contentType, byteLength, isSuperseded, content, sha256 }: ReportArtifact): string {
  const name = `<b>${kind === undefined ? 'Artifact' : textHtml(kind)}</b>`;
  const head = `${name} <span class="muted">${textHtml(contentType)}, ${shownSize(byteLength)}${isSuperseded ? ', corrected later' : ''}</span>`;
  if (content === undefined) return `<p class="artifact">${head} <code>${sha256}</code></p>`;
  const { text, isCut } = shownContent(content);
  const isOpen = text.length <= OPEN_LENGTH_MAX ? ' open' : '';
  const rest = isCut ? '<p class="muted">The rest is left out here.</p>' : '';
  return `<details class="artifact"${isOpen}><summary>${head}</summary><pre tabindex="0"><code>${textHtml(text)}</code></pre>${rest}</details>`;
}
