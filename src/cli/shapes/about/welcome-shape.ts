import * as z from 'zod';
import { CLIENT_IDS } from '../../../app/clients/client.ts';
import { commandShape } from '../../command-shape.ts';
import { statusData } from '../status/status-shape.ts';

const welcomeData = z.strictObject({
  version: z.string(),
  dataDir: z.string(),
  /** Clients that have a workrail among their servers. */
  registered: z.array(z.enum(CLIENT_IDS)),
  /** Clients that are found on this machine. */
  installed: z.array(z.enum(CLIENT_IDS)),
  /** As `workrail status` tells it; null when the sessions cannot be read. */
  status: statusData.nullable(),
});
export type WelcomeData = z.infer<typeof welcomeData>;

/** What `workrail --json`, without a command, prints. */
export const welcomeShape = commandShape('workrail', welcomeData);
