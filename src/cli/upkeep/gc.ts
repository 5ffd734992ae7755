import { err, ok, type Result } from 'neverthrow';
import type { Collection } from '../../app/ports/upkeep.ts';
import { collectGarbage, RETENTION_DAYS } from '../../app/upkeep/collect-garbage.ts';
import type { UpkeepServices } from '../../app/upkeep/upkeep-services.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import { utcMinute } from '../../core/text/utc-time.ts';
import type { CommandContext, CommandProblem, RunCommand } from '../command.ts';
import { confirmLoss } from '../commands/upkeep/confirm-loss.ts';
import { gcLines } from '../commands/upkeep/gc-lines.ts';
import type { Line } from '../output/line.ts';
import { plural } from '../output/wording.ts';
import type { GcData } from '../shapes/upkeep/gc-shape.ts';
import { upkeepProblem, wrongUse } from './upkeep-words.ts';

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
