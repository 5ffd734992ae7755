import type { Client } from '../../clients/client.ts';
import { inspectClient } from '../../clients/inspect-client.ts';
import { findClients } from './find-clients.ts';
import type { ClientServices } from './setup-services.ts';

export type Registrations = {
  /** Clients that know us, for all of the user's work or for this folder. */
  readonly registered: readonly Client[];
  readonly installed: readonly Client[];
};

/** Who could start us, by their files alone; nothing is started. */
export async function registrations(services: ClientServices): Promise<Registrations> {
  const installed = await findClients(services);
  const isRegistered = async (client: Client): Promise<boolean> => {
    const looked = await Promise.all([
      inspectClient(services, client, 'user'),
      inspectClient(services, client, 'project'),
    ]);
    return looked.some((one) => one?.state.kind === 'same' || one?.state.kind === 'other');
  };
  const known = await Promise.all(installed.map(isRegistered));
  return { installed, registered: installed.filter((_, i) => known[i]) };
}
