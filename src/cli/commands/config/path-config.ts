import { ok } from 'neverthrow';
import type { RunCommand } from '../../command.ts';
import type { ShownConfigFile } from '../../shapes/config/config-shapes.ts';

export const configPath: RunCommand = async ({ program }) => {
  const { configFiles, files } = await program.setup();
  const shown: readonly ShownConfigFile[] = await Promise.all(
    configFiles.map(async ({ kind, file }) => ({ kind, file, isThere: await files.isThere(file) })),
  );
  return ok({
    kind: 'done',
    data: { files: shown },
    lines: shown.map(({ kind, file, isThere }) => [
      `${kind.padEnd('workspace'.length)}  ${file}`,
      { text: isThere ? '' : '  (not there)', style: 'dim' },
    ]),
    next: 'workrail config list',
  });
};
