import { err } from 'neverthrow';
import * as z from 'zod';
import {
  type FoundSession,
  SEARCHED_KINDS,
  type SearchHit,
  searchSessions,
} from '../../app/sessions/search-sessions.ts';
import { workspacesAt } from '../../app/sessions/session-board.ts';
import { defined } from '../../core/json/json-value.ts';
import { RunId, runTag } from '../../core/log/ids.ts';
import { listedSessionData, placeData } from '../../core/sessions/describe-session.ts';
import { brokenState } from '../../core/sessions/session-state.ts';
import { searchWords, snippetOf, wordsIn } from '../../core/text/search-words.ts';
import { plural } from '../../core/text/words.ts';
import { count, listedSessionShape } from '../../core/wire/list-shapes.ts';
import { placeShape } from '../../core/wire/session-shapes.ts';
import { command, done } from '../command.ts';
import { dim, type Line, type LineSpan, notable, strong } from '../output/line.ts';
import { clipText, textWidth } from '../output/text-width.ts';
import { ago } from '../output/times.ts';
import { usageProblem } from '../problem.ts';
import { refusalProblem } from '../refusal-problem.ts';
import { shortIds } from '../session-ids.ts';
import { placeWords, STATE_MARKS, stateSpan } from './run-words.ts';
import { widthOf } from './session-words.ts';

const hit = z.strictObject({
  where: z.enum(SEARCHED_KINDS),
  runId: RunId.schema,
  tag: z.string(),
  /** The step it was sent with; absent for a goal. */
  place: placeShape.exactOptional(),
  words: z.array(z.string()),
  snippet: z.string(),
});

const searchData = z.strictObject({
  words: z.array(z.string()),
  /** Best first; not all may be shown. */
  found: z.array(z.strictObject({ session: listedSessionShape, hits: z.array(hit) })),
  /** How many sessions contain all words. */
  total: count,
  /** How many sessions were searched, and how many were not. */
  searched: count,
  notSearched: count,
  /** What could not be read: whole sessions, ends of sessions, artifacts. */
  unreadable: z.strictObject({ sessions: count, ends: count, artifacts: count }),
});
type SearchData = z.infer<typeof searchData>;

export const search = command({
  operands: [{ syntax: '<words...>', help: 'words that must all occur in the session' }],
  options: [
    { flags: '--all', help: 'search all sessions and show all matches (default: search the newest 200, show 10)' },
  ],
  example: 'workrail search empty cart',
  data: searchData,
  run: async ({ program, progress }, { operands, options }) => {
    const words = searchWords(operands.join(' '));
    if (words.length === 0) return err(NO_WORDS);
    const isAll = options['all'] === true;
    progress.show({ label: 'reading the index' });
    const [sessionAccess, dataDir] = [await program.sessionAccess(), await program.dataDir()];
    const readMax = isAll ? Number.POSITIVE_INFINITY : READ_MAX;
    const result = await searchSessions(sessionAccess, { words, readMax }, ({ done, total }) =>
      progress.show({ label: 'searching sessions', done, total }),
    );
    if (result.isErr()) return err(refusalProblem(result.error, dataDir));
    const { found, searched, total, unreadable } = result.value;
    const stored = (await sessionAccess.sessions.list()).unwrapOr(found.map((one) => one.row.sessionId));
    const known = {
      shortId: shortIds(stored),
      workspaces: await workspacesAt(sessionAccess.workspace, sessionAccess.folder),
    };
    const shown = isAll ? found : found.slice(0, SHOWN_MAX);
    const data: SearchData = {
      words: [...words],
      found: shown.map((one) => ({ session: sessionData(one, known), hits: one.hits.map(hitData) })),
      total: found.length,
      searched,
      notSearched: total - searched - unreadable.sessions,
      unreadable,
    };
    return done({
      data,
      lines: searchLines(data, { nowMs: sessionAccess.clock.nowMs(), width: widthOf(sessionAccess) }),
      next: nextOf(data),
    });
  },
});

/** Covers months of work, and takes about a second to read. */
const READ_MAX = 200;

const SHOWN_MAX = 10;

