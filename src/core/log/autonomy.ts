import * as z from 'zod';

/** How far the agent may go without a person, least first: the order by which recommendations warn. */
export const AUTONOMY = ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'] as const;
export const autonomySchema = z.enum(AUTONOMY);
export type Autonomy = z.infer<typeof autonomySchema>;

/** Moves warning thresholds and wording only; it never loosens a requirement. */
export const RISK_POLICY = ['conservative', 'balanced', 'aggressive'] as const;
export const riskPolicySchema = z.enum(RISK_POLICY);
export type RiskPolicy = z.infer<typeof riskPolicySchema>;

export const preferencesSchema = z.object({ autonomy: autonomySchema, riskPolicy: riskPolicySchema });
export type Preferences = { readonly autonomy: Autonomy; readonly riskPolicy: RiskPolicy };

/** What a mode name stands for. */
export const PRESETS: { readonly [mode in Autonomy]: Preferences } = {
  guided: { autonomy: 'guided', riskPolicy: 'conservative' },
  full_auto_stop_on_user_deps: { autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'balanced' },
  full_auto_never_stop: { autonomy: 'full_auto_never_stop', riskPolicy: 'conservative' },
};
