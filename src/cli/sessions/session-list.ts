import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import type { StoredSession } from '../../app/ports/session-index.ts';
import { listedSessionData } from '../../app/sessions/describe-session.ts';
import {
  isAt,
  type ListedSession,
  listedSession,
  newestSessions,
  withMarks,
  workspacesAt,
} from '../../app/sessions/list-sessions.ts';
import { originLabel } from '../../core/log/origin.ts';
import { SESSION_STATES, type SessionState } from '../../core/sessions/session-state.ts';
import { plural } from '../../core/text/words.ts';
import { count, type ListedSessionData, listedSessionShape } from '../../core/wire/session-shapes.ts';
import { type CommandInput, command, done } from '../command.ts';
import { shortIds } from '../ids.ts';
import { dim, type Line, strong } from '../output/line.ts';
import { clipText, padText, textWidth } from '../output/text-width.ts';
import { ago } from '../output/times.ts';
import { type CommandProblem, unknownWord, usageProblem } from '../problem.ts';
import type { SessionListAccess } from '../program.ts';
import { refusalProblem } from '../words.ts';
import { endSpans, lacksSomething } from './run-words.ts';
import { widthOf } from './session-words.ts';

const sessionListData = z.strictObject({
  dataDir: z.string(),
  /** Newest first. */
  sessions: z.array(listedSessionShape),
  /** How many match; not all may be shown. */
  total: count,
});
type SessionListData = z.infer<typeof sessionListData>;

export const sessionList = command({
  options: [
    { flags: '--here', help: 'only sessions of this folder or repository' },
    { flags: '--all', help: 'show all sessions (default: the newest 20)' },
    {
      flags: '--state <states>',
      help: 'only these states, separated by commas: running, blocked, complete, closed, salvaged (only part of it could be read), damaged',
    },
    { flags: '--limit <number>', help: 'how many to show (default: 20)' },
  ],
  example: 'workrail session list --here --state running,blocked',
  data: sessionListData,
  run: async ({ program, progress }, input) => {
    const asked = readOptions(input);
    if (asked.isErr()) return err(asked.error);
    const { isHere } = asked.value;
    progress.show({ label: 'reading the index' });
    const [sessionAccess, dataDir] = await Promise.all([program.sessionListAccess(), program.dataDir()]);
    // git runs while the index is read.
    const [workspaces, stored] = await Promise.all([
      workspacesAt(sessionAccess.workspace, sessionAccess.folder),
      newestSessions(sessionAccess),
    ]);
    if (stored.isErr()) return err(refusalProblem(stored.error, dataDir));
    const shortId = shortIds(stored.value.map(({ sessionId }) => sessionId));
    const there = stored.value.filter(({ summary }) => !isHere || isAt(summary, workspaces));
    const { shown, total } = await fitting(sessionAccess, there, asked.value);
    const data: SessionListData = {
      dataDir,
      sessions: shown.map((one) => listedSessionData(one, { shortId, workspaces })),
      total,
    };
    return done({
      data,
      lines: listLines(data, {
        stored: stored.value.length,
        isHere,
        nowMs: sessionAccess.clock.nowMs(),
        width: widthOf(sessionAccess),
      }),
      next: nextOf(data, stored.value.length),
    });
  },
});

type Layout = {
  /** How many sessions there are in all. */
  readonly stored: number;
  readonly isHere: boolean;
  readonly nowMs: number;
  readonly width: number;
};

/** From this width, the folder of each session is shown too. */
const WIDTH_WITH_FOLDER = 100;

const TITLE_WIDTH_MIN = 16;

const WORKFLOW_WIDTH_MAX = { narrow: 16, wide: 24 };

const FOLDER_WIDTH_MAX = 16;

function listLines(data: SessionListData, layout: Layout): readonly Line[] {
  if (data.sessions.length === 0) return [[nothingWords(data, layout)]];
  const more = data.total - data.sessions.length;
  return [
    ...sessionRows(data.sessions, { ...layout, hasFolder: !layout.isHere && layout.width >= WIDTH_WITH_FOLDER }),
    ...(more > 0 ? [[dim(`… and ${more} more. Add --all to see them.`)]] : []),
  ];
}

