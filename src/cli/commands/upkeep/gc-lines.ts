import type { Collection } from '../../../app/ports/upkeep.ts';
import type { Line } from '../../output/line.ts';
import { plural, shortList, sizeOf } from '../../output/wording.ts';

type Shown = { readonly days: number; readonly isEachShown: boolean };

/** What went, what stayed, and why. */
export function gcLines(collection: Collection, { days, isEachShown }: Shown): readonly Line[] {
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
