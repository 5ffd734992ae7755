import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { fakeSetup } from '../../../../test/cli/fake-setup.ts';
import { HEALTHY } from '../../../../test/examples/audits.ts';
import { numberedSession } from '../../../../test/store-folder.ts';
import type { SessionId } from '../../../core/log/ids.ts';
import { checkSessions } from './check-machine.ts';

const SESSIONS = Array.from({ length: 300 }, (_, i) => numberedSession(i));
const damage = { reason: 'segment_missing', place: 'sessions/x', offset: 0 } as const;

/** Three hundred sessions, of which the tenth is damaged; the index may have noticed. */
async function checked(isFull: boolean, suspects: readonly SessionId[]) {
  const audited: SessionId[] = [];
  const { health } = fakeSetup();
  const found = await checkSessions(
    {
      ...health,
      sessions: { list: async () => ok(SESSIONS) },
      audit: {
        audit: async (sessionId) => {
          audited.push(sessionId);
          const isDamaged = sessionId === SESSIONS[10];
          return ok({ ...HEALTHY, sessionId, ...(isDamaged ? { health: { kind: 'corrupt_tail', damage } } : {}) });
        },
      },
    },
    { isFull, inspected: ok({ total: 300, stale: 0, suspects }), onProgress: () => undefined },
  );
  return { audited, found };
}

test('doctor reads the newest sessions in full, and those that the index finds suspect', async () => {
  const { audited, found } = await checked(false, [SESSIONS[10] ?? expect.fail('sessions')]);
  expect(audited).toHaveLength(51);
  expect(found).toMatchObject([{ kind: 'fault', fix: `workrail session verify ${SESSIONS[10]}` }]);
});

test('doctor says how many sessions it has read in full, and how to read all', async () => {
  const { audited, found } = await checked(false, []);
  expect(audited).toEqual(SESSIONS.slice(-50));
  expect(found).toMatchObject([{ kind: 'good', text: expect.stringMatching(/^sessions: 300 .*newest 50 .*--full/) }]);
});

test('doctor --full reads every session, and so does doctor without a usable index', async () => {
  const { audited, found } = await checked(true, []);
  expect([audited.length, found[0]?.kind]).toEqual([300, 'fault']);
  const { health } = fakeSetup();
  const failing = { ...health, sessions: { list: async () => err({ code: 'busy' } as never) } };
  expect(await checkSessions(failing, { isFull: false, onProgress: () => undefined })).toMatchObject([
    { kind: 'fault' },
  ]);
});
