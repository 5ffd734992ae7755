import * as z from 'zod';
import { command, done } from './command.ts';

export const version = command({
  example: 'workrail version --json',
  needsNoConfig: true,
  data: z.strictObject({ version: z.string(), node: z.string() }),
  run: async ({ program, switches }) => {
    const data = { version: program.version, node: process.versions.node };
    const lines = [[data.version], ...(switches.isVerbose ? [[`node ${data.node}`]] : [])];
    return done({ data, lines, next: 'workrail --help' });
  },
});
