import { err, ok } from 'neverthrow';
import { inspectSession } from '../app/sessions/inspect-session.ts';
import { isAt, type ListedSession, listSessions, workspacesAt } from '../app/sessions/list-sessions.ts';
import { runTag, type SessionId } from '../core/log/ids.ts';
import { waitsForPerson } from '../core/sessions/session-state.ts';
import type { RunCommand } from './command.ts';
import { refusalProblem, widthOf } from './commands/session/look/look-output.ts';
import { statusLines } from './commands/status/status-lines.ts';
import { matchId } from './ids/id-match.ts';
import { shortIds } from './ids/short-ids.ts';
import type { SessionAccess } from './program.ts';
import { lacksSomething, runData, runState } from './sessions/run-words.ts';
import type { OpenRunData, StatusData } from './shapes/status/status-shape.ts';

/** Sessions that are read to tell where they stand; more than this nobody works on at once. */
const READ_MAX = 10;

export const status: RunCommand = async ({ program, progress }) => {
  progress.show({ label: 'reading the index' });
  const [overview, dataDir] = [await program.overview(), await program.dataDir()];
  const [sessions, workspaces] = await Promise.all([
    listSessions(overview),
    workspacesAt(overview.workspace, overview.folder),
  ]);
  if (sessions.isErr()) return err(refusalProblem(sessions.error, dataDir));
  const listed = sessions.value;
  const shortId = shortIds(listed.map(({ sessionId }) => sessionId));
  const open = listed.filter(({ state }) => state === 'running' || state === 'blocked');
  const here = open.filter(({ summary }) => isAt(summary, workspaces));
  const count = (state: ListedSession['state']) => listed.filter((one) => one.state === state).length;
  const elsewhere = open.filter((one) => !here.includes(one));
  const [openHere, openElsewhere] = [
    await openRuns(overview, here, shortId),
    await openRuns(overview, elsewhere, shortId),
  ];
  const damaged = openHere.damaged + openElsewhere.damaged;
  const data: StatusData = {
    folder: overview.folder,
    here: { runs: openHere.runs, total: here.length - openHere.damaged },
    elsewhere: { runs: openElsewhere.runs, total: elsewhere.length - openElsewhere.damaged },
    others: {
      complete: count('complete'),
      withGaps: listed.filter(hasOpenGaps).length,
      closed: count('closed'),
      salvaged: count('salvaged'),
      damaged: count('damaged') + damaged,
    },
  };
  return ok({
    kind: 'done',
    data,
    lines: statusLines(data, {
      nowMs: overview.clock.nowMs(),
      width: widthOf(overview),
      stored: listed.length,
      program,
    }),
    next: nextOf(data, listed),
  });
};

function hasOpenGaps({ state, summary, closed }: ListedSession): boolean {
  const runs = (summary?.runs ?? []).map(({ runId, status }) => ({ status, isClosed: closed.has(runId) }));
  return state === 'complete' && lacksSomething(runs);
}

type OpenRuns = {
  readonly runs: OpenRunData[];
  /** Sessions that turned out to be damaged when they were read. */
  readonly damaged: number;
};

/** Those that are held up are read first, so that they are seen however many there are. */
async function openRuns(
  overview: SessionAccess,
  sessions: readonly ListedSession[],
  shortId: (sessionId: SessionId) => string,
): Promise<OpenRuns> {
  const urgent = sessions.toSorted((a, b) => Number(b.state === 'blocked') - Number(a.state === 'blocked'));
  const runs: OpenRunData[] = [];
  let damaged = 0;
  for (const { sessionId, summary } of urgent.slice(0, READ_MAX)) {
    const looked = await inspectSession(overview, sessionId, 'standing');
    const isWhole = looked.isOk() && looked.value.health.kind === 'healthy';
    if (!isWhole) damaged += 1;
    const workspace = summary?.observed.repo_root;
    const named = { sessionId, shortId: shortId(sessionId), ...(workspace === undefined ? {} : { workspace }) };
    const latest = isWhole ? looked.value.runs.toSorted((a, b) => b.lastActivityIndex - a.lastActivityIndex) : [];
    for (const run of latest.map(runData)) {
      const state = runState(run);
      if (state !== 'running' && state !== 'blocked') continue;
      runs.push({ ...named, standing: state === 'blocked' && waitsForPerson(run.blockers) ? 'waiting' : state, run });
    }
  }
  return { runs: runs.sort(compareOpen), damaged };
}

const ORDER: readonly OpenRunData['standing'][] = ['waiting', 'blocked', 'running'];

function compareOpen(a: OpenRunData, b: OpenRunData): number {
  return ORDER.indexOf(a.standing) - ORDER.indexOf(b.standing) || (b.run.lastAt ?? 0) - (a.run.lastAt ?? 0);
}

function nextOf({ here, elsewhere, others }: StatusData, listed: readonly ListedSession[]): string {
  const place = here.runs.length > 0 ? here : elsewhere;
  const [first] = place.runs;
  const stored = listed.length;
  if (first !== undefined) {
    const isOne = place.runs.filter(({ sessionId }) => sessionId === first.sessionId).length === 1;
    return `workrail session resume ${isOne ? first.shortId : runName(first.run, listed)}`;
  }
  if (others.damaged > 0) return 'workrail session verify';
  return stored > 0 ? 'workrail session list' : 'workrail --help';
}

/** The tag of a run, unless it may be taken for something else. */
function runName({ runId, tag }: OpenRunData['run'], listed: readonly ListedSession[]): string {
  const known = listed.map(({ sessionId, summary }) => ({
    sessionId,
    runNames: (summary?.runs ?? []).filter((run) => run.runId !== runId).map((run) => runTag(run.runId)),
  }));
  return matchId(tag, known).kind === 'none' ? tag : runId;
}
