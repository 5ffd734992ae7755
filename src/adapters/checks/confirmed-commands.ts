import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandConfirmations, ConfirmedCommand } from '../../app/ports/check-runner.ts';
import type { Hasher } from '../../app/ports/system-services.ts';
import { digestHex, ownJsonBytes } from '../../core/json/canonical-json.ts';
import { readableJson } from '../../core/json/json-value.ts';

/** One small file for each command and workspace, in the user's data directory. */
export function confirmedCommands(dataDir: string, { sha256 }: Hasher): CommandConfirmations {
  const folder = join(dataDir, 'confirmed-commands');
  const fileOf = ({ command, workspace }: ConfirmedCommand) =>
    join(folder, `${digestHex(sha256(ownJsonBytes({ v: 1, command, workspace })))}.json`);
  return {
    has: async (command) => existsSync(fileOf(command)),
    add: async (command) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(fileOf(command), `${readableJson({ v: 1, ...command })}\n`, { mode: 0o600 });
    },
  };
}
