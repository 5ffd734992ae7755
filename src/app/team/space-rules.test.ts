import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { engine, tokenOf } from '../../../test/examples/engine.ts';
import { memoryServices } from '../../../test/examples/memory-services.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { memoryStore } from '../../adapters/memory-store/memory-store.ts';
import { derivedBits, SessionId } from '../../core/log/ids.ts';
import type { SpaceLimits } from '../../core/wire/team-paths.ts';
import { checkpoint } from '../run/checkpoint.ts';
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

test('what a server records counts toward the size of the space before it is measured again', async () => {
  const store = memoryStore(sha256);
  const time = { now: 1_000_000 };
  let measured = 0;
  const access = {
    settings: async () =>
      ok({
        handover: 'space',
        isFourEyes: false,
        limits: { openSessionsMax: 100, bytesMax: 100_000 },
        sources: [],
      } as const),
    use: async () => {
      measured += 1;
      return ok({ openSessions: 1, bytes: 1_000 });
    },
    handedTo: async () => ok(undefined),
  };
  const rules = spaceRules(async () => ok(access), { nowMs: () => time.now });
  const run = engine({ store, services: { sessions: rules.sessionsFor('me', store.sessions) } });
  let at = await run.start('test.plain');
  for (const letter of 'abc') at = await run.save(at, letter.repeat(40_000));
  const save = async () => {
    const output = { notesMarkdown: 'More.', artifacts: [] };
    return checkpoint(run.services, { checkpointToken: tokenOf(at, 'checkpointToken'), output });
  };
  expect((await save())._unsafeUnwrapErr()).toEqual({ code: 'space_full', limit: 'bytesMax', max: 100_000 });
  expect(measured).toBe(1);
  // What the next measurement finds counts instead.
  time.now += 60_000;
  expect((await save()).isOk()).toBe(true);
  expect(measured).toBe(2);
});
