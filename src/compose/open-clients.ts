import { machineHealth } from '../adapters/clients/check-machine-health.ts';
import { nodeCommands, thisMachine } from '../adapters/clients/this-machine.ts';
import { nodeUserFiles, parseToml } from '../adapters/clients/user-files.ts';
import { configFiles, loadConfig } from '../adapters/settings.ts';
import { nodeHasher, storeKeyOf } from '../adapters/system.ts';
import type { LocalServices } from '../app/clients/local-services.ts';
import type { Store } from '../app/ports/store.ts';

type Running = {
  readonly programPath: string;
  readonly version: string;
  readonly dataDir: string;
  readonly store: Pick<Store, 'keyring'>;
};

/** What setting up this machine needs. */
export function openClients({ programPath, version, dataDir, store }: Running): LocalServices {
  const machine = thisMachine({ programPath, version });
  return {
    machine,
    files: nodeUserFiles(machine),
    commands: nodeCommands(machine),
    sha256: nodeHasher.sha256,
    parseToml,
    keyring: store.keyring,
    keyidOf: (key) => storeKeyOf(key).keyid,
    health: machineHealth(machine, dataDir),
    config: (folders = []) => loadConfig({ ...machine, folders: [...folders, machine.workspace] }),
    configFiles: configFiles({ ...machine, folders: [machine.workspace] }),
  };
}
