import { expect, test } from 'vitest';
import { enforces } from '../../enforces.ts';
import { isLong, share } from '../../volume.ts';
import type { Failure } from '../disk/failing.ts';
import { isReading, type Operation } from '../disk/intercept.ts';
import { crashExplorer } from './crash-explorer.ts';
import { BLANK_START, callsFrom, harmDone, type Start, startBehind, startBehindTornTail } from './failure-trial.ts';

const CODES = ['EIO', 'EMFILE', 'ENOSPC', 'EACCES'] as const;

const STARTS: { readonly [where: string]: () => Promise<Start> } = {
  'while keyring and workflow are laid down': async () => BLANK_START,
  'in the first append': () => startBehind(0),
  'in a process that has just started': () => startBehind(1),
  'in a process that has just started, behind a torn tail': () => startBehindTornTail(),
  'in the process that wrote what is there': () => startBehind(2, 1),
};

test.each(Object.entries(STARTS))(
  'a call that fails %s acknowledges nothing and does no harm',
  async (where, from) => {
    enforces('io_errors_are_typed', 'failed_fsync_poisons_writer', 'torn_tail_bytes_kept');
    const start = await from();
    const calls = await callsFrom(start);
    const explorer = crashExplorer();
    const wrong: string[] = [];
    let tried = 0;
    for (const [index, call] of calls.entries()) {
      for (const failure of failuresOf(call, index)) {
        tried += 1;
        const harm = await harmDone(start, failure, explorer);
        if (harm !== undefined)
          wrong.push(`${failure.code} ${failure.how} ${index} ${call.name} ${call.path}: ${harm}`);
      }
    }
    console.log(`${where}: ${calls.length} calls, ${tried} failures, ${explorer.counts().recoveries} recoveries`);
    expect(wrong).toEqual([]);
  },
  600_000,
);

function failuresOf(call: Operation, index: number): readonly Failure[] {
  const once = share(CODES, { from: index }).map((code) => ({ index, code, how: 'once' as const }));
  if (isReading(call)) return isLong ? once : once.slice(0, 1);
  const onwards = share(CODES, { from: index + 2 }).map((code) => ({ index, code, how: 'on' as const }));
  return [...once, ...onwards, { index, code: 'EIO', how: 'done' }];
}