function nothingWords({ dataDir }: SessionListData, { stored, isHere }: Layout): string {
  if (stored === 0) return `No sessions yet in ${dataDir}.`;
  return `None of ${plural(stored, 'session')} matches${isHere ? ' in this folder' : ''}.`;
}

type Rows = { readonly nowMs: number; readonly width: number; readonly hasFolder: boolean };

function sessionRows(sessions: readonly ListedSessionData[], { nowMs, width, hasFolder }: Rows): readonly Line[] {
  const workflowMax = WORKFLOW_WIDTH_MAX[width < WIDTH_WITH_FOLDER ? 'narrow' : 'wide'];
  const cells = sessions.map((session) => ({
    session,
    id: session.shortId,
    run: runWords(session),
    workflow: clipText(workflowWords(session), workflowMax),
    state: stateWords(session),
    when: session.lastAt === undefined ? '' : ago(session.lastAt, nowMs),
    folder: hasFolder ? clipText(folderName(session), FOLDER_WIDTH_MAX) : '',
  }));
  const widest = (of: 'id' | 'run' | 'workflow' | 'state' | 'when' | 'folder') =>
    Math.max(0, ...cells.map((cell) => textWidth(cell[of])));
  const [id, run, workflow] = [widest('id'), widest('run'), widest('workflow')];
  const [state, when] = [widest('state'), widest('when')];
  const folder = widest('folder') + (hasFolder ? GAP : 0);
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
      dim(hasFolder ? padText(cell.when, when + GAP) : cell.when),
      dim(cell.folder),
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

type Fitting = { readonly shown: readonly ListedSession[]; readonly total: number };

/**
 * The index does not know about damage, so the end of each session is checked before it is shown. Sessions that are not
 * shown are only counted, unless the user filters by damage: then every session is checked.
 */
async function fitting(
  access: SessionListAccess,
  there: readonly StoredSession[],
  { states, shownMax }: ListOptions,
): Promise<Fitting> {
  const isFor = (state: SessionState) => states === undefined || states.includes(state);
  const isEachLookedAt = states !== undefined && (isFor('damaged') || isFor('salvaged'));
  // The state of a session depends on its marks; without a state to look for, those that are shown will do.
  const likely =
    states === undefined || isEachLookedAt
      ? there
      : (await withMarks(access, there)).filter(({ state }) => isFor(state));
  const shown: ListedSession[] = [];
  let total = likely.length;
  for (const one of likely) {
    if (shown.length >= shownMax && !isEachLookedAt) break;
    const listed = await listedSession(access, one, 'end');
    if (!isFor(listed.state)) total -= 1;
    else if (shown.length < shownMax) shown.push(listed);
  }
  return { shown, total };
}

type ListOptions = {
  readonly isHere: boolean;
  readonly states: readonly SessionState[] | undefined;
  readonly shownMax: number;
};

function readOptions({ options }: CommandInput): Result<ListOptions, CommandProblem> {
  const { here, all, state, limit } = options;
  const states = typeof state === 'string' ? state.split(',').map((word) => word.trim().toLowerCase()) : undefined;
  const unknown = states?.find((word) => !SESSION_STATES.some((known) => known === word));
  if (unknown !== undefined) return err(unknownWord('state', unknown, SESSION_STATES));
  const number = limit === undefined ? SHOWN_MAX : Number(limit);
  if (!Number.isSafeInteger(number) || number < 1) {
    return err(
      usageProblem(`--limit needs a whole number, not "${String(limit)}".`, 'Use a number above 0, or --all.'),
    );
  }
  return ok({
    isHere: here === true,
    states: states as readonly SessionState[] | undefined,
    shownMax: all === true ? Number.POSITIVE_INFINITY : number,
  });
}

/** Leads to a blocked session, or else to a running one, or else to the newest. */
function nextOf({ sessions }: SessionListData, stored: number): string {
  const of = (state: SessionState) => sessions.find((one) => one.state === state);
  const first = of('blocked') ?? of('running') ?? sessions[0];
  if (first !== undefined) return `workrail session show ${first.shortId}`;
  return stored === 0 ? 'workrail --help' : 'workrail session list --all';
}
