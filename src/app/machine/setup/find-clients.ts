import type { Client } from '../../clients/client.ts';
import { CLIENTS } from '../../clients/client-list.ts';
import type { ClientServices } from './setup-services.ts';

/** The clients that are installed on this machine, as far as one can see. */
export async function findClients({ machine, files, commands }: ClientServices): Promise<readonly Client[]> {
  const isInstalled = async ({ signs, command }: Client): Promise<boolean> => {
    for (const sign of signs(machine)) if (await files.isThere(sign)) return true;
    return command !== undefined && (await commands.find(command.program)).length > 0;
  };
  const installed = await Promise.all(CLIENTS.map(isInstalled));
  return CLIENTS.filter((_, i) => installed[i]);
}
