import { err } from 'neverthrow';
import * as z from 'zod';
import { inspectSession } from '../../app/sessions/inspect-session.ts';
import { sessionBoard, workspacesAt } from '../../app/sessions/session-board.ts';
import { defined } from '../../core/json/json-value.ts';
import { runTag, SessionId } from '../../core/log/ids.ts';
import { originLabel, shownOrigin, shownOriginSchema } from '../../core/log/origin.ts';
import { countStates, isAt, type SessionRow, waitsForPersonIn } from '../../core/sessions/board-rows.ts';
import { runData } from '../../core/sessions/describe-session.ts';
import { waitsForPerson } from '../../core/sessions/session-state.ts';
import { plural } from '../../core/text/words.ts';
import { count } from '../../core/wire/list-shapes.ts';
import { runShape } from '../../core/wire/session-shapes.ts';
import { command, done } from '../command.ts';
import { asTyped, bad, dim, type Line, type LineSpan, notable, strong } from '../output/line.ts';
import { clipText, padText } from '../output/text-width.ts';
import { ago } from '../output/times.ts';
import { type CommandProblem, EXIT, problem } from '../problem.ts';
import type { SessionAccess } from '../program.ts';
import { refusalProblem } from '../refusal-problem.ts';
import { matchId, shortIds } from '../session-ids.ts';
import { answerCommand, branchWords, holdUps, numberedPlace, runState, STATE_MARKS } from './run-words.ts';
import { widthOf } from './session-words.ts';

const openRun = z.strictObject({
  sessionId: SessionId.schema,
  shortId: z.string(),
  workspace: z.string().exactOptional(),
  /** Waiting: only the user can supply what is missing. */
  standing: z.enum(['running', 'blocked', 'waiting']),
  /** Absent for a session that was started here. */
  origin: shownOriginSchema.exactOptional(),
  run: runShape,
});
type OpenRunData = z.infer<typeof openRun>;

const place = z.strictObject({
  /** Open runs: waiting first, then blocked, then the newest; not all may be shown. */
  runs: z.array(openRun),
  /** How many sessions have an open run. */
  total: count,
});
type StatusPlaceData = z.infer<typeof place>;

export const statusData = z.strictObject({
  /** The folder the command ran in. */
  folder: z.string(),
  here: place,
  elsewhere: place,
  /** Sessions that are finished or cannot be continued. */
  others: z.strictObject({
    complete: count,
    /** How many of the complete ones have open gaps. */
    withGaps: count,
    closed: count,
    salvaged: count,
    damaged: count,
  }),
});
export type StatusData = z.infer<typeof statusData>;

export const status = command({
  options: [{ flags: '--waiting', help: 'exit with code 5 if anything is waiting for a person' }],
  example: 'workrail status',
  data: statusData,
  run: async ({ program, progress }, { options }) => {
    progress.show({ label: 'reading the index' });
    const [sessionAccess, dataDir] = [await program.sessionAccess(), await program.dataDir()];
    const [board, workspaces] = await Promise.all([
      sessionBoard(sessionAccess),
      workspacesAt(sessionAccess.workspace, sessionAccess.folder),
    ]);
    if (board.isErr()) return err(refusalProblem(board.error, dataDir));
    const listed = board.value.rows;
    const shortId = shortIds(listed.map(({ sessionId }) => sessionId));
    const open = listed.filter(({ state }) => state === 'running' || state === 'blocked');
    const here = open.filter((row) => isAt(row, workspaces));
    const elsewhere = open.filter((row) => !isAt(row, workspaces));
    const counts = countStates(listed);
    const [openHere, openElsewhere] = [
      await openRuns(sessionAccess, here, shortId),
      await openRuns(sessionAccess, elsewhere, shortId),
    ];
    const damaged = openHere.damaged + openElsewhere.damaged;
    const data: StatusData = {
      folder: sessionAccess.folder,
      here: { runs: openHere.runs, total: here.length - openHere.damaged },
      elsewhere: { runs: openElsewhere.runs, total: elsewhere.length - openElsewhere.damaged },
      others: {
        complete: counts.complete,
        withGaps: listed.filter(({ state, hasGaps }) => state === 'complete' && hasGaps).length,
        closed: counts.closed,
        salvaged: counts.salvaged,
        damaged: counts.damaged + damaged,
      },
    };
    const isWaitingAsked = options['waiting'] === true;
    const isIdle = waitingProblem(data) === undefined;
    return done({
      data,
      lines:
        isWaitingAsked && isIdle
          ? [['Nothing is waiting for you.']]
          : statusLines(data, {
              nowMs: sessionAccess.clock.nowMs(),
              width: widthOf(sessionAccess),
              stored: listed.length,
              program,
            }),
      problem: isWaitingAsked ? waitingProblem(data) : undefined,
      next: nextOf(data, listed),
    });
  },
});

