import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import { checkedRow, sessionBoard, workspacesAt } from '../../app/sessions/session-board.ts';
import { defined } from '../../core/json/json-value.ts';
import { originLabel } from '../../core/log/origin.ts';
import {
  BOARD_TRAITS,
  type BoardPage,
  type BoardQuery,
  boardPage,
  readFilter,
  type SessionRow,
  type UnknownFilter,
} from '../../core/sessions/board-rows.ts';
import { listedSessionData } from '../../core/sessions/describe-session.ts';
import { BOARD_GROUPS, BOARD_SORTS, SESSION_STATES, type SessionState } from '../../core/sessions/session-state.ts';
import { authorWords, plural } from '../../core/text/words.ts';
import { count, type ListedSessionData, listedSessionShape } from '../../core/wire/list-shapes.ts';
import { type CommandInput, command, done } from '../command.ts';
import { dim, type Line, strong } from '../output/line.ts';
import { clipText, padText, textWidth } from '../output/text-width.ts';
import { ago } from '../output/times.ts';
import { type CommandProblem, unknownWord, usageProblem } from '../problem.ts';
import type { SessionListAccess } from '../program.ts';
import { refusalProblem } from '../refusal-problem.ts';
import { shortIds } from '../session-ids.ts';
import { endSpans, lacksSomething } from './run-words.ts';
import { widthOf } from './session-words.ts';

const sessionListData = z.strictObject({
  dataDir: z.string(),
  /** Newest first. */
  sessions: z.array(listedSessionShape),
  /** How many match; not all may be shown. */
  total: count,
  /** With --group: the groups in order, and how many sessions each has. */
  groups: z.array(z.strictObject({ name: z.string(), total: count })).exactOptional(),
});
type SessionListData = z.infer<typeof sessionListData>;

export const sessionList = command({
  operands: [
    {
      syntax: '[filter...]',
      help: 'words that must occur, or filters such as state:blocked, wf:coding, repo:api, branch:main, after:2d, author:ada, is:waiting, is:gaps',
    },
  ],
  options: [
    { flags: '--here', help: 'only sessions of this folder or repository' },
    { flags: '--all', help: 'show all sessions (default: the newest 20)' },
    {
      flags: '--state <states>',
      help: 'only these states, separated by commas: running, blocked, complete, closed, salvaged (only part of the session could be read), damaged',
    },
    { flags: '--workflow <part>', help: 'only runs of workflows with this in their id or name' },
    {
      flags: '--since <time>',
      help: 'only sessions active since then: an age such as 2d, or a day such as 2026-01-31',
    },
    { flags: '--gaps', help: 'only sessions with open gaps' },
    { flags: '--waiting', help: 'only sessions that wait for a person' },
    { flags: '--sort <order>', help: 'recent, started, title or state (default: recent)' },
    { flags: '--group <by>', help: 'repository, day or workflow' },
    { flags: '--limit <number>', help: 'how many to show (default: 20)' },
    { flags: '--offset <number>', help: 'how many to skip' },
  ],
  example: 'workrail session list --here --state running,blocked',
  data: sessionListData,
  run: async ({ program, progress }, input) => {
    const sessionAccess = await program.sessionListAccess();
    const asked = readOptions(input, sessionAccess.clock.nowMs());
    if (asked.isErr()) return err(asked.error);
    const { isHere, query } = asked.value;
    progress.show({ label: 'reading the index' });
    const dataDir = await program.dataDir();
    // git runs while the index is read.
    const [workspaces, board] = await Promise.all([
      workspacesAt(sessionAccess.workspace, sessionAccess.folder),
      sessionBoard(sessionAccess),
    ]);
    if (board.isErr()) return err(refusalProblem(board.error, dataDir));
    const { rows } = board.value;
    const shortId = shortIds(rows.map(({ sessionId }) => sessionId));
    const page = await checkedPage(sessionAccess, rows, { ...query, ...(isHere ? { workspaces } : {}) });
    const data: SessionListData = {
      dataDir,
      sessions: page.rows.map((one) => listedSessionData(one, { shortId, workspaces })),
      total: page.total,
      ...(query.group === undefined ? {} : { groups: [...page.groups] }),
    };
    return done({
      data,
      lines: listLines(data, {
        stored: rows.length,
        isHere,
        groups: groupStarts(page, query),
        nowMs: sessionAccess.clock.nowMs(),
        width: widthOf(sessionAccess),
      }),
      next: nextOf(data, rows.length),
    });
  },
});

type Layout = {
  /** How many sessions there are in all. */
  readonly stored: number;
  readonly isHere: boolean;
  /** The heading before a row, by the number of the row. */
  readonly groups: ReadonlyMap<number, string>;
  readonly nowMs: number;
  readonly width: number;
};

/** From this width, the folder of each session is shown too. */
const WIDTH_WITH_FOLDER = 100;