/** The index may not know a damaged session, or not know of the damage; reading it showed both. */
function sessionData({ row, health, goal }: FoundSession, known: Parameters<typeof listedSessionData>[1]) {
  const state = brokenState(health);
  const data = { ...listedSessionData(row, known), ...defined({ state }) };
  return data.title === undefined && goal !== undefined ? { ...data, title: goal } : data;
}

function hitData({ kind, runId, place, words, snippet }: SearchHit): SearchData['found'][number]['hits'][number] {
  return {
    where: kind,
    runId,
    tag: runTag(runId),
    ...defined({ place: place && placeData(place) }),
    words: [...words],
    snippet,
  };
}

function nextOf({ found, words, notSearched }: SearchData): string {
  const [first] = found;
  if (first !== undefined) return `workrail session notes ${first.session.shortId}`;
  if (notSearched === 0) return 'workrail session list --all';
  // Words that a shell would interpret are left for the user to type.
  return words.every((word) => /^[\p{L}\p{N}_.-]+$/u.test(word))
    ? `workrail search --all ${words.join(' ')}`
    : 'workrail search --all <words>';
}

const NO_WORDS = usageProblem(
  'Words to search for are missing.',
  'Give words from a goal, a note or an artifact, such as "workrail search empty cart".',
);

type Layout = { readonly nowMs: number; readonly width: number };

type Found = SearchData['found'][number];

export function searchLines(data: SearchData, layout: Layout): readonly Line[] {
  const more = data.total - data.found.length;
  return [
    ...data.found.flatMap((found) => foundLines(found, layout)),
    ...(more > 0 ? [[dim(`… and ${plural(more, 'more session')}. Add --all to see them.`)]] : []),
    ...(data.total === 0 ? [[`No session contains ${data.words.map((word) => `"${word}"`).join(' and ')}.`]] : []),
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
      strong(clipText(session.title ?? 'untitled', Math.max(16, room))),
      '  ',
      stateSpan(session.state),
      dim(when),
    ],
    ...hits.map((hit) => hitLine(hit, { runs: session.runs.length, width })),
  ];
}

function hitLine(
  { where, place, tag, words, snippet }: Found['hits'][number],
  { runs, width }: { readonly runs: number; readonly width: number },
): Line {
  const step = place === undefined ? '' : ` in ${hitPlace(place)}`;
  const label = clipText(`${where}${step}${runs > 1 ? ` (run ${tag})` : ''}`, Math.floor(width / 2));
  const room = Math.max(20, width - textWidth(label) - 6);
  const shown = clipText(snippetOf(snippet, words, Math.floor(room / 3) - 1), room);
  return ['    ', dim(`${label}: `), ...marked(shown, words)];
}

function hitPlace(place: NonNullable<Found['hits'][number]['place']>): string {
  return place.kind === 'step' ? `step ${placeWords({ ...place, title: `"${place.title}"` })}` : placeWords(place);
}

/** Highlights the words, unless lower-casing changed their positions. */
function marked(text: string, words: readonly string[]): readonly LineSpan[] {
  const lower = text.toLowerCase();
  if (lower.length !== text.length) return [text];
  const spans: LineSpan[] = [];
  let at = 0;
  while (at < text.length) {
    const next = nextWord(lower, at, words);
    if (next === undefined) break;
    spans.push(text.slice(at, next.start), notable(text.slice(next.start, next.end)));
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

/** Says what was searched, so that an empty result can be judged. */
function coverage({ searched, notSearched, unreadable }: SearchData): readonly Line[] {
  const parts = [
    `Searched goals, notes and artifacts of ${plural(searched, 'session')}`,
    ...(notSearched > 0 ? [`${plural(notSearched, 'older session')} not searched (add --all)`] : []),
    ...(unreadable.sessions > 0 ? [`${plural(unreadable.sessions, 'session')} cannot be read`] : []),
    ...(unreadable.ends > 0
      ? [`${plural(unreadable.ends, 'session')} searched only up to ${unreadable.ends === 1 ? 'its' : 'their'} damage`]
      : []),
    ...(unreadable.artifacts > 0 ? [`${plural(unreadable.artifacts, 'artifact')} cannot be read`] : []),
  ];
  return [[dim(`${parts.join('; ')}.`)]];
}
