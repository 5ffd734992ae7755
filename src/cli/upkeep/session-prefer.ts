import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import { type PreferredRun, setPreferences } from '../../app/upkeep/set-preferences.ts';
import { AUTONOMY, autonomySchema, type Preferences, RISK_POLICY, riskPolicySchema } from '../../core/log/autonomy.ts';
import { RunId, SessionId, workflowIdSchema } from '../../core/log/ids.ts';
import { nearest } from '../../core/text/spelling.ts';
import type { CommandProblem, RunCommand } from '../command.ts';
import { commandShape } from '../command-shape.ts';
import type { Line } from '../output/line.ts';
import { namedSession, refusedProblem } from './named-session.ts';
import { wrongUse } from './upkeep-words.ts';

export const sessionPrefer: RunCommand = async (context, { operands, options }) => {
  const [asked = '', modeText] = operands;
  const mode = oneOf('mode', AUTONOMY, modeText);
  if (mode.isErr()) return err(mode.error);
  const riskPolicy = oneOf('risk policy', RISK_POLICY, options['risk']);
  if (riskPolicy.isErr()) return err(riskPolicy.error);
  if (mode.value === undefined && riskPolicy.value === undefined) {
    return err(wrongUse('Neither a mode nor a risk policy was named.', `Name a mode: ${AUTONOMY.join(', ')}.`));
  }
  const named = await namedSession(context, asked);
  if (named.isErr()) return err(named.error);
  const { upkeep, sessionId } = named.value;
  const run = typeof options['run'] === 'string' ? options['run'] : named.value.run;
  const set = await setPreferences(upkeep, { sessionId, run, mode: mode.value, riskPolicy: riskPolicy.value });
  if (set.isErr()) return err(await refusedProblem(context, upkeep, set.error));
  const data: SessionPreferData = {
    sessionId,
    runs: set.value.map(({ warnings, ...rest }) => ({ ...rest, warnings: [...warnings] })),
  };
  return ok({
    kind: 'done',
    data,
    lines: set.value.flatMap(linesOf),
    next: `workrail session resume ${run === undefined ? sessionId : (set.value[0]?.runId ?? sessionId)}`,
  });
};

/** A word of a closed set; nothing where none was written. */
function oneOf<const Word extends string>(
  what: string,
  words: readonly Word[],
  written: unknown,
): Result<Word | undefined, CommandProblem> {
  if (typeof written !== 'string') return ok(undefined);
  const found = words.find((word) => word === written.trim().toLowerCase().replaceAll('-', '_'));
  if (found !== undefined) return ok(found);
  const meant = nearest(written, words);
  const guess = meant === undefined ? '' : `Did you mean ${meant}? `;
  return err(wrongUse(`There is no ${what} "${written}".`, `${guess}There are ${words.join(', ')}.`));
}

function linesOf({
  tag,
  workflowId,
  before,
  effective,
  isChanged,
  isReopened,
  warnings,
}: PreferredRun): readonly Line[] {
  const run = `Run ${tag} of ${workflowId}`;
  const said = isChanged
    ? `${run} goes on in ${shown(effective)}; it was ${shown(before)}.`
    : `${run} goes on in ${shown(effective)}, as before.`;
  return [
    [said],
    ...(isReopened ? [[{ text: '  It was closed; this opened it again.', style: 'notable' } as const]] : []),
    ...warnings.map(
      ({ recommended }): Line => [{ text: `  Its workflow recommends ${recommended} at most.`, style: 'notable' }],
    ),
  ];
}

function shown({ autonomy, riskPolicy }: Preferences): string {
  return `${autonomy} (risk ${riskPolicy})`;
}

const preferences = z.strictObject({ autonomy: autonomySchema, riskPolicy: riskPolicySchema });

const sessionPreferData = z.strictObject({
  sessionId: SessionId.schema,
  runs: z.array(
    z.strictObject({
      runId: RunId.schema,
      tag: z.string(),
      workflowId: workflowIdSchema,
      before: preferences,
      /** In force from the next step on. */
      effective: preferences,
      isChanged: z.boolean(),
      /** It was closed, and is open again. */
      isReopened: z.boolean(),
      /** Where this goes beyond what the workflow recommends. */
      warnings: z.array(
        z.strictObject({
          code: z.enum(['exceeds_recommended_autonomy', 'exceeds_recommended_risk_policy']),
          recommended: z.string(),
          effective: z.string(),
        }),
      ),
    }),
  ),
});
type SessionPreferData = z.infer<typeof sessionPreferData>;

/** What `workrail session prefer --json` prints. */
export const sessionPreferShape = commandShape('session prefer', sessionPreferData);
