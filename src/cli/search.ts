import { err, ok } from 'neverthrow';
import * as z from 'zod';
import { type ListedSession, withMarks, workspacesAt } from '../app/sessions/list-sessions.ts';
import { type FoundSession, SEARCHED_KINDS, type SearchHit, searchSessions } from '../app/sessions/search-sessions.ts';
import { RunId, runTag } from '../core/log/ids.ts';
import { brokenState } from '../core/sessions/session-state.ts';
import { searchWords, snippetOf, wordsIn } from '../core/text/search-words.ts';
import { andList, plural } from '../core/text/words.ts';
import { type CommandProblem, EXIT, type RunCommand } from './command.ts';
import { commandShape } from './command-shape.ts';
import { shortIds } from './ids.ts';
import type { Line, LineSpan } from './output/line.ts';
import { clipText, textWidth } from './output/text-width.ts';
import { ago } from './output/times.ts';
import { placeData, placeWords, STATE_MARKS, stateSpan } from './sessions/run-words.ts';
import { listedSessionData } from './sessions/session-list.ts';
import { count, listedSessionShape, placeShape } from './sessions/session-shapes.ts';
import { refusalProblem, widthOf } from './sessions/session-words.ts';

/** Enough for months of work, and read in about a second. */
const READ_MAX = 200;
const SHOWN_MAX = 10;

export const search: RunCommand = async ({ program, progress }, { operands, options }) => {
  const words = searchWords(operands.join(' '));
  if (words.length === 0) return err(NO_WORDS);
  const isAll = options['all'] === true;
  progress.show({ label: 'reading the index' });
  const [overview, dataDir] = [await program.overview(), await program.dataDir()];
  const readMax = isAll ? Number.POSITIVE_INFINITY : READ_MAX;
  const result = await searchSessions(overview, { words, readMax }, ({ done, total }) =>
    progress.show({ label: 'searching sessions', done, total }),
  );
  if (result.isErr()) return err(refusalProblem(result.error, dataDir));
  const { found, searched, total, unreadable } = result.value;
  const stored = (await overview.sessions.list()).unwrapOr(found.map((one) => one.stored.sessionId));
  const known = { shortId: shortIds(stored), workspaces: await workspacesAt(overview.workspace, overview.folder) };
  const shown = isAll ? found : found.slice(0, SHOWN_MAX);
  const listed = await withMarks(
    overview,
    shown.map((one) => one.stored),
  );
  const data: SearchData = {
    words: [...words],
    found: listed.map((one, i) => ({
      session: sessionData(one, shown[i], known),
      hits: (shown[i]?.hits ?? []).map(hitData),
    })),
    total: found.length,
    searched,
    notSearched: total - searched - unreadable.sessions,
    unreadable,
  };
  return ok({
    kind: 'done',
    data,
    lines: searchLines(data, { nowMs: overview.clock.nowMs(), width: widthOf(overview) }),
    next: nextOf(data),
  });
};

/** The index may know nothing of a damaged session, or not that it is damaged; reading it told both. */
function sessionData(
  listed: ListedSession,
  found: FoundSession | undefined,
  known: Parameters<typeof listedSessionData>[1],
) {
  const state = found === undefined ? undefined : brokenState(found.health);
  const data = listedSessionData(state === undefined ? listed : { ...listed, state }, known);
  return data.title === undefined && found?.goal !== undefined ? { ...data, title: found.goal } : data;
}

function hitData({ kind, runId, place, words, snippet }: SearchHit): SearchData['found'][number]['hits'][number] {
  return {
    where: kind,
    runId,
    tag: runTag(runId),
    ...(place === undefined ? {} : { place: placeData(place) }),
    words: [...words],
    snippet,
  };
}

function nextOf({ found, words, notSearched }: SearchData): string {
  const [first] = found;
  if (first !== undefined) return `workrail session notes ${first.session.shortId}`;
  if (notSearched === 0) return 'workrail session list --all';
  // What a shell would read in another way is left for the person to type.
  return words.every((word) => /^[\p{L}\p{N}_.-]+$/u.test(word))
    ? `workrail search --all ${words.join(' ')}`
    : 'workrail search --all <words>';
}

const NO_WORDS: CommandProblem = {
  exitCode: EXIT.usage,
  error: {
    code: 'VALIDATION_ERROR',
    message: 'There is nothing to search for.',
    suggestion: 'Type words that the goal, a note or an artifact has, like "workrail search empty cart".',
    retry: { kind: 'not_retryable' },
  },
};

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
    ...(data.total === 0 ? [[`No session holds ${andList(data.words.map((word) => `"${word}"`))}.`]] : []),
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

const hit = z.strictObject({
  where: z.enum(SEARCHED_KINDS),
  runId: RunId.schema,
  tag: z.string(),
  /** The step that it was handed in with; a goal has none. */
  place: placeShape.exactOptional(),
  words: z.array(z.string()),
  snippet: z.string(),
});

const searchData = z.strictObject({
  words: z.array(z.string()),
  /** Best first; not all may be shown. */
  found: z.array(z.strictObject({ session: listedSessionShape, hits: z.array(hit) })),
  /** How many sessions hold all words. */
  total: count,
  /** How many sessions were read, and how many were not. */
  searched: count,
  notSearched: count,
  /** What could not be read: all of a session, the end of one, or an artifact. */
  unreadable: z.strictObject({ sessions: count, ends: count, artifacts: count }),
});
type SearchData = z.infer<typeof searchData>;

/** What `workrail search --json` prints. */
export const searchShape = commandShape('search', searchData);
