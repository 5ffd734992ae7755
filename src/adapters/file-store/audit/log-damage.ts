import type { AuditFinding, AuditFindingKind } from '../../../app/ports/store-audit.ts';
import type { DamageReason, SessionHealth } from '../../../core/log/health.ts';

/** Where the checked part of a session ends, and why. */
export type LogDamage = {
  readonly what: AuditFindingKind;
  readonly place: string;
  readonly offset: number;
  readonly fault: Fault;
};

type Fault =
  | { readonly kind: 'damaged'; readonly reason: DamageReason }
  | { readonly kind: 'unknown_version'; readonly version: string };

/** What reading found wrong anyway, without looking closer. */
export function plainDamage(place: string, fault: Fault & { readonly offset: number }): LogDamage {
  const what = fault.kind === 'unknown_version' ? 'unknown_version' : 'session_damaged';
  return { what, place, offset: fault.offset, fault };
}

export function damageFinding({ what, place, offset }: LogDamage): AuditFinding {
  return { severity: 'damage', what, place, offset };
}

/** The health of a session that holds so many good events before the damage. */
export function healthBehind(events: number, damage: LogDamage | undefined): SessionHealth {
  if (damage === undefined) return { kind: 'healthy' };
  const { place, offset, fault } = damage;
  if (fault.kind === 'unknown_version') return { kind: 'unknown_version', place, offset, version: fault.version };
  const kind = events > 0 ? 'corrupt_tail' : 'corrupt_head';
  return { kind, damage: { reason: fault.reason, place, offset } };
}
