import { SETTING_NAMES, type SettingName } from '../../../core/machine/config/config-keys.ts';
import { defaultPreferences } from '../../../core/machine/config/default-preferences.ts';
import type { ResolvedSettings } from '../../../core/machine/config/resolve-config.ts';
import type { ShownSetting } from '../../shapes/config/config-shapes.ts';

/** Every setting as it takes effect; where the default depends on something else, what it comes to. */
export function shownSettings(config: ResolvedSettings, dataDir: string): readonly ShownSetting[] {
  const inEffect: { readonly [name in SettingName]?: string } = {
    dataDir,
    riskPolicy: defaultPreferences(config).riskPolicy,
  };
  return SETTING_NAMES.map((key) => {
    const { value, origin } = config.settings[key];
    return { key, value: value ?? inEffect[key] ?? '', origin };
  });
}
