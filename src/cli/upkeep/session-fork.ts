import { err, safeTry } from 'neverthrow';
import * as z from 'zod';
import { forkFromValid } from '../../app/bundle/fork-session.ts';
import { SessionId } from '../../core/log/ids.ts';
import { acceptCommand } from '../../core/log/origin.ts';
import { plural } from '../../core/text/words.ts';
import { command, done } from '../command.ts';
import { SESSION_ID } from '../session-ids.ts';
import { namedSession, refusedProblem } from './named-session.ts';

const count = z.int().min(0);

export const sessionFork = command({
  operands: [{ syntax: '<id>', help: SESSION_ID }],
  example: 'workrail session fork-from-valid 7f3a',
  data: z.strictObject({
    /** The damaged session, which stays as it is. */
    from: SessionId.schema,
    /** The new session. */
    sessionId: SessionId.schema,
    events: count,
    runs: count,
    /** False if the damaged session was imported and nobody accepted it. */
    isAccepted: z.boolean(),
  }),
  run: (context, { operands }) =>
    safeTry(async function* () {
      const { program, progress } = context;
      const { upkeep, sessionId: from } = yield* await namedSession(context, operands[0] ?? '');
      const { services } = await program.bundleAccess();
      const forked = await forkFromValid(services, from, ({ doing, ...work }) =>
        progress.show({ label: doing, ...work }),
      );
      if (forked.isErr()) return err(await refusedProblem(context, upkeep, forked.error));
      const data = forked.value;
      const { sessionId, events, runs, isAccepted } = data;
      return done({
        data,
        lines: [
          [
            `Made session ${sessionId} from the intact part of ${from}: ${plural(events, 'event')}, ${plural(runs, 'run')}.`,
          ],
          [
            'Events after the damage are not in it. The damaged session stays as it is; tokens that agents have still name it.',
          ],
        ],
        next: isAccepted ? `workrail session resume ${sessionId}` : acceptCommand({ sessionId }),
      });
    }),
});