const TITLE_WIDTH_MIN = 16;

const WORKFLOW_WIDTH_MAX = { narrow: 16, wide: 24 };

const FOLDER_WIDTH_MAX = 16;
const AUTHOR_WIDTH_MAX = 20;

function listLines(data: SessionListData, layout: Layout): readonly Line[] {
  if (data.sessions.length === 0) return [[nothingWords(data, layout)]];
  const more = data.total - data.sessions.length;
  const rows = sessionRows(data.sessions, {
    ...layout,
    hasFolder: !layout.isHere && layout.width >= WIDTH_WITH_FOLDER,
  });
  return [
    ...rows.flatMap((row, i) => {
      const heading = layout.groups.get(i);
      return heading === undefined ? [row] : [...(i === 0 ? [] : [['']]), [strong(heading)], row];
    }),
    ...(more > 0 ? [[dim(`… and ${more} more. Add --all to see them.`)]] : []),
  ];
}

function nothingWords({ dataDir }: SessionListData, { stored, isHere }: Layout): string {
  if (stored === 0) return `No sessions yet in ${dataDir}.`;
  return `None of ${plural(stored, 'session')} matches${isHere ? ' in this folder' : ''}.`;
}

type Rows = { readonly nowMs: number; readonly width: number; readonly hasFolder: boolean };

function sessionRows(sessions: readonly ListedSessionData[], { nowMs, width, hasFolder }: Rows): readonly Line[] {
  const isWide = width >= WIDTH_WITH_FOLDER;
  const workflowMax = WORKFLOW_WIDTH_MAX[isWide ? 'wide' : 'narrow'];
  const cells = sessions.map((session) => ({
    session,
    id: session.shortId,
    run: runWords(session),
    workflow: clipText(workflowWords(session), workflowMax),
    state: stateWords(session),
    when: session.lastAt === undefined ? '' : ago(session.lastAt, nowMs),
    folder: hasFolder ? clipText(folderName(session), FOLDER_WIDTH_MAX) : '',
    author: isWide && session.author !== undefined ? clipText(authorWords(session.author), AUTHOR_WIDTH_MAX) : '',
  }));
  const widest = (of: 'id' | 'run' | 'workflow' | 'state' | 'when' | 'folder' | 'author') =>
    Math.max(0, ...cells.map((cell) => textWidth(cell[of])));
  const [id, run, workflow] = [widest('id'), widest('run'), widest('workflow')];
  const [state, when] = [widest('state'), widest('when')];
  const author = widest('author');
  const folder = widest('folder') + (hasFolder ? GAP : 0) + (author === 0 ? 0 : author + GAP);
  // The mark and a blank come first, then five gaps.
  const title = Math.max(TITLE_WIDTH_MIN, width - 2 - id - run - workflow - state - when - folder - 5 * GAP);
  return cells.map(({ session, ...cell }): Line => {
    const name = clipText(session.title ?? UNREADABLE, title);
    const end = endSpans(session.state, session.runs, padText(cell.state, state + GAP));
    return [
      end.mark,
      ` ${padText(cell.id, id + GAP)}`,
      dim(padText(cell.run, run + GAP)),
      session.isHere ? strong(padText(name, title)) : padText(name, title),
      ' '.repeat(GAP),
      dim(padText(cell.workflow, workflow + GAP)),
      end.words,
      dim(hasFolder || author > 0 ? padText(cell.when, when + GAP) : cell.when),
      dim(author === 0 ? cell.folder : padText(cell.folder, widest('folder') + (hasFolder ? GAP : 0))),
      dim(cell.author),
    ];
  });
}

const GAP = 2;

const UNREADABLE = '(cannot be read)';

function stateWords({ state, runs, isKept, origin }: ListedSessionData): string {
  return [
    state,
    ...(state === 'complete' && lacksSomething(runs) ? ['gaps open'] : []),
    ...(isKept ? ['kept'] : []),
    ...(origin === undefined ? [] : [originLabel(origin)]),
  ].join(', ');
}

/** The tag of its first run, by which the agent calls it. */
function runWords({ runs }: ListedSessionData): string {
  const [first, ...others] = runs;
  if (first === undefined) return '';
  return others.length === 0 ? first.tag : `${first.tag} +${others.length}`;
}

function workflowWords({ runs }: ListedSessionData): string {
  const first = runs[0]?.workflowId ?? '';
  return runs.length > 1 ? `${first} +${runs.length - 1}` : first;
}

function folderName({ workspace = '' }: ListedSessionData): string {
  return (
    workspace
      .replace(/[\\/]+$/, '')
      .split(/[\\/]/)
      .at(-1) ?? ''
  );
}

const SHOWN_MAX = 20;

/**
 * The index does not know about later damage, so the end of each session is checked before it is shown. Sessions that
 * are not shown are only counted, unless the user filters by damage: then every session is checked.
 */
