import type { Blocker } from '../log/blockers.ts';
import type { SessionHealth } from '../log/health.ts';
import type { RunStatus } from '../views/run-status.ts';

/** How a session stands as a whole. */
export const SESSION_STATES = ['running', 'blocked', 'complete', 'closed', 'salvaged', 'damaged'] as const;
export type SessionState = (typeof SESSION_STATES)[number];

/** A run as far as its session's state goes by it. One whose status cannot be told counts as open. */
type RunEnd = { readonly status: RunStatus | undefined; readonly isClosed: boolean };

/** Of several runs the one that needs most decides: what is held up, then what goes on, then what is over. */
export function sessionState(runs: readonly RunEnd[]): SessionState {
  const open = runs.filter(({ isClosed }) => !isClosed);
  if (runs.length > 0 && open.length === 0) return 'closed';
  if (open.some(({ status }) => status === 'blocked')) return 'blocked';
  return open.every(({ status }) => isOver(status)) ? 'complete' : 'running';
}

/** How a session stands whose log cannot be gone on with, whatever its runs are; nothing for a healthy one. */
export function brokenState(health: SessionHealth): 'salvaged' | 'damaged' | undefined {
  if (health.kind === 'healthy') return undefined;
  return health.kind !== 'unknown_version' && health.damage.reason === 'salvaged' ? 'salvaged' : 'damaged';
}

export function isOver(status: RunStatus | undefined): boolean {
  return status === 'complete' || status === 'complete_with_gaps';
}

/** Whether all that holds a run up can only come from a person. */
export function waitsForPerson(blockers: readonly Pick<Blocker, 'code'>[]): boolean {
  return blockers.length > 0 && blockers.every(({ code }) => code === 'USER_ONLY_DEPENDENCY');
}
