import type { Result } from 'neverthrow';
import type { StoreFailure } from '../../../app/ports/store-failure.ts';
import type { AuditedHealth, AuditFinding } from '../../../app/ports/upkeep.ts';
import { type AuditFindingKind, type DamageReason, isLocated } from '../../../core/log/health.ts';
import { accessingNow } from '../disk/disk.ts';
import { faultHealth, type LogFault } from '../session/read-manifest.ts';

/** A reason not to trust a part of a session. */
export type LogDamage = {
  readonly what: AuditFindingKind;
  readonly place: string;
  readonly offset: number;
  readonly fault: Fault;
};

type Fault =
  | { readonly kind: 'damaged'; readonly reason: DamageReason }
  | { readonly kind: 'unknown_version'; readonly version: string }
  | { readonly kind: 'unreadable'; readonly code: string };

/** Damage that plain reading found. */
export function plainDamage(place: string, fault: LogFault): LogDamage {
  const what = fault.kind === 'unknown_version' ? 'unknown_version' : 'session_damaged';
  return { what, place, offset: fault.offset, fault };
}

/** Reads something. A refusal of the operating system counts as damage, so that everything else is still checked. */
export function readForAudit<Value>(place: string, read: () => Value): Result<Value, LogDamage> {
  return accessingNow('verify session', place, read).mapErr((failure) => unreadable(place, failure));
}

export function unreadable(place: string, failure: StoreFailure): LogDamage {
  const code = failure.code === 'io_failed' ? failure.cause : failure.code;
  return { what: 'unreadable', place, offset: 0, fault: { kind: 'unreadable', code } };
}

export function damageFinding({ what, place, offset, fault }: LogDamage): AuditFinding {
  const finding = { severity: 'damage', what, place } as const;
  switch (fault.kind) {
    case 'unreadable':
      return { ...finding, code: fault.code };
    case 'unknown_version':
      return { ...finding, offset, version: fault.version };
    default:
      return { ...finding, ...(isPlace(fault.reason, offset) ? { offset } : {}), reason: fault.reason };
  }
}

/** An empty manifest has no place to name. */
function isPlace(reason: DamageReason, offset: number): boolean {
  return isLocated(reason) && !(reason === 'manifest_cut_short' && offset === 0);
}

/** The health of a session with this many good events before the damage. */
export function healthAfter(events: number, damage: LogDamage | undefined): AuditedHealth {
  if (damage === undefined) return { kind: 'healthy' };
  const { place, offset, fault } = damage;
  if (fault.kind === 'unreadable') return { kind: 'unreadable', place, code: fault.code };
  return faultHealth(events, place, { ...fault, offset });
}
