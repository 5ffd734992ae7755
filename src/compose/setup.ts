import { nodeHasher } from '../adapters/node-hasher.ts';
import { configFiles, loadConfig } from '../adapters/setup/config/load-config.ts';
import { machineHealth } from '../adapters/setup/machine-health.ts';
import { nodeCommands } from '../adapters/setup/node-commands.ts';
import { parseToml } from '../adapters/setup/parse-toml.ts';
import { nodeUserFiles } from '../adapters/setup/setup-files.ts';
import { thisMachine } from '../adapters/setup/this-machine.ts';
import type { LocalServices } from '../app/machine/setup/setup.ts';
import type { Store } from '../app/services.ts';

type Running = {
  readonly programPath: string;
  readonly version: string;
  readonly dataDir: string;
  readonly store: Pick<Store, 'keyring'>;
};

/** Joins what setting up this machine needs. */
export function openClients({ programPath, version, dataDir, store }: Running): LocalServices {
  const machine = thisMachine({ programPath, version });
  return {
    machine,
    files: nodeUserFiles,
    commands: nodeCommands(machine),
    sha256: nodeHasher.sha256,
    parseToml,
    keyring: store.keyring,
    health: machineHealth(machine, dataDir),
    config: () => loadConfig(machine),
    configFiles: configFiles(machine),
  };
}