function waitingProblem({ here, elsewhere }: StatusData): CommandProblem | undefined {
  const waiting = [...here.runs, ...elsewhere.runs].filter(({ standing }) => standing === 'waiting').length;
  if (waiting === 0) return undefined;
  const message = `${plural(waiting, 'run')} ${waiting === 1 ? 'waits' : 'wait'} for a person.`;
  return problem(EXIT.needsPerson, message, 'Run "workrail waiting".');
}

type Layout = {
  readonly nowMs: number;
  readonly width: number;
  readonly stored: number;
  readonly program: { readonly calledAs: () => string };
};

function statusLines(data: StatusData, layout: Layout): readonly Line[] {
  if (layout.stored === 0) return [['No sessions yet.']];
  return [
    ...placeLines(`Here, in ${data.folder}`, data.here, layout),
    ...(data.elsewhere.total === 0
      ? []
      : [[''], ...placeLines('Elsewhere', data.elsewhere, { ...layout, hasFolder: true })]),
    ...othersLines(data),
  ];
}

type PlaceLayout = Layout & { readonly hasFolder?: boolean };

function placeLines(title: string, { runs, total }: StatusPlaceData, layout: PlaceLayout): readonly Line[] {
  const sessions = new Set(runs.map(({ sessionId }) => sessionId)).size;
  const more = total - sessions;
  const rest = `  … and ${plural(more, 'more session')}: workrail session list --state running,blocked`;
  return [
    [strong(clipText(title, layout.width))],
    ...(runs.length === 0 ? [[dim('  no open sessions')]] : []),
    ...runs.flatMap((run) => runLines(run, layout)),
    ...(more > 0 ? [[dim(asTyped(rest, layout.program))]] : []),
  ];
}

const MARKS: { readonly [standing in OpenRunData['standing']]: LineSpan } = {
  running: STATE_MARKS.running,
  blocked: STATE_MARKS.blocked,
  waiting: notable('?'),
};

function runLines({ shortId, standing, run, workspace, origin }: OpenRunData, layout: PlaceLayout): readonly Line[] {
  const { nowMs, width, hasFolder = false } = layout;
  const when = run.lastAt === undefined ? '' : ago(run.lastAt, nowMs);
  const words = standing === 'waiting' ? WAITING : standing;
  const title = run.goal ?? run.workflowName ?? run.workflowId;
  const room = Math.max(16, width - shortId.length - STANDING_WIDTH - when.length - 10);
  const from = origin === undefined ? '' : `  ·  ${originLabel(origin)}`;
  const folder = hasFolder && workspace !== undefined ? `  ${workspace}` : '';
  const isNumbered = run.place.kind === 'step' && run.place.position !== undefined;
  const branch = run.branch === undefined || run.branch === 'main' ? '' : `, ${branchWords(run.branch)},`;
  const at = `${isNumbered ? 'step ' : ''}${numberedPlace(run.place)}`;
  const [reason] = holdUps(run);
  return [
    [
      '  ',
      MARKS[standing],
      ` ${shortId}  `,
      padText(clipText(title, room), room),
      '  ',
      { text: padText(words, STANDING_WIDTH), style: standing === 'running' ? 'strong' : 'notable' },
      dim(`  ${when}`),
    ],
    [dim(`      ${clipText(`run ${run.tag}${branch} at ${at}${folder}${from}`, width - 6)}`)],
    ...(reason === undefined ? [] : [[`      ${clipText(`← ${reason}`, width - 6)}`]]),
  ];
}

/** The list of sessions says "blocked" for it. */
const WAITING = 'blocked: waiting for you';
const STANDING_WIDTH = WAITING.length;

