import { err, ok, type Result } from 'neverthrow';
import type { UpkeepServices } from '../../../app/upkeep/upkeep-services.ts';
import { runTag, SessionId } from '../../../core/log/ids.ts';
import type { CommandContext, Problem } from '../../command.ts';
import { findSessions } from '../../ids/find-sessions.ts';
import { upkeepProblem, wrongUse } from './upkeep-words.ts';

/** The sessions that a person names. */
export async function namedSessions(
  { program, progress }: CommandContext,
  asked: readonly string[],
): Promise<Result<{ readonly upkeep: UpkeepServices; readonly sessionIds: readonly SessionId[] }, Problem>> {
  if (asked.some((text) => text.trim() === ''))
    return err(wrongUse('A session id is empty.', 'Type the id of a session.'));
  progress.show({ label: 'looking for sessions' });
  const upkeep = await program.upkeep();
  const found = await findSessions(upkeep, asked, (step) => progress.show({ label: 'looking for sessions', ...step }));
  if (found.isErr()) return err(upkeepProblem(found.error, await program.dataDir()));
  return ok({ upkeep, sessionIds: found.value });
}

/** One session, and the run that is meant where it was named by the tag of a run. */
export async function namedSession(
  context: CommandContext,
  asked: string,
): Promise<
  Result<{ readonly upkeep: UpkeepServices; readonly sessionId: SessionId; readonly run: string | undefined }, Problem>
> {
  const named = await namedSessions(context, [asked]);
  if (named.isErr()) return err(named.error);
  const { upkeep, sessionIds } = named.value;
  const [sessionId] = sessionIds;
  if (sessionId === undefined) return err(wrongUse('No session was named.', 'Type the id of a session.'));
  return ok({ upkeep, sessionId, run: await runMeant(upkeep, sessionId, asked) });
}

/** The same four characters may also be part of the session's id; then all of the session is meant. */
async function runMeant(
  { sessions }: UpkeepServices,
  sessionId: SessionId,
  asked: string,
): Promise<string | undefined> {
  const text = asked.trim().toLowerCase().replaceAll('o', '0').replaceAll(/[il]/g, '1');
  const body = sessionId.slice(SessionId.prefix.length + 1);
  if (sessionId.startsWith(text) || body.startsWith(text) || body.endsWith(text)) return undefined;
  const prefix = await sessions.loadValidPrefix(sessionId);
  const runs = prefix.isOk() ? [...prefix.value.view.graph.runs.keys()] : [];
  return runs.map(runTag).find((tag) => tag === text);
}
