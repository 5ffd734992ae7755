import { err, safeTry } from 'neverthrow';
import * as z from 'zod';
import { SessionId } from '../../core/log/ids.ts';
import { command, done } from '../command.ts';
import { SESSION_IDS } from '../session-ids.ts';
import { namedSessions, refusedProblem } from './named-session.ts';

export const sessionKeep = command({
  operands: [{ syntax: '<id...>', help: SESSION_IDS }],
  options: [{ flags: '--undo', help: 'stop protecting them from gc' }],
  example: 'workrail session keep 7f3a',
  data: z.strictObject({
    sessions: z.array(z.strictObject({ sessionId: SessionId.schema, isKept: z.boolean() })),
  }),
  run: (context, { operands, options }) =>
    safeTry(async function* () {
      const isKept = options['undo'] !== true;
      const { upkeep, sessionIds } = yield* await namedSessions(context, operands);
      for (const sessionId of sessionIds) {
        const set = await upkeep.marks.setKept(sessionId, isKept);
        if (set.isErr()) return err(await refusedProblem(context, upkeep, set.error));
      }
      return done({
        data: { sessions: sessionIds.map((sessionId) => ({ sessionId, isKept })) },
        lines: sessionIds.map((sessionId) => [
          isKept ? `${sessionId} is kept: gc never deletes it.` : `${sessionId} is no longer kept.`,
        ]),
        next: isKept ? `workrail session keep ${sessionIds.join(' ')} --undo` : 'workrail gc --dry-run',
      });
    }),
});
