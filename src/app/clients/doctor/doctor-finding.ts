export const CHECKS = [
  'node',
  'config',
  'data',
  'keyring',
  'locks',
  'index',
  'sessions',
  'versions',
  'clients',
] as const;
export type DoctorCheck = (typeof CHECKS)[number];

/** `note`: worth knowing, but not a fault. `fixed`: a fault that was just fixed. */
export const FINDING_KINDS = ['good', 'note', 'fault', 'fixed'] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** The result of one check. */
export type DoctorFinding = {
  readonly check: DoctorCheck;
  readonly kind: FindingKind;
  readonly text: string;
  /** What to do about it. */
  readonly fix?: string;
  /** Fixes the fault; returns why that failed. Faults without it need a person. */
  readonly applyFix?: () => Promise<string | undefined>;
};

export function good(check: DoctorCheck, text: string): DoctorFinding {
  return { check, kind: 'good', text };
}
