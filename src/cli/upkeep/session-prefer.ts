import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import { settingsFolders } from '../../app/run/run-place.ts';
import {
  type LoosenedRun,
  type PreferRefusal,
  type PreferredRun,
  setPreferences,
} from '../../app/upkeep/set-preferences.ts';
import {
  AUTONOMY,
  type Autonomy,
  autonomySchema,
  type Preferences,
  RISK_POLICY,
  type RiskPolicy,
  riskPolicySchema,
} from '../../core/log/autonomy.ts';
import { RunId, runTag, SessionId, workflowIdSchema } from '../../core/log/ids.ts';
import { SETTERS } from '../../core/prompt/reply-parts.ts';
import { chosenMode, type ModeCap, runDefaults } from '../../core/settings/settings-in-effect.ts';
import { shellWord } from '../../core/text/words.ts';
import { type CommandContext, command, done } from '../command.ts';
import { confirmLoosening, type Loosening } from '../loosening.ts';
import { type Line, notable } from '../output/line.ts';
import { type CommandProblem, unknownWord, usageProblem } from '../problem.ts';
import { SESSION_ID } from '../session-ids.ts';
import { type NamedSession, namedSession, refusedProblem } from './named-session.ts';

const preferences = z.strictObject({ autonomy: autonomySchema, riskPolicy: riskPolicySchema });

export const sessionPrefer = command({
  operands: [
    { syntax: '<id>', help: SESSION_ID },
    { syntax: '[mode]', help: AUTONOMY.join(', ') },
  ],
  options: [
    {
      flags: '--risk <policy>',
      help: 'how much advice to include in warnings: conservative (most), balanced or aggressive (least); nothing else changes',
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
      const { mode: allowed, cap } = await allowedMode(context, mode, await foldersOfRuns(named, run));
      const request = { sessionId, run, mode: allowed, riskPolicy };
      let set = await setPreferences(upkeep, request);
      let isCapShown = false;
      if (set.isErr() && set.error.code === 'loosening_unconfirmed') {
        const loosening = looseningOf(set.error, { sessionId, mode, riskPolicy, run: options['run'], cap });
        yield* await confirmLoosening(context, loosening, upkeep.hasher.sha256);
        set = await setPreferences(upkeep, { ...request, isLooseningAllowed: true });
        isCapShown = true;
      }
      if (set.isErr()) {
        const isRiskOnly = set.error.code === 'nothing_unfinished' && mode === undefined;
        const refused = await refusedProblem(context, upkeep, set.error);
        return err(isRiskOnly ? riskAdvice(refused, riskPolicy) : refused);
      }
      return done({
        data: {
          sessionId,
          runs: set.value.map(({ warnings, setBy: _, ...rest }) => ({ ...rest, warnings: [...warnings] })),
        },
        lines: [...(isCapShown ? [] : capLines(cap)), ...set.value.flatMap(linesOf)],
        next: `workrail session resume ${options['run'] === undefined ? shellWord(asked) : (set.value[0]?.runId ?? sessionId)}`,
      });
    }),
});

/** The mode, lowered to what the settings allow. */
async function allowedMode(
  { program }: CommandContext,
  mode: Autonomy | undefined,
  folders: readonly string[],
): Promise<{ readonly mode: Autonomy | undefined; readonly cap?: ModeCap | undefined }> {
  if (mode === undefined || mode === 'guided') return { mode };
  const { preferences, cap } = chosenMode(mode, runDefaults(await (await program.setup()).config(folders)));
  return { mode: preferences.autonomy, cap };
}

/** The folders whose settings count for a run of a session, or for all of its runs. */
async function foldersOfRuns({ upkeep, sessionId }: NamedSession, run: string | undefined): Promise<readonly string[]> {
  const prefix = await upkeep.sessions.loadValidPrefix(sessionId);
  if (prefix.isErr()) return [];
  const runIds = [...prefix.value.view.graph.runs.keys()];
  const meant = runIds.filter((runId) => run === runId || run === runTag(runId));
  return (meant.length === 0 ? runIds : meant).flatMap((runId) => settingsFolders(prefix.value, runId));
}

function capLines(cap: ModeCap | undefined): readonly Line[] {
  return cap === undefined ? [] : [[notable(capText(cap))]];
}

function capText({ cause, effective }: ModeCap): string {
  return `${cause} allows at most ${effective}.`;
}

function looseningOf(
  { runs }: Extract<PreferRefusal, { code: 'loosening_unconfirmed' }>,
  asked: {
    readonly sessionId: SessionId;
    readonly mode: Autonomy | undefined;
    readonly riskPolicy: RiskPolicy | undefined;
    readonly run: unknown;
    readonly cap: ModeCap | undefined;
  },
): Loosening {
  const words = [
    asked.sessionId,
    ...(asked.mode === undefined ? [] : [asked.mode]),
    ...(asked.riskPolicy === undefined ? [] : ['--risk', asked.riskPolicy]),
    ...(typeof asked.run === 'string' ? ['--run', asked.run] : []),
  ];
  return {
    // A person who asked for another mode needs to know first why it is not that one.
    changes: [...(asked.cap === undefined ? [] : [capText(asked.cap)]), ...runs.map(loosenedWords)],
    command: `workrail session prefer ${words.join(' ')}`,
    purpose: `change ${runs.length === 1 ? 'the mode of this run' : 'the mode of these runs'}`,
  };
}

function loosenedWords({ tag, before, effective, setBy = 'system' }: LoosenedRun): string {
  // Only who set the mode changes, and gates ask for that.
  if (isSame(before, effective))
    return `Run ${tag} is already in ${shown(before)}, ${SETTERS[setBy]}. If you set this mode, the run goes past gates that wait for a person, and records a gap for each.`;
  return `Run ${tag} would change from ${shown(before)} to ${shown(effective)}, so its agent may do more on its own.`;
}

function isSame(a: Preferences, b: Preferences): boolean {
  return a.autonomy === b.autonomy && a.riskPolicy === b.riskPolicy;
}

/** The mode is chosen when a run starts; the risk policy is a setting. */
function riskAdvice({ error, ...rest }: CommandProblem, riskPolicy: RiskPolicy | undefined): CommandProblem {
  const suggestion = `To set it for later runs: workrail config set riskPolicy ${riskPolicy}`;
  return { ...rest, error: { ...error, suggestion } };
}

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
  const { setBy = 'system' } = more;
  const was = isSame(before, effective)
    ? `, now set by a person (before: ${SETTERS[setBy]})`
    : `; it was ${shown(before)}`;
  return [
    [`Run ${tag} of ${workflowId} continues in ${shown(effective)}${isChanged ? was : '; unchanged'}.`],
    ...(more.isReopened ? [[notable('  The run was closed; this reopened it.')]] : []),
    ...more.warnings.map(({ recommended }): Line => [notable(`  Its workflow recommends ${recommended} at most.`)]),
  ];
}

function shown({ autonomy, riskPolicy }: Preferences): string {
  return `${autonomy} (risk ${riskPolicy})`;
}
