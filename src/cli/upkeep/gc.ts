import { err, ok, type Result, safeTry } from 'neverthrow';
import type { Collection } from '../../app/ports/upkeep.ts';
import type { UpkeepServices } from '../../app/services.ts';
import { collectGarbage, RETENTION_DAYS } from '../../app/upkeep/collect-garbage.ts';
import { defined } from '../../core/json/json-value.ts';
import { utcMinute } from '../../core/text/utc-time.ts';
import { plural, shellWord, shortList, sizeOf } from '../../core/text/words.ts';
import { type GcData, gcData } from '../../core/wire/machine-shapes.ts';
import { type CommandContext, command, done } from '../command.ts';
import type { Line } from '../output/line.ts';
import { type CommandProblem, usageProblem } from '../problem.ts';
import { confirmLoss, upkeepProblem } from './upkeep-words.ts';

export const gc = command({
  options: [
    { flags: '--dry-run', help: 'show what would be deleted; delete nothing' },
    { flags: '--older-than <time>', help: 'minimum time since the last write, such as 30d or 8w (default: 90d)' },
    { flags: '--empty-bin', help: 'delete everything in the bin now, not only what has been there for 30 days' },
    { flags: '--yes', help: 'do not ask before emptying the bin' },
  ],
  example: 'workrail gc --dry-run',
  data: gcData,
  run: (context, { options }) =>
    safeTry(async function* () {
      const { program, switches, progress } = context;
      const days = yield* daysOf(options['olderThan']);
      const isDryRun = options['dryRun'] === true;
      progress.show({ label: 'reading sessions' });
      const upkeep = await program.upkeep();
      const isBinEmptied = options['emptyBin'] === true;
      if (isBinEmptied && !isDryRun && options['yes'] !== true) {
        yield* await confirmEmptying(context, upkeep, `workrail gc${again(options)} --yes`);
      }
      const request = { retentionDays: days, isBinEmptied, isDryRun };
      const collected = await collectGarbage(upkeep, request, ({ done: read, total }) =>
        progress.show(
          read < total ? { label: 'reading sessions', done: read, total } : { label: 'removing unused data' },
        ),
      );
      if (collected.isErr()) return err(upkeepProblem(collected.error, await program.dataDir()));
      const stored = isDryRun ? await storedIn(program) : undefined;
      return done({
        data: { ...gcDataOf(collected.value, days), ...defined({ stored }) },
        lines: [
          ...gcLines(collected.value, { days, isEachShown: switches.isVerbose || isDryRun }),
          ...(stored === undefined || !switches.isVerbose
            ? []
            : [[`The data folder holds ${plural(stored.files, 'file')}, ${sizeOf(stored.bytes)}.`]]),
        ],
        next: isDryRun ? `workrail gc${again(options)}` : 'workrail session verify',
      });
    }),
});

async function storedIn(program: CommandContext['program']): Promise<GcData['stored']> {
  const [{ health }, dataDir] = await Promise.all([program.setup(), program.dataDir()]);
  return { dataDir, ...(await health.dataSize()) };
}

/** What is in the bin can still be restored, so emptying the bin asks just as deleting does. */
async function confirmEmptying(
  context: CommandContext,
  { bin }: UpkeepServices,
  command: string,
): Promise<Result<void, CommandProblem>> {
  const binned = (await bin.list()).unwrapOr([]);
  if (binned.length === 0) return ok(undefined);
  const lines = binned.map(({ sessionId, deletedAtMs }): Line => [`${sessionId}  deleted ${utcMinute(deletedAtMs)}`]);
  const question = `Remove ${plural(binned.length, 'deleted session')} for good?`;
  return confirmLoss(context, { lines, question, command });
}

const DAYS_IN = { d: 1, w: 7 } as const;

const DAYS_MAX = 36_500;

