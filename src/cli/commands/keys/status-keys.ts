import { err, ok } from 'neverthrow';
import type { RunCommand } from '../../command.ts';
import { exitCodeOf } from '../../exit-codes.ts';
import { explainStoreFailure } from '../../words.ts';
import { shownKeys } from './shown-keys.ts';

export const keysStatus: RunCommand = async ({ program }) => {
  const [{ keyring, sha256 }, dataDir] = await Promise.all([program.setup(), program.dataDir()]);
  const found = await keyring.find();
  if (found.isErr()) {
    const error = explainStoreFailure(found.error, dataDir);
    return err({ error, exitCode: exitCodeOf(error.code) });
  }
  const keys = shownKeys(found.value, sha256);
  return ok({
    kind: 'done',
    data: { dataDir, keys },
    lines:
      keys.current === null
        ? [[`No keys yet in ${dataDir}; the first run makes one.`]]
        : [
            [`current   ${keys.current}  `, { text: 'signs every token that is handed out', style: 'dim' }],
            keys.previous === null
              ? ['previous  none']
              : [
                  `previous  ${keys.previous}  `,
                  { text: 'tokens that it signed still work, until the next rotation', style: 'dim' },
                ],
          ],
    next: keys.current === null ? 'workrail init' : 'workrail keys rotate',
  });
};
