import * as z from 'zod';
import { commandShape } from '../../command-shape.ts';

const versionData = z.strictObject({ version: z.string(), node: z.string() });
export type VersionData = z.infer<typeof versionData>;

/** What `workrail version --json` prints. */
export const versionShape = commandShape('version', versionData);
