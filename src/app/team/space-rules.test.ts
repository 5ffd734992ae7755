import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { memoryServices } from '../../../test/examples/memory-services.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { derivedBits, SessionId } from '../../core/log/ids.ts';
import type { SpaceLimits } from '../../core/wire/team-paths.ts';
import { spaceRules } from './space-rules.ts';

/** A space that holds nothing yet, and whose clock stands still, so that it is measured only once. */
function space(limits: SpaceLimits, used = { openSessions: 0, bytes: 0 }) {
  const settings = { handover: 'space', isFourEyes: false, limits, sources: [] };
  const access = { settings: async () => ok(settings), use: async () => ok(used) };
  const rules = spaceRules(async () => ok(access as never), { nowMs: () => 0 });
  const { sessions } = memoryServices();
  const ruled = rules.sessionsFor('ann', sessions);
  let made = 0;
  const started = async (isRefused: boolean) => {
    made += 1;
    const id = SessionId.of(derivedBits(['space', made], sha256));
    const found = await ruled.exclusively(id, async () =>
      isRefused ? err({ code: 'refused' as const }) : ok('started'),
    );
    return found.match(
      (value) => value,
      (refusal) => ('limit' in refusal ? refusal.limit : refusal.code),
    );
  };
  return { start: () => started(false), refuse: () => started(true) };
}

test('a space takes no more sessions than its limit between two measurements', async () => {
  const { start } = space({ openSessionsMax: 2, bytesMax: 100 });
  expect([await start(), await start(), await start()]).toEqual(['started', 'started', 'openSessionsMax']);
});

test('a session that was not started after all does not count against the limit of a space', async () => {
  const { start, refuse } = space({ openSessionsMax: 2, bytesMax: 100 });
  expect([await refuse(), await refuse(), await start(), await start(), await start()]).toEqual([
    'refused',
    'refused',
    'started',
    'started',
    'openSessionsMax',
  ]);
});

test('a space that has reached its size takes nothing more', async () => {
  const { start } = space({ openSessionsMax: 2, bytesMax: 100 }, { openSessions: 0, bytes: 100 });
  expect(await start()).toBe('bytesMax');
});
