import { snippetOf, wordsIn } from '../../../core/text/search-words.ts';
import type { Line, LineSpan } from '../../output/line.ts';
import { clipText, textWidth } from '../../output/text-width.ts';
import { ago } from '../../output/times.ts';
import { plural } from '../../output/wording.ts';
import { placeWords, STATE_MARKS, stateSpan } from '../../sessions/run-words.ts';
import type { SearchData } from '../../shapes/search/search-shape.ts';

type Layout = { readonly nowMs: number; readonly width: number };
type Found = SearchData['found'][number];

/** Each session with the places where the words stand, and what was not looked at. */
export function searchLines(data: SearchData, layout: Layout): readonly Line[] {
  const more = data.total - data.found.length;
  return [
    ...data.found.flatMap((found) => foundLines(found, layout)),
    ...(more > 0
      ? [[{ text: `… and ${plural(more, 'more session')}; --all shows them.`, style: 'dim' } as const]]
      : []),
    ...(data.total === 0 ? [[`No session holds ${data.words.map((word) => `"${word}"`).join(' and ')}.`]] : []),
    ...coverage(data),
  ];
}

function foundLines({ session, hits }: Found, { nowMs, width }: Layout): readonly Line[] {
  const when = session.lastAt === undefined ? '' : `  ${ago(session.lastAt, nowMs)}`;
  const room = width - session.shortId.length - session.state.length - when.length - 6;
  return [
    [
      STATE_MARKS[session.state],
      ` ${session.shortId}  `,
      { text: clipText(session.title ?? 'untitled', Math.max(16, room)), style: 'strong' },
      '  ',
      stateSpan(session.state),
      { text: when, style: 'dim' },
    ],
    ...hits.map((hit) => hitLine(hit, { runs: session.runs.length, width })),
  ];
}

function hitLine(
  { where, place, tag, words, snippet }: Found['hits'][number],
  { runs, width }: { readonly runs: number; readonly width: number },
): Line {
  const step = place === undefined ? '' : ` of ${placeWords(place)}`;
  const label = clipText(`${where}${step}${runs > 1 ? ` (run ${tag})` : ''}`, Math.floor(width / 2));
  const room = Math.max(20, width - textWidth(label) - 6);
  const shown = clipText(snippetOf(snippet, words, Math.floor(room / 3) - 1), room);
  return ['    ', { text: `${label}: `, style: 'dim' }, ...marked(shown, words)];
}

/** The words stand out where normalising has not moved them. */
function marked(text: string, words: readonly string[]): readonly LineSpan[] {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return [text];
  const spans: LineSpan[] = [];
  let at = 0;
  while (at < text.length) {
    const next = nextWord(lower, at, words);
    if (next === undefined) break;
    spans.push(text.slice(at, next.start), { text: text.slice(next.start, next.end), style: 'notable' });
    at = next.end;
  }
  return [...spans, text.slice(at)];
}

function nextWord(lower: string, from: number, words: readonly string[]) {
  const found = wordsIn(lower, words)
    .map((word) => ({ start: lower.indexOf(word, from), length: word.length }))
    .filter(({ start }) => start >= 0)
    .sort((a, b) => a.start - b.start || b.length - a.length)[0];
  return found === undefined ? undefined : { start: found.start, end: found.start + found.length };
}

/** Who finds nothing must know what was looked at. */
function coverage({ searched, notSearched, unreadable }: SearchData): readonly Line[] {
  const parts = [
    `Searched goals, notes and artifacts of ${plural(searched, 'session')}`,
    ...(notSearched > 0 ? [`${plural(notSearched, 'older one')} not searched, --all does`] : []),
    ...(unreadable.sessions > 0 ? [`${plural(unreadable.sessions, 'session')} cannot be read`] : []),
    ...(unreadable.ends > 0
      ? [`${plural(unreadable.ends, 'session')} only up to ${unreadable.ends === 1 ? 'its' : 'their'} damage`]
      : []),
    ...(unreadable.artifacts > 0 ? [`${plural(unreadable.artifacts, 'artifact')} cannot be read`] : []),
  ];
  return [[{ text: `${parts.join('; ')}.`, style: 'dim' }]];
}
