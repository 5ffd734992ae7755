import { expect, test } from 'vitest';
import { OTHER_RUN, RUN } from '../../../test/examples/ids.ts';
import { isClosed } from './closed-runs.ts';

test('a run is closed from the moment somebody says so until it is gone on with', () => {
  const closed = new Map([[RUN, 7]]);
  const at = (lastActivityIndex: number) => isClosed(closed, { runId: RUN, lastActivityIndex });
  expect([at(0), at(7), at(8)]).toEqual([true, true, false]);
  expect(isClosed(closed, { runId: OTHER_RUN, lastActivityIndex: 0 })).toBe(false);
});
