import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import { type PreferredRun, setPreferences } from '../../app/upkeep/set-preferences.ts';
import { AUTONOMY, autonomySchema, type Preferences, RISK_POLICY, riskPolicySchema } from '../../core/log/autonomy.ts';
import { RunId, SessionId, workflowIdSchema } from '../../core/log/ids.ts';
import { command, done } from '../command.ts';
import { SESSION_ID } from '../ids.ts';
import { type Line, notable } from '../output/line.ts';
import { type CommandProblem, unknownWord, usageProblem } from '../problem.ts';
import { namedSession, refusedProblem } from './named-session.ts';

const preferences = z.strictObject({ autonomy: autonomySchema, riskPolicy: riskPolicySchema });

export const sessionPrefer = command({
  operands: [
    { syntax: '<id>', help: SESSION_ID },
    { syntax: '[mode]', help: AUTONOMY.join(', ') },
  ],
  options: [
    {
      flags: '--risk <policy>',
      help: 'how much advice warnings contain: conservative (most), balanced or aggressive (least)',
    },
    { flags: '--run <tag>', help: 'change only this run of the session' },
  ],
  example: 'workrail session prefer 7f3a guided',
  data: z.strictObject({
    sessionId: SessionId.schema,
    runs: z.array(
      z.strictObject({
        runId: RunId.schema,
        tag: z.string(),
        workflowId: workflowIdSchema,
        before: preferences,
        /** In effect from the next step. */
        effective: preferences,
        isChanged: z.boolean(),
        /** Whether the run was closed and is open again. */
        isReopened: z.boolean(),
        /** Where this exceeds what the workflow recommends. */
        warnings: z.array(
          z.strictObject({
            code: z.enum(['exceeds_recommended_autonomy', 'exceeds_recommended_risk_policy']),
            recommended: z.string(),
            effective: z.string(),
          }),
        ),
      }),
    ),
  }),
  run: async (context, { operands, options }) =>
    safeTry(async function* () {
      const [asked = '', modeText] = operands;
      const mode = yield* oneOf('mode', AUTONOMY, modeText);
      const riskPolicy = yield* oneOf('risk policy', RISK_POLICY, options['risk']);
      if (mode === undefined && riskPolicy === undefined) {
        return err(usageProblem('A mode or a risk policy is missing.', `Add a mode: ${AUTONOMY.join(', ')}.`));
      }
      const named = yield* await namedSession(context, asked);
      const { upkeep, sessionId } = named;
      const run = typeof options['run'] === 'string' ? options['run'] : named.run;
      const set = await setPreferences(upkeep, { sessionId, run, mode, riskPolicy });
      if (set.isErr()) return err(await refusedProblem(context, upkeep, set.error));
      return done({
        data: { sessionId, runs: set.value.map(({ warnings, ...rest }) => ({ ...rest, warnings: [...warnings] })) },
        lines: set.value.flatMap(linesOf),
        next: `workrail session resume ${run === undefined ? sessionId : (set.value[0]?.runId ?? sessionId)}`,
      });
    }),
});

/** One of a closed set of words; `undefined` if none was given. */
function oneOf<const Word extends string>(
  what: string,
  words: readonly Word[],
  written: unknown,
): Result<Word | undefined, CommandProblem> {
  if (typeof written !== 'string') return ok(undefined);
  const found = words.find((word) => word === written.trim().toLowerCase().replaceAll('-', '_'));
  return found === undefined ? err(unknownWord(what, written, words)) : ok(found);
}

function linesOf({ tag, workflowId, before, effective, isChanged, ...more }: PreferredRun): readonly Line[] {
  const was = isChanged ? `it was ${shown(before)}` : 'unchanged';
  return [
    [`Run ${tag} of ${workflowId} continues in ${shown(effective)}; ${was}.`],
    ...(more.isReopened ? [[notable('  The run was closed; this reopened it.')]] : []),
    ...more.warnings.map(({ recommended }): Line => [notable(`  Its workflow recommends ${recommended} at most.`)]),
  ];
}

function shown({ autonomy, riskPolicy }: Preferences): string {
  return `${autonomy} (risk ${riskPolicy})`;
}
