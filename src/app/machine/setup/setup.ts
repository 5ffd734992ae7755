import type { ConfigLayer, ResolvedConfig } from '../../../core/machine/config/resolve-config.ts';
import type { KeyringStore } from '../../ports/keyring-store.ts';
import type { MachineHealth } from './doctor/machine-health.ts';
import type { SetupServices } from './setup-services.ts';

/** What setting up and looking after a machine needs. */
export type Setup = SetupServices & {
  readonly keyring: KeyringStore;
  readonly health: MachineHealth;
  /** The settings that hold in the workspace, read anew. */
  readonly config: () => Promise<ResolvedConfig>;
  /** Where they lie, lowest first. */
  readonly configFiles: readonly ConfigLayer['origin'][];
};
