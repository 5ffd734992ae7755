import { ok } from 'neverthrow';
import type { RunCommand } from './command.ts';
import type { VersionData } from './shapes/about/version-shape.ts';

export const version: RunCommand = async ({ program, switches }) => {
  const data: VersionData = { version: program.version, node: process.versions.node };
  const lines = [[data.version], ...(switches.isVerbose ? [[`node ${data.node}`]] : [])];
  return ok({ kind: 'done', data, lines, next: 'workrail --help' });
};
