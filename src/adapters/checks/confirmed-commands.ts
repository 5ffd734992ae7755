import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CommandConfirmations, ConfirmedCommand } from '../../app/ports/check-runner.ts';
import type { Hasher } from '../../app/ports/system-services.ts';
import { digestHex, ownJsonBytes } from '../../core/json/canonical-json.ts';
import { readableJson } from '../../core/json/json-value.ts';
import { readRegular } from '../guarded-file.ts';

/** One small file for each command and workspace, in the user's data directory. It shows what was confirmed. */
export function confirmedCommands(dataDir: string, { sha256 }: Hasher): CommandConfirmations {
  const folder = join(dataDir, 'confirmed-commands');
  const textOf = ({ command, workspace }: ConfirmedCommand) => `${readableJson({ v: 1, command, workspace })}\n`;
  const fileOf = ({ command, workspace }: ConfirmedCommand) =>
    join(folder, `${digestHex(sha256(ownJsonBytes({ v: 1, command, workspace })))}.json`);
  return {
    has: async (confirmed) => readIfThere(fileOf(confirmed)) === textOf(confirmed),
    add: async (confirmed) => {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      const file = fileOf(confirmed);
      // Renamed into place, so that a reader never sees half of it.
      const written = `${file}.${process.pid}`;
      writeFileSync(written, textOf(confirmed), { mode: 0o600 });
      renameSync(written, file);
    },
  };
}

/** A file that cannot be read confirms nothing. */
function readIfThere(file: string): string | undefined {
  try {
    return readRegular(file).toString();
  } catch {
    return undefined;
  }
}
