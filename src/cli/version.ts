import { ok } from 'neverthrow';
import * as z from 'zod';
import type { RunCommand } from './command.ts';
import { commandShape } from './command-shape.ts';

export const version: RunCommand = async ({ program, switches }) => {
  const data: VersionData = { version: program.version, node: process.versions.node };
  const lines = [[data.version], ...(switches.isVerbose ? [[`node ${data.node}`]] : [])];
  return ok({ kind: 'done', data, lines, next: 'workrail --help' });
};

const versionData = z.strictObject({ version: z.string(), node: z.string() });
type VersionData = z.infer<typeof versionData>;

/** What `workrail version --json` prints. */
export const versionShape = commandShape('version', versionData);
