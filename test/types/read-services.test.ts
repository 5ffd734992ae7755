import { expect, expectTypeOf, test } from 'vitest';
import type { KeyringStore } from '../../src/app/ports/keyring-store.ts';
import type { AppendPermit, SessionReader, SessionStore } from '../../src/app/ports/session-store.ts';
import type { rehydrate } from '../../src/app/run/rehydrate.ts';
import type { ReadServices, Services } from '../../src/app/services.ts';
import type { SessionId } from '../../src/core/log/ids.ts';
import { enforces } from '../enforces.ts';
import { SESSION } from '../examples/ids.ts';
import { PLANS } from '../examples/session.ts';

test('a use case that only reads cannot append: it does not compile', () => {
  enforces('append_needs_witness', 'rehydrate_cannot_reach_append');
  expectTypeOf<Parameters<typeof rehydrate>[0]>().toEqualTypeOf<ReadServices>();
  expectTypeOf<ReadServices['sessions']>().toEqualTypeOf<SessionReader>();
  expectTypeOf<keyof ReadServices['pinnedWorkflows']>().toEqualTypeOf<'get'>();
  expectTypeOf<keyof ReadServices['keyring']>().toEqualTypeOf<'find' | 'known'>();
  expectTypeOf<Services>().toExtend<ReadServices>();
  const calls = (services: ReadServices, permit: AppendPermit) => [
    // @ts-expect-error a reader has no gate
    services.sessions.exclusively(SESSION, async () => undefined),
    // @ts-expect-error a reader cannot append
    services.sessions.append(permit, PLANS.start),
    // @ts-expect-error a reader pins nothing
    services.pinnedWorkflows.pin,
    // @ts-expect-error a reader makes no keyring
    services.keyring.open,
    // @ts-expect-error a reader rotates no keys
    services.keyring.rotate,
  ];
  expect(calls).toBeTypeOf('function');
});

test('appending is the only way to change a session, and it needs a permit from the gate', () => {
  enforces('append_is_the_only_mutation', 'append_needs_witness');
  expectTypeOf<Exclude<keyof SessionStore, keyof SessionReader>>().toEqualTypeOf<
    'exclusively' | 'append' | 'appendMany' | 'markSalvaged' | 'markOrigin'
  >();
  expectTypeOf<keyof SessionReader>().toEqualTypeOf<
    'load' | 'loadValidPrefix' | 'makeDurable' | 'storedReply' | 'list'
  >();
  expectTypeOf<keyof ReadServices['snapshots'] | keyof ReadServices['artifacts']>().toEqualTypeOf<'get' | 'getJson'>();
  expectTypeOf<keyof KeyringStore>().toEqualTypeOf<'adopt' | 'find' | 'known' | 'open' | 'rotate' | 'repair'>();
  const calls = (sessions: SessionStore, sessionId: SessionId) => [
    // @ts-expect-error an object is not a permit
    sessions.append({}, PLANS.start),
    // @ts-expect-error a session id is not a permit
    sessions.append(sessionId, PLANS.start),
    // @ts-expect-error a session id does not allow marking a session
    sessions.markSalvaged(sessionId, undefined),
  ];
  expect(calls).toBeTypeOf('function');
});
