import type { ResolvedSettings, SettingsLayer } from '../../core/settings/resolve-settings.ts';
import type { KeyidOf, KeyringStore } from '../ports/keyring-store.ts';
import type { ClientServices } from '../ports/machine.ts';
import type { MachineHealth } from '../ports/machine-health.ts';

/** What setting up and checking a machine needs. */
export type LocalServices = ClientServices & {
  readonly keyring: KeyringStore;
  readonly keyidOf: KeyidOf;
  readonly health: MachineHealth;
  /** The current settings of the workspace, or of these folders too. */
  readonly config: (folders?: readonly string[]) => Promise<ResolvedSettings>;
  /** The settings files, lowest precedence first. */
  readonly configFiles: readonly SettingsLayer['origin'][];
};
