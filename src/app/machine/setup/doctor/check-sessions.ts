import { type DoctorFinding, good } from '../../../clients/doctor/doctor-finding.ts';
import type { MachineHealth } from '../../../ports/machine-health.ts';
import { verifySessions } from '../../../upkeep/verify-sessions.ts';

type OnProgress = (progress: { readonly done: number; readonly total: number }) => void;

/** Damage is told and never mended: only a backup knows what stood there. */
export async function checkSessions(health: MachineHealth, onProgress: OnProgress): Promise<readonly DoctorFinding[]> {
  const verified = await verifySessions(health, {}, onProgress);
  if (verified.isErr()) {
    return [
      {
        check: 'sessions',
        kind: 'fault',
        text: `the sessions cannot be listed (${verified.error.code})`,
        fix: 'workrail session verify',
      },
    ];
  }
  const damaged = verified.value.sessions.filter(({ health: { kind } }) => kind !== 'healthy');
  if (damaged.length === 0) {
    const { sessions, events } = verified.value.totals;
    return [
      good('sessions', sessions === 0 ? 'sessions: none yet' : `sessions: ${sessions} healthy, ${events} events`),
    ];
  }
  return damaged.map(({ sessionId, health: { kind } }) => ({
    check: 'sessions',
    kind: 'fault',
    text: `session ${sessionId} is damaged (${kind}); it was left as it is`,
    fix: `workrail session verify ${sessionId}`,
  }));
}
