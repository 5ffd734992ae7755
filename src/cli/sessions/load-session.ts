import { err, ok, type Result, safeTry } from 'neverthrow';
import { type InspectDepth, type InspectedSession, inspectSession } from '../../app/sessions/inspect-session.ts';
import { sessionBoard, workspacesAt } from '../../app/sessions/session-board.ts';
import { defined } from '../../core/json/json-value.ts';
import type { SessionId } from '../../core/log/ids.ts';
import { isAt } from '../../core/sessions/board-rows.ts';
import type { RunLine } from '../../core/sessions/run-lines.ts';
import type { RunStanding } from '../../core/sessions/run-standing.ts';
import { brokenState, type SessionState, sessionState } from '../../core/sessions/session-state.ts';
import type { CommandContext } from '../command.ts';
import { type CommandProblem, usageProblem } from '../problem.ts';
import type { SessionAccess } from '../program.ts';
import { type CommandRefusal, refusalProblem } from '../refusal-problem.ts';
import { findSessions, runNamed, SESSION_ID, shortIds } from '../session-ids.ts';
import { answerCommand, numbered, runState } from './run-words.ts';
import { noSessions, widthOf } from './session-words.ts';

export const ONE_SESSION = { syntax: '[id]', help: `${SESSION_ID} (default: the latest session here)` };

/** A session to show, and how to show it. */
export type ShownSession = {
  readonly sessionAccess: SessionAccess;
  readonly looked: InspectedSession;
  /** What every command prints about the session. */
  readonly head: { readonly shortId: string; readonly state: SessionState } & Pick<
    InspectedSession,
    'sessionId' | 'health'
  >;
  /** The name for further commands: the run if one was named, else the session. */
  readonly name: string;
  /** All runs, or only the one that was named. */
  readonly runs: readonly RunStanding[];
  readonly nowMs: number;
  readonly width: number;
};

/** Finds and reads the named session, or else the latest one here, or else the latest one anywhere. */
export async function loadSession(
  context: CommandContext,
  asked: string | undefined,
  depth: InspectDepth,
): Promise<Result<ShownSession, CommandProblem>> {
  return safeTry(async function* () {
    if (asked !== undefined && asked.trim() === '') return err(EMPTY_ID);
    const { program, progress } = context;
    progress.show({ label: 'looking for the session' });
    const sessionAccess = await program.sessionAccess();
    const dataDir = await program.dataDir();
    const refused = (refusal: CommandRefusal) => refusalProblem(refusal, dataDir);
    const named = asked === undefined ? await latest(sessionAccess) : await findOne(context, sessionAccess, asked);
    const sessionId = yield* named.mapErr(refused);
    if (sessionId === undefined) return err(noSessions(dataDir));
    progress.show({ label: 'reading the session' });
    const looked = yield* (await inspectSession(sessionAccess, sessionId, depth)).mapErr(refused);
    const stored = (await sessionAccess.sessions.list()).unwrapOr([sessionId]);
    const shortId = shortIds(stored)(sessionId);
    const run = runMeant(looked, asked);
    const { health } = looked;
    return ok({
      sessionAccess,
      looked,
      head: { sessionId, shortId, state: brokenState(health) ?? sessionState(looked.runs), health },
      name: run === undefined || asked === undefined ? shortId : asked.trim().toLowerCase(),
      runs: run === undefined ? looked.runs : [run],
      nowMs: sessionAccess.clock.nowMs(),
      width: widthOf(sessionAccess),
    });
  });
}

const EMPTY_ID = usageProblem(
  'The session id is empty.',
  'Give the id, or leave it out to use the latest session here.',
);

async function findOne(
  { progress }: CommandContext,
  sessionAccess: SessionAccess,
  asked: string,
): Promise<Result<SessionId | undefined, CommandRefusal>> {
  const found = await findSessions(sessionAccess, [asked], (step) =>
    progress.show({ label: 'looking for the session', ...step }),
  );
  return found.map(([sessionId]) => sessionId);
}

async function latest(sessionAccess: SessionAccess): Promise<Result<SessionId | undefined, CommandRefusal>> {
  const board = await sessionBoard(sessionAccess);
  if (board.isErr()) return err(board.error);
  const { rows } = board.value;
  const workspaces = await workspacesAt(sessionAccess.workspace, sessionAccess.folder);
  const healthy = rows.filter(({ health }) => health?.kind === 'healthy');
  const here = healthy.find((row) => isAt(row, workspaces));
  return ok((here ?? healthy[0] ?? rows[0])?.sessionId);
}

/** The run that was named; a tag may also be part of the session's id. */
function runMeant({ sessionId, runs }: InspectedSession, asked: string | undefined): RunStanding | undefined {
  const named = runNamed(asked ?? '', { sessionId, runIds: runs.map(({ runId }) => runId) });
  return runs.find(({ runId }) => runId === named);
}

const NEAR_MAX = 4;

/** The steps that may have been meant: for a number, the nearest ones with their titles; otherwise all ids. */
export function knownSteps(lines: readonly RunLine[], asked: string): readonly string[] {
  const places = lines.flatMap(({ steps }) => steps.flatMap(({ place }) => (place.kind === 'step' ? [place] : [])));
  const steps = [...new Map(places.map((place) => [place.stepId, place])).values()];
  const number = Number(asked);
  if (!Number.isSafeInteger(number)) return steps.map(({ stepId }) => stepId);
  const away = ({ position = 0 }: (typeof steps)[number]) => Math.abs(position - number);
  return steps
    .toSorted((a, b) => away(a) - away(b))
    .slice(0, NEAR_MAX)
    .toSorted((a, b) => (a.position ?? 0) - (b.position ?? 0))
    .map(({ position, title }) => numbered(defined({ title, position })));
}

/** The command to type after a session was shown. */
export function nextFor({ head: { state, sessionId }, looked, runs, name }: ShownSession): string {
  if (state === 'damaged') return `workrail session verify ${name}`;
  // An imported copy has the tags of its original.
  const answers = runs.flatMap(
    (run) => answerCommand({ run, name: looked.origin === undefined ? run.tag : sessionId }) ?? [],
  );
  if (state !== 'salvaged' && answers[0] !== undefined) return answers[0];
  const isOpen = state !== 'salvaged' && runs.some((run) => ['running', 'blocked'].includes(runState(run)));
  return `workrail session ${isOpen ? 'resume' : 'notes'} ${name}`;
}
