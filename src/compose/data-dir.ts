import { loadOwnConfig } from '../adapters/settings.ts';
import { dataDir } from '../adapters/setup/config/data-dir.ts';

/** Where this machine keeps sessions. */
export async function findDataDir(): Promise<string> {
  const { value } = (await loadOwnConfig(undefined)).settings.dataDir;
  return dataDir(
    typeof value === 'string' ? { ...process.env, WORKRAIL_DATA_DIR: value } : process.env,
    process.platform,
  );
}
