import { assert } from '../../assert.ts';
import { canonicalBytes, type Sha256, type Sha256Digest } from '../../json/canonical-bytes.ts';
import type { ResolvedSettings } from '../../settings/resolve-settings.ts';
import { SETTING_NAMES } from '../../settings/setting-keys.ts';

/** A name for the settings in effect, wherever they come from: two processes with one hash behave alike. */
export function configHash({ settings }: Pick<ResolvedSettings, 'settings'>, sha256: Sha256): Sha256Digest {
  const values = Object.fromEntries(SETTING_NAMES.map((name) => [name, settings[name].value ?? null]));
  const bytes = canonicalBytes(values);
  assert(bytes.isOk(), 'settings are JSON');
  return sha256(bytes.value);
}