/** A number of days or weeks; at least one day, so that gc never takes what was written today. */
export function daysOf(written: unknown): Result<number, CommandProblem> {
  if (written === undefined) return ok(RETENTION_DAYS);
  const [, count, unit] = /^(\d{1,5})([dw])$/.exec(String(written).trim().toLowerCase()) ?? [];
  const days = Number(count) * DAYS_IN[unit === 'w' ? 'w' : 'd'];
  if (days >= 1 && days <= DAYS_MAX) return ok(days);
  return err(
    usageProblem(
      `--older-than needs days or weeks, not "${String(written)}".`,
      'Use at least one day, such as 90d or 8w.',
    ),
  );
}

function again(options: { readonly [name: string]: unknown }): string {
  const older = typeof options['olderThan'] === 'string' ? ` --older-than ${shellWord(options['olderThan'])}` : '';
  return `${older}${options['emptyBin'] === true ? ' --empty-bin' : ''}`;
}

export function gcDataOf({ kind, sessions, binned, files, bytes, stayed }: Collection, olderThanDays: number): GcData {
  const { kept, inUse, timeless, ...counts } = stayed;
  return {
    isDryRun: kind === 'would_collect',
    olderThanDays,
    removed: { sessions: [...sessions], fromBin: [...binned], files, bytes },
    stayed: { ...counts, kept: [...kept], inUse: [...inUse], timeless: [...timeless] },
  };
}

type Shown = { readonly days: number; readonly isEachShown: boolean };

export function gcLines(collection: Collection, { days, isEachShown }: Shown): readonly Line[] {
  const { sessions, binned } = collection;
  return [
    ...(isEachShown ? sessions.map((id): Line => [`${id}  last written more than ${plural(days, 'day')} ago`]) : []),
    ...(isEachShown ? binned.map((id): Line => [`${id}  deleted`]) : []),
    [removedText(collection, days)],
    ...stayedLines(collection, days),
  ];
}

function removedText({ kind, sessions, binned, files, bytes }: Collection, days: number): string {
  const isDone = kind === 'collected';
  if (sessions.length + binned.length + files === 0) return 'Nothing to delete.';
  const what = [
    ...(sessions.length === 0
      ? []
      : [`${plural(sessions.length, 'session')} last written more than ${plural(days, 'day')} ago`]),
    ...(binned.length === 0 ? [] : [`${plural(binned.length, 'deleted session')}`]),
  ];
  const all = [...what, `${plural(files, 'file')}`].join(', ');
  return isDone
    ? `Removed ${all}: ${sizeOf(bytes)} freed.`
    : `Would remove ${all}: ${sizeOf(bytes)}. Nothing was changed.`;
}

function stayedLines({ sessions: { length: removed }, stayed }: Collection, days: number): readonly Line[] {
  const { recent, kept, inUse, timeless, inBin } = stayed;
  const writtenRecently = `written or imported in the last ${plural(days, 'day')}`;
  const reasons = [
    ...(recent === 0 ? [] : [`${recent} ${writtenRecently}`]),
    ...(kept.length === 0 ? [] : [`${kept.length} marked as kept (${shortList(kept)})`]),
    ...(inUse.length === 0 ? [] : [`${inUse.length} in use right now (${shortList(inUse)})`]),
    ...(timeless.length === 0 ? [] : [`${timeless.length} of unknown age (${shortList(timeless)})`]),
  ];
  const count = recent + kept.length + inUse.length + timeless.length;
  const isAllRecent = removed === 0 && recent === count;
  const all = recent === 1 ? 'The only session was' : `All ${recent} sessions were`;
  return [
    ...(count === 0
      ? []
      : [
          [
            isAllRecent
              ? `${all} ${writtenRecently}.`
              : `${plural(count, 'session')} not deleted: ${reasons.join(', ')}.`,
          ],
        ]),
    ...(inBin === 0 ? [] : [[`${plural(inBin, 'deleted session')} can still be restored from the bin.`]]),
  ];
}
