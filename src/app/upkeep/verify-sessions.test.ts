import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { OTHER_SESSION, SESSION } from '../../../test/examples/ids.ts';
import type { WorkProgress } from '../../core/flow.ts';
import type { SessionId } from '../../core/log/ids.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { SessionAudit } from '../ports/upkeep.ts';
import { verifySessions } from './verify-sessions.ts';

const damage = { reason: 'segment_missing', place: 'sessions/x', offset: 0 } as const;
const audits: { readonly [id: string]: SessionAudit } = {
  [SESSION]: {
    sessionId: SESSION,
    health: { kind: 'healthy' },
    events: 3,
    bytes: 100,
    findings: [],
    signature: { kind: 'unsigned' },
  },
  [OTHER_SESSION]: {
    sessionId: OTHER_SESSION,
    health: { kind: 'corrupt_tail', damage },
    events: 2,
    bytes: 50,
    findings: [{ severity: 'damage', what: 'session_damaged', place: 'sessions/x', offset: 0 }],
    signature: { kind: 'unsigned' },
  },
};
const services = {
  sessions: { list: async () => ok([SESSION, OTHER_SESSION]) },
  audit: { audit: async (sessionId: SessionId) => ok(audits[sessionId] as SessionAudit) },
};

test('all sessions are verified one after the other, with progress and totals', async () => {
  const progress: WorkProgress[] = [];
  expect(await verifySessions(services, {}, (step) => progress.push(step))).toEqual(
    ok({
      sessions: [audits[SESSION], audits[OTHER_SESSION]],
      totals: { sessions: 2, damaged: 1, events: 5, bytes: 150 },
    }),
  );
  expect(progress).toEqual([0, 1, 2].map((done) => ({ done, total: 2 })));
});

test('only named sessions are verified', async () => {
  expect(await verifySessions(services, { ids: [SESSION] })).toEqual(
    ok({ sessions: [audits[SESSION]], totals: { sessions: 1, damaged: 0, events: 3, bytes: 100 } }),
  );
});

test('a session that disappears before its turn is skipped unless it was named', async () => {
  const gone = { code: 'session_not_found', sessionId: SESSION } as const;
  const audit = async (sessionId: SessionId) => (sessionId === SESSION ? err(gone) : services.audit.audit(sessionId));
  const progress: WorkProgress[] = [];
  const raced = { ...services, audit: { audit } };
  expect(await verifySessions(raced, {}, (step) => progress.push(step))).toMatchObject(
    ok({ sessions: [audits[OTHER_SESSION]], totals: { sessions: 1, damaged: 1 } }),
  );
  expect(progress).toEqual([0, 1, 2].map((done) => ({ done, total: 2 })));
  expect(await verifySessions(raced, { ids: [SESSION] })).toEqual(err(gone));
});

test('sessions that cannot be listed are refused and not called healthy', async () => {
  const failure: StoreFailure = { code: 'io_failed', operation: 'verify', place: 'sessions', cause: 'EACCES' };
  expect(await verifySessions({ ...services, sessions: { list: async () => err(failure) } }, {})).toEqual(err(failure));
});
