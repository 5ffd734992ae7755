import { err, ok } from 'neverthrow';
import * as z from 'zod';
import { SessionId } from '../../core/log/ids.ts';
import type { RunCommand } from '../command.ts';
import { commandShape } from '../command-shape.ts';
import { namedSessions, refusedProblem } from './named-session.ts';

export const sessionKeep: RunCommand = async (context, { operands, options }) => {
  const isKept = options['undo'] !== true;
  const named = await namedSessions(context, operands);
  if (named.isErr()) return err(named.error);
  const { upkeep, sessionIds } = named.value;
  for (const sessionId of sessionIds) {
    const set = await upkeep.marks.setKept(sessionId, isKept);
    if (set.isErr()) return err(await refusedProblem(context, upkeep, set.error));
  }
  const data: SessionKeepData = { sessions: sessionIds.map((sessionId) => ({ sessionId, isKept })) };
  return ok({
    kind: 'done',
    data,
    lines: sessionIds.map((sessionId) => [
      isKept ? `${sessionId} is kept: gc leaves it, however old it gets.` : `${sessionId} is no longer kept.`,
    ]),
    next: isKept ? `workrail session keep ${sessionIds.join(' ')} --undo` : 'workrail gc --dry-run',
  });
};

const sessionKeepData = z.strictObject({
  sessions: z.array(z.strictObject({ sessionId: SessionId.schema, isKept: z.boolean() })),
});
type SessionKeepData = z.infer<typeof sessionKeepData>;

/** What `workrail session keep --json` prints. */
export const sessionKeepShape = commandShape('session keep', sessionKeepData);
