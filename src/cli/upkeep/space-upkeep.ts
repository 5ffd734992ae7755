import { err, ok, type Result, safeTry } from 'neverthrow';
import * as z from 'zod';
import type { SpaceStore, TeamDatabase } from '../../app/ports/team-database.ts';
import { collectGarbage } from '../../app/upkeep/collect-garbage.ts';
import { isDamaged, verifySessions } from '../../app/upkeep/verify-sessions.ts';
import type { Flow } from '../../core/flow.ts';
import { plural, shortList, sizeOf } from '../../core/text/words.ts';
import { gcData, keysRotateData, sessionVerifyData } from '../../core/wire/machine-shapes.ts';
import { type CommandContext, type CommandInput, type CommandOutcome, command, done } from '../command.ts';
import { shownKeys } from '../keys.ts';
import type { Line } from '../output/line.ts';
import { type CommandProblem, EXIT, problem, usageProblem } from '../problem.ts';
import { refusalProblem } from '../refusal-problem.ts';
import { daysOf, gcDataOf, gcLines } from './gc.ts';
import { masterKeyIn, noteInLog, teamProblem, URL_OPTION, withDatabase } from './team.ts';
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

/** How many sessions an entry of the audit log names. */
const NAMED_MAX = 20;

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
      const team = await context.program.team();
      return withSpace(context, input, async ({ store: { collector }, space, database }) => {
        const request = { retentionDays: days, isDryRun };
        const collected = await collectGarbage({ collector, clock: team.clock }, request, ({ done: read, total }) =>
          context.progress.show({ label: 'reading sessions', done: read, total }),
        );
        if (collected.isErr()) return err(upkeepProblem(collected.error, OF_DATABASE));
        const removed = [...collected.value.sessions, ...collected.value.binned];
        if (!isDryRun && removed.length > 0) {
          const subject = `${plural(removed.length, 'session')}: ${shortList(removed, NAMED_MAX)}`;
          const noted = await noteInLog(team, database, { space, action: 'sessions_collected', subject });
          if (noted.isErr()) return err(noted.error);
        }
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
    return withSpace(context, input, async ({ store: { keyring }, space, database }) => {
      const before = await keyring.find();
      if (before.isErr()) return err(refusalProblem(before.error, OF_DATABASE));
      const after = await keyring.rotate();
      if (after.isErr()) return err(refusalProblem(after.error, OF_DATABASE));
      const noted = await noteInLog(team, database, { space, action: 'keys_rotated' });
      if (noted.isErr()) return err(noted.error);
      const data = { before: shownKeys(before.value, team.keyidOf), after: shownKeys(after.value, team.keyidOf) };
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

export const spaceReseal = command({
  options: [
    URL_OPTION,
    { ...KEY_OPTION, help: 'file with the new master key in its first line, the old one in its second' },
  ],
  example: 'workrail space reseal --master-key-file KEYS --database-url URL',
  needsNoConfig: true,
  data: z.strictObject({
    spaces: z.array(
      z.strictObject({
        name: z.string(),
        /** False if its keys were already sealed with the new master key, or if it has none yet. */
        isResealed: z.boolean(),
      }),
    ),
  }),
  run: async (context, input) => {
    const team = await context.program.team();
    const file = input.options['masterKeyFile'];
    if (file === undefined) {
      return err(usageProblem('space reseal needs --master-key-file.', 'Name the file that "serve --team" uses.'));
    }
    return withDatabase(context, input, async (database) =>
      safeTry(async function* () {
        const { masterKey, previousKeys } = yield* await masterKeyIn(team, file);
        const listed = yield* (await database.spaces()).mapErr(teamProblem);
        const spaces: { name: string; isResealed: boolean }[] = [];
        for (const { name } of listed) {
          const store = yield* (await database.openSpace(name, masterKey, previousKeys)).mapErr(teamProblem);
          const isResealed = yield* (await store.keyring.reseal()).mapErr(() => unopened(name));
          if (isResealed) yield* await noteInLog(team, database, { space: name, action: 'keys_resealed' });
          spaces.push({ name, isResealed });
        }
        const count = spaces.filter(({ isResealed }) => isResealed).length;
        return done({
          data: { spaces },
          lines: [
            [`Sealed the keys of ${plural(count, 'space')} with the new master key.`],
            [`${plural(spaces.length - count, 'space')} needed no change.`],
          ],
          next: 'workrail space list --database-url URL',
        });
      }),
    );
  },
});

function unopened(space: string): CommandProblem {
  return problem(
    EXIT.failed,
    `None of the master keys opens the keys of the space ${space}. Nothing was changed in it.`,
    'Add the master key that servers use now to the file, in a line of its own, then run the command again.',
  );
}

type Opened = { readonly store: SpaceStore; readonly space: string; readonly database: TeamDatabase };

/** Opens the space that the command names, with its keys if a file with the master key is given. */
async function withSpace<Data>(
  context: CommandContext,
  input: CommandInput,
  work: (opened: Opened) => Promise<Result<CommandOutcome<Data>, CommandProblem>>,
): Promise<Result<CommandOutcome<Data>, CommandProblem>> {
  const file = input.options['masterKeyFile'];
  const keys = file === undefined ? ok(undefined) : await masterKeyIn(await context.program.team(), file);
  if (keys.isErr()) return err(keys.error);
  return withDatabase(context, input, async (database) => {
    const space = input.operands[0] ?? '';
    const store = await database.openSpace(space, keys.value?.masterKey, keys.value?.previousKeys);
    if (store.isErr()) return err(teamProblem(store.error));
    // Signatures that a wrong key cannot check would only look unchecked.
    const opened = file === undefined ? ok(undefined) : await store.value.keyring.find();
    if (opened.isErr()) return err(refusalProblem(opened.error, OF_DATABASE));
    return work({ store: store.value, space, database });
  });
}
