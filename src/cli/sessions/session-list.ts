import { err, ok, type Result } from 'neverthrow';
import type { StoredSession } from '../../app/ports/session-index.ts';
import {
  isAt,
  type ListedSession,
  listedSession,
  newestSessions,
  withMarks,
  workspacesAt,
} from '../../app/sessions/list-sessions.ts';
import { runTag, type SessionId } from '../../core/log/ids.ts';
import { SESSION_STATES, type SessionState } from '../../core/sessions/session-state.ts';
import { plural } from '../../core/text/words.ts';
import { type CommandInput, type CommandProblem, EXIT, type RunCommand } from '../command.ts';
import { shortIds } from '../ids.ts';
import type { Line } from '../output/line.ts';
import { clipText, padText, textWidth } from '../output/text-width.ts';
import { ago } from '../output/times.ts';
import type { SessionListAccess } from '../program.ts';
import { endSpans, lacksSomething, summaryTitle } from './run-words.ts';
import type { ListedSessionData, SessionListData } from './session-shapes.ts';
import { refusalProblem, widthOf } from './session-words.ts';

type Layout = {
  /** How many sessions there are in all. */
  readonly stored: number;
  readonly isHere: boolean;
  readonly nowMs: number;
  readonly width: number;
};

/** From this width on the folder of each session is shown too. */
const WIDTH_WITH_FOLDER = 100;
const TITLE_WIDTH_MIN = 16;
const WORKFLOW_WIDTH_MAX = { narrow: 16, wide: 24 };
const FOLDER_WIDTH_MAX = 16;

/** A table, newest first, and a line that says how much of it is not shown. */
function listLines(data: SessionListData, layout: Layout): readonly Line[] {
  if (data.sessions.length === 0) return [[nothingWords(data, layout)]];
  const more = data.total - data.sessions.length;
  return [
    ...sessionRows(data.sessions, { ...layout, hasFolder: !layout.isHere && layout.width >= WIDTH_WITH_FOLDER }),
    ...(more > 0 ? [[{ text: `… and ${more} more; --all shows them.`, style: 'dim' } as const]] : []),
  ];
}

function nothingWords({ dataDir }: SessionListData, { stored, isHere }: Layout): string {
  if (stored === 0) return `No sessions yet in ${dataDir}.`;
  return `None of ${plural(stored, 'session')} fits${isHere ? ' and belongs to this folder' : ''}.`;
}

type Rows = { readonly nowMs: number; readonly width: number; readonly hasFolder: boolean };

/** One line for each session. */
function sessionRows(sessions: readonly ListedSessionData[], { nowMs, width, hasFolder }: Rows): readonly Line[] {
  const workflowMax = WORKFLOW_WIDTH_MAX[width < WIDTH_WITH_FOLDER ? 'narrow' : 'wide'];
  const cells = sessions.map((session) => ({
    session,
    id: session.shortId,
    workflow: clipText(workflowWords(session), workflowMax),
    state: stateWords(session),
    when: session.lastAt === undefined ? '' : ago(session.lastAt, nowMs),
    folder: hasFolder ? clipText(folderName(session), FOLDER_WIDTH_MAX) : '',
  }));
  const widest = (of: 'id' | 'workflow' | 'state' | 'when' | 'folder') =>
    Math.max(0, ...cells.map((cell) => textWidth(cell[of])));
  const [id, workflow, state, when] = [widest('id'), widest('workflow'), widest('state'), widest('when')];
  const folder = widest('folder') + (hasFolder ? GAP : 0);
  // The mark and a blank come first, then five gaps.
  const title = Math.max(TITLE_WIDTH_MIN, width - 2 - id - workflow - state - when - folder - 4 * GAP);
  return cells.map(({ session, ...cell }): Line => {
    const name = clipText(session.title ?? UNTOLD, title);
    const end = endSpans(session.state, session.runs, padText(cell.state, state + GAP));
    return [
      end.mark,
      ` ${padText(cell.id, id + GAP)}`,
      session.isHere ? { text: padText(name, title), style: 'strong' } : padText(name, title),
      blanks(GAP),
      { text: padText(cell.workflow, workflow + GAP), style: 'dim' },
      end.words,
      { text: hasFolder ? padText(cell.when, when + GAP) : cell.when, style: 'dim' },
      { text: cell.folder, style: 'dim' },
    ];
  });
}

const GAP = 2;
const UNTOLD = '(nothing of it can be read)';

function blanks(count: number): string {
  return ' '.repeat(count);
}

