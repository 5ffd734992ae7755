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

/** `note`: worth knowing, and no fault. `mended`: it was a fault, and is none any more. */
export const FINDING_KINDS = ['good', 'note', 'fault', 'mended'] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** One thing that was looked at. */
export type DoctorFinding = {
  readonly check: DoctorCheck;
  readonly kind: FindingKind;
  readonly text: string;
  /** What to do about it. */
  readonly fix?: string;
  /** Mends it; tells why not where that fails. Faults without one are for a person. */
  readonly mend?: () => Promise<string | undefined>;
};

export function good(check: DoctorCheck, text: string): DoctorFinding {
  return { check, kind: 'good', text };
}
