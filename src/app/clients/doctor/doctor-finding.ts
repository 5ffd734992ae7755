import { defined } from '../../../core/json/json-value.ts';
import type { CHECKS } from '../../../core/wire/machine-shapes.ts';

export type DoctorCheck = (typeof CHECKS)[number];

/** `note`: worth knowing, but not a fault. `fixed`: a fault that was just fixed. */
export const FINDING_KINDS = ['good', 'note', 'fault', 'fixed'] as const;
export type FindingKind = (typeof FINDING_KINDS)[number];

/** The result of one check. */
export type DoctorFinding = {
  readonly check: DoctorCheck;
  readonly kind: FindingKind;
  readonly text: string;
  /** The client that was started, for a finding about a registration. */
  readonly client?: string;
  /** What to do about it. */
  readonly fix?: string;
  /** Fixes it; returns why that failed. Faults without it need a person. */
  readonly applyFix?: () => Promise<string | undefined>;
};

/** The findings of one check. A note or a fault says what to do; some faults can also be fixed automatically. */
export function findingsOf(check: DoctorCheck) {
  return {
    good: (text: string): DoctorFinding => ({ check, kind: 'good', text }),
    note: (text: string, fix: string, applyFix?: DoctorFinding['applyFix']): DoctorFinding => ({
      check,
      kind: 'note',
      text,
      fix,
      ...defined({ applyFix }),
    }),
    fault: (text: string, fix: string, applyFix?: DoctorFinding['applyFix']): DoctorFinding => ({
      check,
      kind: 'fault',
      text,
      fix,
      ...defined({ applyFix }),
    }),
  };
}
