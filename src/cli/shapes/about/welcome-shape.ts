import * as z from 'zod';
import { commandShape } from '../envelope-shape.ts';

const welcomeData = z.strictObject({
  version: z.string(),
  dataDir: z.string(),
  commands: z.array(z.strictObject({ name: z.string(), summary: z.string() })),
});
export type WelcomeData = z.infer<typeof welcomeData>;

/** What `workrail --json`, without a command, prints. */
export const welcomeShape = commandShape('workrail', welcomeData);
