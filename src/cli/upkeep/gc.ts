import { err, ok, type Result } from 'neverthrow';
import * as z from 'zod';
import type { Collection } from '../../app/ports/upkeep.ts';
import { collectGarbage, RETENTION_DAYS, type UpkeepServices } from '../../app/upkeep/collect-garbage.ts';
import { SessionId } from '../../core/log/ids.ts';
import { utcMinute } from '../../core/text/utc-time.ts';
import { plural, shellWord, shortList, sizeOf } from '../../core/text/words.ts';
import type { CommandContext, CommandProblem, RunCommand } from '../command.ts';
import { commandShape } from '../command-shape.ts';
import type { Line } from '../output/line.ts';
import { confirmLoss, upkeepProblem, wrongUse } from './upkeep-words.ts';

export const gc: RunCommand = async (context, { options }) => {
  const { program, switches, progress } = context;
  const days = daysOf(options['olderThan']);
  if (days.isErr()) return err(days.error);
  const isDryRun = options['dryRun'] === true;
  progress.show({ label: 'reading sessions' });
  const upkeep = await program.upkeep();
  const isBinEmptied = options['emptyBin'] === true;
  if (isBinEmptied && !isDryRun && options['yes'] !== true) {
    const confirmed = await confirmEmptying(context, upkeep, `workrail gc${again(options)} --yes`);
    if (confirmed.isErr()) return err(confirmed.error);
  }
  const request = { retentionDays: days.value, isBinEmptied, isDryRun };
  const collected = await collectGarbage(upkeep, request, ({ done, total }) =>
    progress.show(done < total ? { label: 'reading sessions', done, total } : { label: 'removing what nobody needs' }),
  );
  if (collected.isErr()) return err(upkeepProblem(collected.error, await program.dataDir()));
  return ok({
    kind: 'done',
    data: dataOf(collected.value, days.value),
    lines: gcLines(collected.value, { days: days.value, isEachShown: switches.isVerbose || isDryRun }),
    next: isDryRun ? `workrail gc${again(options)}` : 'workrail session verify',
  });
};

/** What is in the bin can be brought back until then, so taking it away is asked for like putting it in. */
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

/** A number of days or weeks. To remove what was written today is not for a broom. */
function daysOf(written: unknown): Result<number, CommandProblem> {
  if (written === undefined) return ok(RETENTION_DAYS);
  const [, count, unit] = /^(\d{1,5})([dw])$/.exec(String(written).trim().toLowerCase()) ?? [];
  const days = Number(count) * DAYS_IN[unit === 'w' ? 'w' : 'd'];
  if (days >= 1 && days <= DAYS_MAX) return ok(days);
  return err(wrongUse(`"${String(written)}" is no time.`, 'Give days or weeks, at least one day, like 90d or 8w.'));
}

function again(options: { readonly [name: string]: unknown }): string {
  const older = typeof options['olderThan'] === 'string' ? ` --older-than ${shellWord(options['olderThan'])}` : '';
  return `${older}${options['emptyBin'] === true ? ' --empty-bin' : ''}`;
}

function dataOf({ kind, sessions, binned, files, bytes, stayed }: Collection, olderThanDays: number): GcData {
  const { kept, inUse, timeless, ...counts } = stayed;
  return {
    isDryRun: kind === 'would_collect',
    olderThanDays,
    removed: { sessions: [...sessions], fromBin: [...binned], files, bytes },
    stayed: { ...counts, kept: [...kept], inUse: [...inUse], timeless: [...timeless] },
  };
}

type Shown = { readonly days: number; readonly isEachShown: boolean };

/** What went, what stayed, and why. */
function gcLines(collection: Collection, { days, isEachShown }: Shown): readonly Line[] {
  const { sessions, binned } = collection;
  return [
    ...(isEachShown ? sessions.map((id): Line => [`${id}  not written to for ${plural(days, 'day')}`]) : []),
    ...(isEachShown ? binned.map((id): Line => [`${id}  deleted`]) : []),
    [removedText(collection, days)],
    ...stayedLines(collection),
  ];
}

function removedText({ kind, sessions, binned, files, bytes }: Collection, days: number): string {
  const isDone = kind === 'collected';
  if (sessions.length + binned.length + files === 0) {
    return isDone ? 'There was nothing to remove.' : 'There is nothing to remove.';
  }
  const what = [
    ...(sessions.length === 0
      ? []
      : [`${plural(sessions.length, 'session')} not written to for ${plural(days, 'day')}`]),
    ...(binned.length === 0 ? [] : [`${plural(binned.length, 'deleted session')}`]),
  ];
  const all = [...what, `${plural(files, 'file')}`].join(', ');
  return isDone
    ? `Removed ${all}: ${sizeOf(bytes)} freed.`
    : `Would remove ${all}: ${sizeOf(bytes)}. Nothing was changed.`;
}

function stayedLines({ stayed: { recent, kept, inUse, timeless, inBin } }: Collection): readonly Line[] {
  const reasons = [
    ...(recent === 0 ? [] : [`${recent} written to or taken in since`]),
    ...(kept.length === 0 ? [] : [`${kept.length} marked to be kept (${shortList(kept)})`]),
    ...(inUse.length === 0 ? [] : [`${inUse.length} in use right now (${shortList(inUse)})`]),
    ...(timeless.length === 0 ? [] : [`${timeless.length} that tell no time (${shortList(timeless)})`]),
  ];
  const count = recent + kept.length + inUse.length + timeless.length;
  return [
    ...(count === 0 ? [] : [[`${plural(count, 'session')} ${count === 1 ? 'stays' : 'stay'}: ${reasons.join(', ')}.`]]),
    ...(inBin === 0 ? [] : [[`${plural(inBin, 'deleted session')} can still be brought back from the bin.`]]),
  ];
}

const count = z.int().min(0);
const sessions = z.array(SessionId.schema);

const gcData = z.strictObject({
  isDryRun: z.boolean(),
  olderThanDays: z.int().min(1),
  /** What went, or would go. Files and bytes are those of sessions and of what only they needed. */
  removed: z.strictObject({ sessions, fromBin: sessions, files: count, bytes: count }),
  /** What is still there, by why. */
  stayed: z.strictObject({
    recent: count,
    kept: sessions,
    inUse: sessions,
    timeless: sessions,
    /** Deleted sessions that can still be brought back. */
    inBin: count,
  }),
});
type GcData = z.infer<typeof gcData>;

/** What `workrail gc --json` prints. */
export const gcShape = commandShape('gc', gcData);
