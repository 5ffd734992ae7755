import * as z from 'zod';

/** How much the agent may do without a person, least first. A mode beyond the recommended one gives a warning. */
export const AUTONOMY = ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'] as const;
export const autonomySchema = z.enum(AUTONOMY);
export type Autonomy = z.infer<typeof autonomySchema>;

/** Changes only when and how a run warns; it never loosens a requirement. */
export const RISK_POLICY = ['conservative', 'balanced', 'aggressive'] as const;
export const riskPolicySchema = z.enum(RISK_POLICY);
export type RiskPolicy = z.infer<typeof riskPolicySchema>;

export const preferencesSchema = z.object({ autonomy: autonomySchema, riskPolicy: riskPolicySchema });
export type Preferences = Readonly<z.infer<typeof preferencesSchema>>;

/** The preferences of each mode. */
export const PRESETS: { readonly [mode in Autonomy]: Preferences } = {
  guided: { autonomy: 'guided', riskPolicy: 'conservative' },
  full_auto_stop_on_user_deps: { autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'balanced' },
  full_auto_never_stop: { autonomy: 'full_auto_never_stop', riskPolicy: 'conservative' },
};

/** Whether a value comes later in its order than a limit; without a limit nothing does. */
export function exceeds<Value extends string>(
  order: readonly Value[],
  value: Value,
  limit: Value | undefined,
): limit is Value {
  return limit !== undefined && order.indexOf(value) > order.indexOf(limit);
}

/**
 * How sure we are that a person said it: the agent says so, the answer came on a channel that its calls cannot reach, or
 * an approver signed it with a key.
 */
export const ASSURANCES = ['stated', 'confirmed', 'signed'] as const;
export type Assurance = (typeof ASSURANCES)[number];

/**
 * How well something is known, weakest first: the agent wrote it, the agent filled in a contract, WorkRail ran it, an
 * identity outside the agent's reach ran it.
 */
export const GRADES = ['asserted', 'reported', 'observed', 'verified'] as const;
export type Grade = (typeof GRADES)[number];
export const gradeSchema = z.enum(GRADES);

export function isAtLeast(grade: Grade | undefined, minimum: Grade): boolean {
  return grade !== undefined && GRADES.indexOf(grade) >= GRADES.indexOf(minimum);
}

/** The strongest of several grades. */
export function strongestGrade(grades: readonly (Grade | undefined)[]): Grade | undefined {
  return GRADES.findLast((grade) => grades.includes(grade));
}
