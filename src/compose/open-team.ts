import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join, resolve } from 'node:path';
import { atExit } from '../adapters/at-exit.ts';
import { nodeBundleTools, readBundleFile } from '../adapters/bundle.ts';
import { fileStore } from '../adapters/file-store/file-store.ts';
import { yieldOften } from '../adapters/file-store/yield-often.ts';
import { teamDatabase } from '../adapters/postgres-store/postgres-store.ts';
import { gitCopies } from '../adapters/sources/git-copies.ts';
import { sourceInspector } from '../adapters/sources/source-folders.ts';
import { nodeHasher, storeKeyOf, systemClock } from '../adapters/system.ts';
import type { TeamAccess } from '../cli/program.ts';

const TOKEN_BYTES = 32;

/** What the commands about a team's database need. Loading this loads the driver; nothing connects yet. */
export function openTeam(): TeamAccess {
  return {
    tools: nodeBundleTools,
    yieldNow: yieldOften(),
    database: (url) => teamDatabase(url, nodeHasher.sha256),
    folder: (path) => fileStore(path, nodeHasher.sha256),
    readKeyFile: readBundleFile,
    clock: systemClock,
    sha256: nodeHasher.sha256,
    keyidOf: (key) => storeKeyOf(key).keyid,
    random: () => randomBytes(TOKEN_BYTES),
    gitSources: () => {
      const folder = mkdtempSync(join(tmpdir(), 'workrail-sources-'));
      const clear = () => rmSync(folder, { recursive: true, force: true });
      const forget = atExit(clear);
      return {
        copies: gitCopies(folder),
        inspector: sourceInspector(folder),
        resolvePath: (path) => resolve(path),
        clear: () => {
          clear();
          forget();
        },
      };
    },
    operator: () => `${userInfo().username}@${hostname()}`,
  };
}