async function checkedPage(
  access: SessionListAccess,
  rows: readonly SessionRow[],
  query: BoardQuery,
): Promise<BoardPage> {
  const { states, offset = 0, limit } = query;
  const isEachLookedAt = states?.some((state) => state === 'damaged' || state === 'salvaged') === true;
  if (isEachLookedAt) return boardPage(await allChecked(access, rows), query);
  const page = boardPage(rows, { ...query, offset: 0, limit: Number.POSITIVE_INFINITY });
  const shown: SessionRow[] = [];
  let { total } = page;
  for (const row of page.rows.slice(offset)) {
    if (shown.length >= limit) break;
    const checked = await checkedRow(access, row);
    if (states === undefined || states.includes(checked.state)) shown.push(checked);
    else total -= 1;
  }
  return { ...page, rows: shown, total };
}

async function allChecked(access: SessionListAccess, rows: readonly SessionRow[]): Promise<readonly SessionRow[]> {
  const checked: SessionRow[] = [];
  for (const row of rows) checked.push(await checkedRow(access, row));
  return checked;
}

/** The first row of each group that is shown. */
function groupStarts({ groups }: BoardPage, { offset = 0, limit }: BoardQuery): ReadonlyMap<number, string> {
  const starts = new Map<number, string>();
  let first = -offset;
  for (const { name, total } of groups) {
    if (first + total > 0 && first < limit)
      starts.set(Math.max(0, first), `${name === '' ? 'unknown' : name} (${total})`);
    first += total;
  }
  return starts;
}

type ListOptions = { readonly isHere: boolean; readonly query: BoardQuery };

function readOptions({ operands, options }: CommandInput, nowMs: number): Result<ListOptions, CommandProblem> {
  return safeTry(function* () {
    const { here, all, state, limit, offset, sort, group, since, gaps, waiting, workflow } = options;
    const typedOptions = [
      ...(typeof since === 'string' ? [`after:${since}`] : []),
      ...(gaps === true ? ['is:gaps'] : []),
      ...(waiting === true ? ['is:waiting'] : []),
    ];
    const filter = readFilter([...operands, ...typedOptions], nowMs);
    if ('key' in filter) return err(filterProblem(filter));
    const typed = typeof state === 'string' ? state.split(',').map((word) => word.trim().toLowerCase()) : undefined;
    const states = typed === undefined ? undefined : yield* known('state', typed, SESSION_STATES);
    const shownMax = yield* wholeNumber('--limit', limit ?? SHOWN_MAX, { min: 1, instead: ', or --all' });
    const query = {
      ...filter,
      ...defined({ states, workflow: typeof workflow === 'string' ? workflow : undefined }),
      ...defined({ sort: sort === undefined ? undefined : (yield* known('order', [String(sort)], BOARD_SORTS))[0] }),
      ...defined({
        group: group === undefined ? undefined : (yield* known('group', [String(group)], BOARD_GROUPS))[0],
      }),
      offset: yield* wholeNumber('--offset', offset ?? 0, { min: 0 }),
      limit: all === true ? Number.POSITIVE_INFINITY : shownMax,
    };
    return ok({ isHere: here === true, query });
  });
}

function known<Word extends string>(
  what: string,
  typed: readonly string[],
  words: readonly Word[],
): Result<readonly Word[], CommandProblem> {
  const unknown = typed.find((word) => !words.some((one) => one === word));
  return unknown === undefined ? ok(typed as readonly Word[]) : err(unknownWord(what, unknown, words));
}

function wholeNumber(
  flag: string,
  value: unknown,
  { min, instead = '' }: { readonly min: number; readonly instead?: string },
): Result<number, CommandProblem> {
  const number = Number(value);
  if (Number.isSafeInteger(number) && number >= min) return ok(number);
  return err(
    usageProblem(`${flag} needs a whole number, not "${String(value)}".`, `Use a number above ${min - 1}${instead}.`),
  );
}

function filterProblem({ key, value }: UnknownFilter): CommandProblem {
  if (key === 'state') return unknownWord('state', value, SESSION_STATES);
  if (key === 'is') return unknownWord('filter', value, BOARD_TRAITS);
  return usageProblem(
    `"${key}:${value}" is not a time.`,
    'Use an age such as after:30m, after:2d or after:1w, or a day such as after:2026-01-31.',
  );
}

/** Leads to a blocked session, or else to a running one, or else to the newest. */
function nextOf({ sessions }: SessionListData, stored: number): string {
  const of = (state: SessionState) => sessions.find((one) => one.state === state);
  const first = of('blocked') ?? of('running') ?? sessions[0];
  if (first !== undefined) return `workrail session show ${first.shortId}`;
  return stored === 0 ? 'workrail --help' : 'workrail session list --all';
}
