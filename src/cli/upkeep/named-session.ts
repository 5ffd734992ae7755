import { err, ok, type Result } from 'neverthrow';
import type { UpkeepServices } from '../../app/upkeep/collect-garbage.ts';
import type { RunId, SessionId } from '../../core/log/ids.ts';
import type { CommandContext, CommandProblem } from '../command.ts';
import { findSessions, runNamed } from '../ids.ts';
import { type UpkeepRefusal, upkeepProblem, wrongUse } from './upkeep-words.ts';

/** The sessions that a person names. */
export async function namedSessions(
  { program, progress }: CommandContext,
  asked: readonly string[],
): Promise<Result<{ readonly upkeep: UpkeepServices; readonly sessionIds: readonly SessionId[] }, CommandProblem>> {
  if (asked.some((text) => text.trim() === ''))
    return err(wrongUse('A session id is empty.', 'Type the id of a session.'));
  progress.show({ label: 'looking for sessions' });
  const upkeep = await program.upkeep();
  const found = await findSessions(upkeep, asked, (step) => progress.show({ label: 'looking for sessions', ...step }));
  if (found.isErr()) return err(upkeepProblem(found.error, await program.dataDir()));
  return ok({ upkeep, sessionIds: found.value });
}

/** One session, and the run that is meant where one was named. */
export async function namedSession(
  context: CommandContext,
  asked: string,
): Promise<
  Result<
    { readonly upkeep: UpkeepServices; readonly sessionId: SessionId; readonly run: RunId | undefined },
    CommandProblem
  >
> {
  const named = await namedSessions(context, [asked]);
  if (named.isErr()) return err(named.error);
  const { upkeep, sessionIds } = named.value;
  const [sessionId] = sessionIds;
  if (sessionId === undefined) return err(wrongUse('No session was named.', 'Type the id of a session.'));
  return ok({ upkeep, sessionId, run: await runMeant(upkeep, sessionId, asked) });
}

async function runMeant({ sessions }: UpkeepServices, sessionId: SessionId, asked: string): Promise<RunId | undefined> {
  const prefix = await sessions.loadValidPrefix(sessionId);
  const runIds = prefix.isOk() ? prefix.value.view.graph.runs.keys() : [];
  return runNamed(asked, { sessionId, runIds });
}

/** A session that was found and yet is not there has lost its manifest: then its damage is told. */
export async function refusedProblem(
  { program }: CommandContext,
  { sessions }: UpkeepServices,
  refusal: UpkeepRefusal,
): Promise<CommandProblem> {
  const dataDir = await program.dataDir();
  const refused = refusal.code === 'session_not_found' ? await sessions.load(refusal.sessionId) : err(refusal);
  return upkeepProblem(refused.isErr() ? refused.error : refusal, dataDir);
}
