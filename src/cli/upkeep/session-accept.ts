import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import { type Acceptance, acceptSession, readAcceptance } from '../../app/upkeep/accept-session.ts';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { RunId, SessionId, workflowIdSchema } from '../../core/log/ids.ts';
import { acceptCommand, isTrusted, originWords, shownOrigin, shownOriginSchema } from '../../core/log/origin.ts';
import { plural } from '../../core/text/words.ts';
import { type CommandContext, command, done } from '../command.ts';
import { confirmLoosening } from '../loosening.ts';
import { clipText } from '../output/text-width.ts';
import type { CommandProblem } from '../problem.ts';
import { SESSION_ID } from '../session-ids.ts';
import { namedSession, refusedProblem } from './named-session.ts';

export const sessionAccept = command({
  operands: [{ syntax: '<id>', help: SESSION_ID }],
  example: 'workrail session accept 7f3a',
  data: z.strictObject({
    sessionId: SessionId.schema,
    /** False if it was already accepted. */
    isChanged: z.boolean(),
    origin: shownOriginSchema,
    runs: z.array(
      z.strictObject({
        runId: RunId.schema,
        tag: z.string(),
        workflowId: workflowIdSchema,
        source: z.string(),
        /** Whether the workflow is exactly one that comes with this build. */
        isKnown: z.boolean(),
        goal: z.string().exactOptional(),
      }),
    ),
    /** What the log says about the other machine. Nothing here can prove it. */
    claimed: z.strictObject({ answers: z.int().min(0), checks: z.int().min(0) }),
  }),
  run: (context, { operands }) =>
    safeTry(async function* () {
      const { upkeep, sessionId } = yield* await namedSession(context, operands[0] ?? '');
      const read = await readAcceptance(upkeep, sessionId);
      if (read.isErr()) return err(await refusedProblem(context, upkeep, read.error));
      const acceptance = read.value;
      const isNew = !isTrusted(acceptance.origin);
      if (isNew) {
        yield* await confirmAcceptance(context, acceptance, upkeep.hasher.sha256);
        const accepted = await acceptSession(upkeep, sessionId);
        if (accepted.isErr()) return err(await refusedProblem(context, upkeep, accepted.error));
      }
      const origin = (await upkeep.marks.origin(sessionId)) ?? acceptance.origin;
      const { runs, claimed } = acceptance;
      return done({
        data: {
          sessionId,
          isChanged: isNew,
          origin: shownOrigin(origin),
          runs: runs.map((run) => ({ ...run })),
          claimed,
        },
        lines: [[isNew ? ACCEPTED(sessionId) : `Session ${sessionId} was already accepted; nothing changed.`]],
        next: `workrail session resume ${sessionId}`,
      });
    }),
});

export const ACCEPTED = (sessionId: SessionId) => `Accepted ${sessionId}: agents can resume it.`;

/** Shows a person what is accepted and asks for a code. */
export async function confirmAcceptance(
  context: CommandContext,
  acceptance: Acceptance,
  sha256: Sha256,
): Promise<Result<void, CommandProblem>> {
  const confirmed = await confirmLoosening(
    context,
    { changes: acceptanceWords(acceptance), command: acceptCommand(acceptance), purpose: 'accept this session' },
    sha256,
  );
  return confirmed.isErr() ? err(confirmed.error) : ok(undefined);
}

const GOAL_WIDTH_MAX = 100;
const RUNS_SHOWN_MAX = 8;

function acceptanceWords({ sessionId, origin, events, runs, claimed }: Acceptance): readonly string[] {
  const more = runs.length - RUNS_SHOWN_MAX;
  return [
    `Session ${sessionId}: ${originWords(shownOrigin(origin))}.`,
    `It has ${plural(runs.length, 'run')} and ${plural(events, 'event')}.`,
    ...runs.slice(0, RUNS_SHOWN_MAX).map(({ tag, workflowId, source, isKnown, goal }) => {
      const about =
        goal === undefined ? 'without a goal' : `"${clipText(goal.replaceAll(/\s+/g, ' '), GOAL_WIDTH_MAX)}"`;
      const hash = isKnown ? 'this WorkRail knows its hash' : 'this WorkRail does not know its hash';
      return `Run ${tag} of ${workflowId} (${source}; ${hash}): ${about}.`;
    }),
    ...(more > 0 ? [`And ${plural(more, 'more run')}.`] : []),
    claimedWords(claimed),
    'If you accept it, agents here can resume it and follow its workflow.',
  ];
}

function claimedWords({ answers, checks }: Acceptance['claimed']): string {
  if (answers + checks === 0) return 'It claims no answers of people and no checks.';
  return `It claims ${plural(answers, 'answer')} of people and ${plural(checks, 'check')}. They are the word of the other machine: nothing here can prove them.`;
}
