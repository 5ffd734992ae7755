import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import type { Machine } from '../../app/ports/machine.ts';

type Running = { readonly programPath: string; readonly version: string };

/** The machine that this process runs on. */
export function thisMachine({ programPath, version }: Running): Machine {
  return {
    platform: process.platform,
    home: homedir(),
    workspace: process.cwd(),
    env: process.env,
    join,
    nodePath: process.execPath,
    nodeVersion: process.versions.node,
    programPath: realpathSync(programPath),
    version,
  };
}