function othersLines({ others }: StatusData): readonly Line[] {
  const { complete, withGaps, closed, salvaged, damaged } = others;
  const parts: readonly (readonly LineSpan[])[] = [
    ...(complete > 0 ? [[dim(plural(complete, 'complete session')), ...gapsSpans(complete, withGaps)]] : []),
    ...(closed > 0 ? [[dim(plural(closed, 'closed session'))]] : []),
    ...(salvaged > 0 ? [[dim(plural(salvaged, 'salvaged session'))]] : []),
    ...(damaged > 0 ? [[bad(plural(damaged, 'damaged session'))]] : []),
  ];
  if (parts.length === 0) return [];
  return [
    [''],
    [
      dim('Not listed, in all folders: '),
      ...parts.flatMap((part, i) => (i === 0 ? part : [dim(', '), ...part])),
      dim('.'),
    ],
  ];
}

function gapsSpans(complete: number, withGaps: number): readonly LineSpan[] {
  if (withGaps === 0) return [];
  const which = withGaps === complete ? '' : `${withGaps} of them `;
  return [notable(` (${which}with open gaps)`)];
}

/** How many open sessions are read in full; nobody works on more at once. */
const READ_MAX = 10;

type OpenRuns = {
  readonly runs: OpenRunData[];
  /** Sessions that turned out to be damaged. */
  readonly damaged: number;
};

/** Reads sessions that wait for a person first, then other blocked ones, so that they are always shown. */
async function openRuns(
  sessionAccess: SessionAccess,
  sessions: readonly SessionRow[],
  shortId: (sessionId: SessionId) => string,
): Promise<OpenRuns> {
  const urgency = (row: SessionRow) => (row.state === 'blocked' ? 1 + Number(waitsForPersonIn(row)) : 0);
  const urgent = sessions.toSorted((a, b) => urgency(b) - urgency(a));
  const runs: (OpenRunData & Written)[] = [];
  let damaged = 0;
  for (const { sessionId, workspace, marks, lastAt = 0 } of urgent.slice(0, READ_MAX)) {
    const looked = await inspectSession(sessionAccess, sessionId, 'standing');
    const isWhole = looked.isOk() && looked.value.health.kind === 'healthy';
    if (!isWhole) damaged += 1;
    const from = marks.origin && shownOrigin(marks.origin);
    const named = { sessionId, shortId: shortId(sessionId), ...defined({ workspace, origin: from }) };
    const latest = isWhole ? looked.value.runs.toSorted((a, b) => b.lastActivityIndex - a.lastActivityIndex) : [];
    for (const run of latest.map(runData)) {
      const state = runState(run);
      if (state !== 'running' && state !== 'blocked') continue;
      const isWaiting = state === 'blocked' && waitsForPerson(run.blockers) && run.answer === undefined;
      const standing = isWaiting ? 'waiting' : state;
      // A run cannot be newer than its session, whose time is checked against its files.
      const writtenMs = Math.min(run.lastAt ?? 0, lastAt);
      runs.push({ ...named, standing, run, writtenMs });
    }
  }
  return { runs: runs.sort(compareOpen).map(({ writtenMs: _, ...run }) => run), damaged };
}

const ORDER: readonly OpenRunData['standing'][] = ['waiting', 'blocked', 'running'];

type Written = { readonly writtenMs: number };

function compareOpen(a: OpenRunData & Written, b: OpenRunData & Written): number {
  return ORDER.indexOf(a.standing) - ORDER.indexOf(b.standing) || b.writtenMs - a.writtenMs;
}

function nextOf({ here, elsewhere, others }: StatusData, listed: readonly SessionRow[]): string {
  const place = here.runs.length > 0 ? here : elsewhere;
  const [first] = place.runs;
  const stored = listed.length;
  if (first !== undefined) {
    // An agent that resumes such a run can only wait as well.
    const answer = answerCommand({ run: first.run, name: runName(first.run, listed) });
    if (answer !== undefined) return answer;
    const isOne = place.runs.filter(({ sessionId }) => sessionId === first.sessionId).length === 1;
    return `workrail session resume ${isOne ? first.shortId : runName(first.run, listed)}`;
  }
  if (others.damaged > 0) return 'workrail session verify';
  return stored > 0 ? 'workrail session list' : 'workrail --help';
}

/** The tag of a run, unless it is ambiguous. */
function runName({ runId, tag }: OpenRunData['run'], listed: readonly SessionRow[]): string {
  const known = listed.map(({ sessionId, summary }) => ({
    sessionId,
    runNames: (summary?.runs ?? []).filter((run) => run.runId !== runId).map((run) => runTag(run.runId)),
  }));
  return matchId(tag, known).kind === 'none' ? tag : runId;
}
