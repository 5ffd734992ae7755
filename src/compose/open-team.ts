import { randomBytes } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { nodeBundleTools, readBundleFile } from '../adapters/bundle.ts';
import { fileStore } from '../adapters/file-store/file-store.ts';
import { yieldOften } from '../adapters/file-store/yield-often.ts';
import { teamDatabase } from '../adapters/postgres-store/postgres-store.ts';
import { nodeHasher, systemClock } from '../adapters/system.ts';
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
    random: () => randomBytes(TOKEN_BYTES),
    operator: () => `${userInfo().username}@${hostname()}`,
  };
}
