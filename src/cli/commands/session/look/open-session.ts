import { err, ok, type Result } from 'neverthrow';
import { isAt, storedSessions, workspacesAt } from '../../../../app/overview/list-sessions.ts';
import { type LookDepth, type LookedAt, lookAtSession } from '../../../../app/overview/look-at-session.ts';
import { SessionId } from '../../../../core/log/ids.ts';
import type { RunStanding } from '../../../../core/overview/run-standing.ts';
import { type SessionState, sessionState } from '../../../../core/overview/session-state.ts';
import type { CommandContext, Problem } from '../../../command.ts';
import { findSessions } from '../../../ids/find-sessions.ts';
import { shortIds } from '../../../ids/short-ids.ts';
import type { Overview } from '../../../program.ts';
import type { CommandRefusal } from '../../../words/explain.ts';
import { problemOf, widthOf } from './look-output.ts';
import { EMPTY_ID, NO_SESSIONS } from './look-words.ts';

/** A session that a person wants to look at. */
export type OpenedSession = {
  readonly overview: Overview;
  readonly looked: LookedAt;
  readonly shortId: string;
  readonly state: SessionState;
  /** All runs; only the one that was meant when it was named by its tag. */
  readonly runs: readonly RunStanding[];
  readonly nowMs: number;
  readonly width: number;
};

/** Finds and reads the session that was named, or the one last worked on here, or anywhere. */
export async function openSession(
  context: CommandContext,
  asked: string | undefined,
  depth: LookDepth,
): Promise<Result<OpenedSession, Problem>> {
  if (asked !== undefined && asked.trim() === '') return err(EMPTY_ID);
  const { program, progress } = context;
  progress.show({ label: 'looking for the session' });
  const overview = await program.overview();
  const dataDir = await program.dataDir();
  const named = asked === undefined ? await latest(overview) : await findOne(context, overview, asked);
  if (named.isErr()) return err(problemOf(named.error, dataDir));
  if (named.value === undefined) return err(NO_SESSIONS(dataDir));
  progress.show({ label: 'reading the session' });
  const looked = await lookAtSession(overview, named.value, depth);
  if (looked.isErr()) return err(problemOf(looked.error, dataDir));
  const stored = (await overview.sessions.list()).unwrapOr([named.value]);
  return ok({
    overview,
    looked: looked.value,
    shortId: shortIds(stored)(named.value),
    state: looked.value.health.kind === 'healthy' ? sessionState(looked.value.runs) : 'damaged',
    runs: runsMeant(looked.value, asked),
    nowMs: overview.clock.nowMs(),
    width: widthOf(overview),
  });
}

async function findOne(
  { progress }: CommandContext,
  overview: Overview,
  asked: string,
): Promise<Result<SessionId | undefined, CommandRefusal>> {
  const found = await findSessions(overview, [asked], (step) =>
    progress.show({ label: 'looking for the session', ...step }),
  );
  return found.map(([sessionId]) => sessionId);
}

async function latest(overview: Overview): Promise<Result<SessionId | undefined, CommandRefusal>> {
  const stored = await storedSessions(overview);
  if (stored.isErr()) return err(stored.error);
  const workspaces = await workspacesAt(overview.workspace, overview.folder);
  const healthy = stored.value.filter(({ summary }) => summary !== undefined);
  const here = healthy.find(({ summary }) => isAt(summary, workspaces));
  return ok((here ?? healthy[0] ?? stored.value[0])?.sessionId);
}

/** Who names a run by its tag means that run; the same four characters may also be part of the session's id. */
function runsMeant({ sessionId, runs }: LookedAt, asked: string | undefined): readonly RunStanding[] {
  const text = asked?.trim().toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1') ?? '';
  const body = sessionId.slice(SessionId.prefix.length + 1);
  if (text === '' || sessionId.startsWith(text) || body.startsWith(text) || body.endsWith(text)) return runs;
  const meant = runs.filter(({ tag }) => tag === text);
  return meant.length === 0 ? runs : meant;
}
