import { autonomySchema, PRESETS, type Preferences, riskPolicySchema } from '../log/autonomy.ts';
import type { ResolvedSettings } from './resolve-settings.ts';

/** How a run goes that is started without a mode. */
export function defaultPreferences({ settings }: Pick<ResolvedSettings, 'settings'>): Preferences {
  const mode = autonomySchema.parse(settings.mode.value);
  const policy = riskPolicySchema.safeParse(settings.riskPolicy.value);
  return policy.success ? { ...PRESETS[mode], riskPolicy: policy.data } : PRESETS[mode];
}
