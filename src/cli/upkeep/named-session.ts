import { err, ok, type Result } from 'neverthrow';
import type { UpkeepServices } from '../../app/services.ts';
import type { RunId, SessionId } from '../../core/log/ids.ts';
import type { CommandContext } from '../command.ts';
import { type CommandProblem, usageProblem } from '../problem.ts';
import { findSessions, runNamed } from '../session-ids.ts';
import { type UpkeepRefusal, upkeepProblem } from './upkeep-words.ts';

type NamedSessions = { readonly upkeep: UpkeepServices; readonly sessionIds: readonly SessionId[] };
export type NamedSession = {
  readonly upkeep: UpkeepServices;
  readonly sessionId: SessionId;
  readonly run: RunId | undefined;
};

/** The sessions that the operands name. */
export async function namedSessions(
  { program, progress }: CommandContext,
  asked: readonly string[],
): Promise<Result<NamedSessions, CommandProblem>> {
  if (asked.some((text) => text.trim() === '')) {
    return err(usageProblem('A session id is empty.', 'Give the id of a session.'));
  }
  progress.show({ label: 'looking for sessions' });
  const upkeep = await program.upkeep();
  const found = await findSessions(upkeep, asked, (step) => progress.show({ label: 'looking for sessions', ...step }));
  if (found.isErr()) return err(upkeepProblem(found.error, await program.dataDir()));
  return ok({ upkeep, sessionIds: found.value });
}

/** One session, with the run if the operand named one. */
export async function namedSession(
  context: CommandContext,
  asked: string,
): Promise<Result<NamedSession, CommandProblem>> {
  const named = await namedSessions(context, [asked]);
  if (named.isErr()) return err(named.error);
  const { upkeep, sessionIds } = named.value;
  const [sessionId] = sessionIds;
  if (sessionId === undefined) return err(usageProblem('A session id is missing.', 'Give the id of a session.'));
  const prefix = await upkeep.sessions.loadValidPrefix(sessionId);
  const runIds = prefix.isOk() ? prefix.value.view.graph.runs.keys() : [];
  return ok({ upkeep, sessionId, run: runNamed(asked, { sessionId, runIds }) });
}

/** A session that was found and then cannot be loaded has lost its manifest: its damage is reported instead. */
export async function refusedProblem(
  { program }: CommandContext,
  { sessions }: UpkeepServices,
  refusal: UpkeepRefusal,
): Promise<CommandProblem> {
  const dataDir = await program.dataDir();
  const refused = refusal.code === 'session_not_found' ? await sessions.load(refusal.sessionId) : err(refusal);
  return upkeepProblem(refused.isErr() ? refused.error : refusal, dataDir);
}
