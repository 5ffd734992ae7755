import { assert } from '../../assert.ts';
import { canonicalBytes, type Sha256, type Sha256Digest } from '../../json/canonical-bytes.ts';
import { CONFIG_NAMES } from './config-keys.ts';
import type { ResolvedConfig } from './resolve-config.ts';

/** A name for the settings in effect, wherever they come from: two processes with one hash behave alike. */
export function configHash({ settings }: Pick<ResolvedConfig, 'settings'>, sha256: Sha256): Sha256Digest {
  const values = Object.fromEntries(CONFIG_NAMES.map((name) => [name, settings[name].value ?? null]));
  const bytes = canonicalBytes(values);
  assert(bytes.isOk(), 'settings are JSON');
  return sha256(bytes.value);
}
