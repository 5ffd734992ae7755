import { CONFIG_NAMES, type ConfigName } from '../../../core/machine/config/config-keys.ts';
import { defaultPreferences } from '../../../core/machine/config/default-preferences.ts';
import type { ResolvedConfig } from '../../../core/machine/config/resolve-config.ts';
import type { ShownSetting } from '../../shapes/config/config-shapes.ts';

/** Every setting as it takes effect; where the default depends on something else, what it comes to. */
export function shownSettings(config: ResolvedConfig, dataDir: string): readonly ShownSetting[] {
  const inEffect: { readonly [name in ConfigName]?: string } = {
    dataDir,
    riskPolicy: defaultPreferences(config).riskPolicy,
  };
  return CONFIG_NAMES.map((key) => {
    const { value, origin } = config.settings[key];
    return { key, value: value ?? inEffect[key] ?? '', origin };
  });
}