function stateWords({ state, runs, isKept }: ListedSessionData): string {
  return `${state}${state === 'complete' && lacksSomething(runs) ? ', gaps open' : ''}${isKept ? ', kept' : ''}`;
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

export const sessionList: RunCommand = async ({ program, progress }, input) => {
  const asked = readOptions(input);
  if (asked.isErr()) return err(asked.error);
  const { isHere } = asked.value;
  progress.show({ label: 'reading the index' });
  const [overview, dataDir] = await Promise.all([program.listing(), program.dataDir()]);
  // Git takes its time, which reading the index does too.
  const [workspaces, stored] = await Promise.all([
    workspacesAt(overview.workspace, overview.folder),
    newestSessions(overview),
  ]);
  if (stored.isErr()) return err(refusalProblem(stored.error, dataDir));
  const shortId = shortIds(stored.value.map(({ sessionId }) => sessionId));
  const there = stored.value.filter(({ summary }) => !isHere || isAt(summary, workspaces));
  const { shown, total } = await fitting(overview, there, asked.value);
  const data: SessionListData = {
    dataDir,
    sessions: shown.map((one) => listedSessionData(one, { shortId, workspaces })),
    total,
  };
  return ok({
    kind: 'done',
    data,
    lines: listLines(data, {
      stored: stored.value.length,
      isHere,
      nowMs: overview.clock.nowMs(),
      width: widthOf(overview),
    }),
    next: nextOf(data, stored.value.length),
  });
};

type Fitting = { readonly shown: readonly ListedSession[]; readonly total: number };

/**
 * The index does not see damage, so the end of each session is looked at before it is shown. Of those that are not shown
 * it says how many fit, unless somebody looks for damage: then each is looked at.
 */
async function fitting(
  listing: SessionListAccess,
  there: readonly StoredSession[],
  { states, shownMax }: ListOptions,
): Promise<Fitting> {
  const isFor = (state: SessionState) => states === undefined || states.includes(state);
  const isEachLookedAt = states !== undefined && (isFor('damaged') || isFor('salvaged'));
  // The state of a session depends on its marks; without a state to look for, those that are shown will do.
  const likely =
    states === undefined || isEachLookedAt
      ? there
      : (await withMarks(listing, there)).filter(({ state }) => isFor(state));
  const shown: ListedSession[] = [];
  let total = likely.length;
  for (const one of likely) {
    if (shown.length >= shownMax && !isEachLookedAt) break;
    const listed = await listedSession(listing, one, 'end');
    if (!isFor(listed.state)) total -= 1;
    else if (shown.length < shownMax) shown.push(listed);
  }
  return { shown, total };
}

type Known = { readonly shortId: (sessionId: SessionId) => string; readonly workspaces: readonly string[] };

/** A session as lists show it. */
export function listedSessionData(listed: ListedSession, { shortId, workspaces }: Known): ListedSessionData {
  const { sessionId, state, summary, closed, isKept } = listed;
  const title = summary === undefined ? undefined : summaryTitle(summary);
  const { repo_root: workspace, git_branch: branch } = summary?.observed ?? {};
  return {
    sessionId,
    shortId: shortId(sessionId),
    state,
    ...(title === undefined ? {} : { title }),
    runs: (summary?.runs ?? []).map(({ runId, workflowId, goal, status }) => ({
      runId,
      tag: runTag(runId),
      workflowId,
      ...(goal === undefined ? {} : { goal }),
      status,
      isClosed: closed.has(runId),
    })),
    ...(summary?.lastAt === undefined ? {} : { lastAt: summary.lastAt }),
    ...(workspace === undefined ? {} : { workspace }),
    ...(branch === undefined ? {} : { branch }),
    isHere: isAt(summary, workspaces),
    isKept,
  };
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
  if (unknown !== undefined) return err(usage(`There is no state "${unknown}".`, `Use ${SESSION_STATES.join(', ')}.`));
  const number = limit === undefined ? SHOWN_MAX : Number(limit);
  if (!Number.isSafeInteger(number) || number < 1) {
    return err(usage(`"${String(limit)}" is no number of sessions.`, 'Use a whole number above 0, or --all.'));
  }
  return ok({
    isHere: here === true,
    states: states as readonly SessionState[] | undefined,
    shownMax: all === true ? Number.POSITIVE_INFINITY : number,
  });
}

function usage(message: string, suggestion: string): CommandProblem {
  return {
    exitCode: EXIT.usage,
    error: { code: 'VALIDATION_ERROR', message, suggestion, retry: { kind: 'not_retryable' } },
  };
}

/** To what needs somebody, else to what goes on, else to the newest. */
function nextOf({ sessions }: SessionListData, stored: number): string {
  const of = (state: SessionState) => sessions.find((one) => one.state === state);
  const first = of('blocked') ?? of('running') ?? sessions[0];
  if (first !== undefined) return `workrail session show ${first.shortId}`;
  return stored === 0 ? 'workrail --help' : 'workrail session list --all';
}
