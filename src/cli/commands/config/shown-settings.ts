import type { ResolvedSettings } from '../../../core/settings/resolve-settings.ts';
import { SETTING_NAMES, type SettingName } from '../../../core/settings/setting-keys.ts';
import { defaultPreferences } from '../../../core/settings/settings-in-effect.ts';
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
