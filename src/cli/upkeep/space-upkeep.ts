import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import type { SpaceStore } from '../../app/ports/team-database.ts';
import { collectGarbage } from '../../app/upkeep/collect-garbage.ts';
import { isDamaged, verifySessions } from '../../app/upkeep/verify-sessions.ts';
import type { Flow } from '../../core/flow.ts';
import { plural, shortList, sizeOf } from '../../core/text/words.ts';
import { gcData, keysRotateData, sessionVerifyData } from '../../core/wire/machine-shapes.ts';
import { type CommandContext, type CommandInput, type CommandOutcome, command, done } from '../command.ts';
import { shownKeys } from '../keys.ts';
import type { Line } from '../output/line.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import { refusalProblem } from '../words.ts';
import { daysOf, gcDataOf, gcLines } from './gc.ts';
import { masterKeyIn, teamProblem, URL_OPTION, withDatabase } from './team.ts';
import { upkeepProblem } from './upkeep-words.ts';

const NAME = { syntax: '<name>', help: 'the name of the space' };
const OF_DATABASE = 'of the database';

const KEY_OPTION = {
  flags: '--master-key-file <file>',
  help: 'file with the master key (64 hex digits) that encrypts the keys in the database',
};

export const spaceVerify = command({
  operands: [NAME],
  options: [URL_OPTION, { ...KEY_OPTION, help: `${KEY_OPTION.help}; without it, signatures are not checked` }],
  example: 'workrail space verify shop --database-url "$DB"',
  needsNoConfig: true,
  data: z.strictObject({
    space: z.string(),
    sessions: sessionVerifyData.shape.sessions,
    totals: sessionVerifyData.shape.totals,
  }),
  run: (context, input) =>
    withSpace(context, input, async ({ store, space }) => {
      const verified = await verifySessions(store, {}, ({ done: read, total }) =>
        context.progress.show({ label: 'reading sessions', done: read, total }),
      );
      if (verified.isErr()) return err(refusalProblem(verified.error, OF_DATABASE));
      const { sessions, totals } = verified.value;
      const damaged = sessions.filter(isDamaged);
      const all = `${plural(totals.sessions, 'session')}, ${plural(totals.events, 'event')}, ${sizeOf(totals.bytes)}`;
      const shown = damaged.flatMap(({ sessionId, findings }): readonly Line[] => [
        [`${sessionId} is damaged:`],
        ...findings.map(({ what, place, reason }): Line => [`  ${what} in ${place}${reason ? ` (${reason})` : ''}`]),
      ]);
      return done({
        data: { space, sessions: sessions.map((audit) => ({ ...audit })), totals },
        lines: [...shown, [damaged.length === 0 ? `${all}: no damage.` : `${all}: ${damaged.length} damaged.`]],
        problem: damaged.length === 0 ? undefined : damageProblem(damaged.map(({ sessionId }) => sessionId)),
        next: `workrail space gc ${space} --dry-run --database-url URL`,
      });
    }),
});

function damageProblem(ids: readonly string[]): CommandProblem {
  return problem(
    EXIT.checkFailed,
    `${plural(ids.length, 'session')} of the space cannot be trusted whole: ${shortList(ids)}.`,
    'Restore the database from a backup, or copy the intact sessions with "workrail store copy --session ID".',
  );
}

export const spaceGc = command({
  operands: [NAME],
  options: [
    URL_OPTION,
    { flags: '--dry-run', help: 'show what would be deleted; delete nothing' },
    { flags: '--older-than <time>', help: 'minimum time since the last write, such as 30d or 8w (default: 90d)' },
  ],
  example: 'workrail space gc shop --dry-run --database-url "$DB"',
  needsNoConfig: true,
  data: gcData,
  run: (context, input) =>
    safeTry(async function* (): Flow<CommandOutcome<z.infer<typeof gcData>>, CommandProblem> {
      const days = yield* daysOf(input.options['olderThan']);
      const isDryRun = input.options['dryRun'] === true;
      const { clock } = await context.program.team();
      return withSpace(context, input, async ({ store: { collector }, space }) => {
        const request = { retentionDays: days, isDryRun };
        const collected = await collectGarbage({ collector, clock }, request, ({ done: read, total }) =>
          context.progress.show({ label: 'reading sessions', done: read, total }),
        );
        if (collected.isErr()) return err(upkeepProblem(collected.error, OF_DATABASE));
        const again = isDryRun ? 'gc' : 'verify';
        return done({
          data: gcDataOf(collected.value, days),
          lines: gcLines(collected.value, { days, isEachShown: isDryRun || context.switches.isVerbose }),
          next: `workrail space ${again} ${space} --database-url URL`,
        });
      });
    }),
});

export const spaceRotateKeys = command({
  operands: [NAME],
  options: [URL_OPTION, KEY_OPTION],
  example: 'workrail space rotate-keys shop --master-key-file KEY --database-url URL',
  needsNoConfig: true,
  data: keysRotateData,
  run: async (context, input) => {
    const team = await context.program.team();
    if (input.options['masterKeyFile'] === undefined) {
      return err(usageProblem('space rotate-keys needs --master-key-file.', 'Name the file that "serve --team" uses.'));
    }
    return withSpace(context, input, async ({ store: { keyring }, space }) => {
      const before = await keyring.find();
      if (before.isErr()) return err(refusalProblem(before.error, OF_DATABASE));
      const after = await keyring.rotate();
      if (after.isErr()) return err(refusalProblem(after.error, OF_DATABASE));
      const data = { before: shownKeys(before.value, team.sha256), after: shownKeys(after.value, team.sha256) };
      const { current, previous } = data.after;
      return done({
        data,
        lines: [
          [`New tokens of the space ${space} are signed with ${current}.`],
          ...(previous === null ? [] : [[`Tokens of ${previous} stay valid until the next rotation.`]]),
        ],
        next: `workrail space verify ${space} --database-url URL`,
      });
    });
  },
});

type Opened = { readonly store: SpaceStore; readonly space: string };

/** Opens the space that the command names, with its keys if a file with the master key is given. */
async function withSpace<Data>(
  context: CommandContext,
  input: CommandInput,
  work: (opened: Opened) => Promise<Result<CommandOutcome<Data>, CommandProblem>>,
): Promise<Result<CommandOutcome<Data>, CommandProblem>> {
  const file = input.options['masterKeyFile'];
  const masterKey = file === undefined ? ok(undefined) : await masterKeyIn(await context.program.team(), file);
  if (masterKey.isErr()) return err(masterKey.error);
  return withDatabase(context, input, async (database) => {
    const space = input.operands[0] ?? '';
    const store = await database.openSpace(space, masterKey.value);
    if (store.isErr()) return err(teamProblem(store.error));
    return work({ store: store.value, space });
  });
}
