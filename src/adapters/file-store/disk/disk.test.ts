import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { accessing, accessingNow } from './disk.ts';

const refused = Object.assign(new Error("EACCES: permission denied, open '/home/ada/store/sessions/x'"), {
  code: 'EACCES',
  path: '/home/ada/store/sessions/x',
});
const told = err({ code: 'io_failed', operation: 'read', place: 'sessions/x', cause: 'EACCES' });

test("a store failure contains the system's error code but no path of this machine", async () => {
  enforces('error_details_deterministic');
  const fail = () => {
    throw refused;
  };
  expect(accessingNow('read', 'sessions/x', fail)).toEqual(told);
  expect(await accessing('read', 'sessions/x', async () => fail())).toEqual(told);
});

test.each([
  new Error('bug: something is wrong'),
  Object.assign(new TypeError('The "path" argument must be of type string'), { code: 'ERR_INVALID_ARG_TYPE' }),
])('what is no refusal of the system is our own bug and flies on: %s', (bug) => {
  const fail = () => {
    throw bug;
  };
  expect(() => accessingNow('read', 'sessions/x', fail)).toThrow(bug);
});
