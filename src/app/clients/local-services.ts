import type { ResolvedSettings, SettingsLayer } from '../../core/settings/resolve-settings.ts';
import type { KeyringStore } from '../ports/keyring-store.ts';
import type { ClientServices } from '../ports/machine.ts';
import type { MachineHealth } from '../ports/machine-health.ts';

/** What setting up and looking after a machine needs. */
export type LocalServices = ClientServices & {
  readonly keyring: KeyringStore;
  readonly health: MachineHealth;
  /** The settings that hold in the workspace, read anew. */
  readonly config: () => Promise<ResolvedSettings>;
  /** Where they lie, lowest first. */
  readonly configFiles: readonly SettingsLayer['origin'][];
};
