import { ownJsonBytes, type Sha256, type Sha256Digest } from '../json/canonical-json.ts';
import { autonomySchema, PRESETS, type Preferences, riskPolicySchema } from '../log/autonomy.ts';
import type { ResolvedSettings } from './resolve-settings.ts';
import { SETTING_NAMES } from './setting-keys.ts';

/** The preferences of a run that is started without a mode. */
export function defaultPreferences({ settings }: Pick<ResolvedSettings, 'settings'>): Preferences {
  const mode = autonomySchema.parse(settings.mode.value);
  const policy = riskPolicySchema.safeParse(settings.riskPolicy.value);
  return policy.success ? { ...PRESETS[mode], riskPolicy: policy.data } : PRESETS[mode];
}

/** A hash of the settings in effect. Two processes with the same hash behave alike. */
export function configHash({ settings }: Pick<ResolvedSettings, 'settings'>, sha256: Sha256): Sha256Digest {
  const values = Object.fromEntries(SETTING_NAMES.map((name) => [name, settings[name].value ?? null]));
  return sha256(ownJsonBytes(values));
}
