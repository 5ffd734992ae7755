import { access, chmod, constants, lstat, readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Machine } from '../../app/ports/machine.ts';
import type { MachineHealth, OpenPlace } from '../../app/ports/machine-health.ts';
import { isAcceptedSource } from '../../core/sources.ts';
import { layout } from '../file-store/disk/disk.ts';
import { storeOf } from '../file-store/file-store.ts';
import { fileStoreParts } from '../file-store/file-store-parts.ts';
import { indexUpkeep } from '../file-store/index/rebuild-index.ts';
import { readGuarded } from '../guarded-file.ts';
import { liveServerRecords } from '../server-records.ts';
import { loadConfig } from '../settings.ts';
import { fileProjectSources } from '../sources/project-sources.ts';
import { nodeHasher, systemClock } from '../system.ts';
import { nodeCommands } from './this-machine.ts';

const OTHERS = 0o077;
/** Printing a version takes only a moment. */
const ASKING_MS = 3_000;

/** The state of this machine, with its data in a given folder. */
export function machineHealth(machine: Machine, dataDir: string): MachineHealth {
  const parts = fileStoreParts(dataDir, nodeHasher.sha256);
  const { keyring, sessions, audit } = storeOf(parts);
  return {
    keyring,
    sessions,
    audit,
    index: indexUpkeep(parts),
    // It loads an MCP client, which nothing else needs.
    tryLaunch: async (trialLaunch) => (await import('./try-launch.ts')).launchTrial(machine)(trialLaunch),
    config: () => loadConfig({ ...machine, folders: [machine.workspace] }),
    unacceptedSources: async () => {
      const own = join(machine.home, '.workrail');
      const { list, workspace, accepted } = fileProjectSources({
        folder: machine.workspace,
        own,
        nowMs: systemClock.nowMs,
      });
      const [asked, known] = [(await list.read()).unwrapOr([]), await accepted()];
      const waiting = asked.filter((source) => source.kind === 'git' && !isAcceptedSource(known, workspace, source));
      return waiting.map(({ name }) => name);
    },
    servers: async () => liveServerRecords(dataDir),
    dataSize: () => sizeOfFolder(dataDir),
    dataFolder: async () => {
      const found = await Promise.all([openPlace(dataDir, '700'), openPlace(join(dataDir, layout.keyring), '600')]);
      return { path: dataDir, canWrite: await canWrite(dataDir), open: found.filter((place) => place !== undefined) };
    },
    closeToOthers: async (places) => {
      const troubles = await Promise.all(
        places.map(({ path, wanted }) =>
          chmod(path, Number.parseInt(wanted, 8)).then(
            () => undefined,
            (cause: unknown) => `${path} cannot be changed (${String(cause)})`,
          ),
        ),
      );
      return troubles.filter((trouble) => trouble !== undefined);
    },
    nativeLock: () =>
      import('fs-native-extensions').then(
        () => ({ isLoaded: true }),
        (cause: unknown) => ({ isLoaded: false, cause: codeOf(cause) }),
      ),
    versionOf: async (path) => (await packageVersion(machine, path)) ?? saidVersion(machine, path),
  };
}

async function sizeOfFolder(folder: string): Promise<{ readonly files: number; readonly bytes: number }> {
  const found = await readdir(folder, { withFileTypes: true, recursive: true }).catch(() => []);
  let [files, bytes] = [0, 0];
  for (const entry of found) {
    if (!entry.isFile()) continue;
    // A file may be gone by now.
    bytes += await lstat(join(entry.parentPath, entry.name)).then(
      ({ size }) => size,
      () => 0,
    );
    files += 1;
  }
  return { files, bytes };
}

async function canWrite(folder: string): Promise<boolean | undefined> {
  const isThere = await stat(folder).then(
    () => true,
    () => false,
  );
  if (!isThere) return undefined;
  return access(folder, constants.W_OK | constants.X_OK).then(
    () => true,
    () => false,
  );
}

/** Windows has no permission bits. */
async function openPlace(path: string, wanted: string): Promise<OpenPlace | undefined> {
  const found = await stat(path).catch(() => undefined);
  if (found === undefined || process.platform === 'win32' || (found.mode & OTHERS) === 0) return undefined;
  return { path, found: (found.mode & 0o777).toString(8), wanted };
}

/**
 * The package is the nearest folder above with a package.json; on Windows it is beside the command. A shell script may
 * start any version, wherever it is.
 */
async function packageVersion({ platform }: Machine, programPath: string): Promise<string | undefined> {
  if (platform === 'win32') {
    const beside = join(dirname(programPath), 'node_modules', 'workrail', 'package.json');
    const found = await packageText(beside);
    if (found !== undefined) return versionIn(found);
  }
  if (!programPath.endsWith('.js')) return undefined;
  for (let folder = dirname(programPath); folder !== dirname(folder); folder = dirname(folder)) {
    const text = await packageText(join(folder, 'package.json'));
    if (text === undefined) continue;
    return /"name"\s*:\s*"workrail"/.test(text) ? versionIn(text) : undefined;
  }
  return undefined;
}

const PACKAGE_BYTES_MAX = 2 ** 20;

async function packageText(path: string): Promise<string | undefined> {
  const read = await readGuarded(path, { bytesMax: PACKAGE_BYTES_MAX });
  return read.isErr() || read.value === undefined ? undefined : Buffer.from(read.value).toString();
}

async function saidVersion(machine: Machine, path: string): Promise<string | undefined> {
  const { said } = await nodeCommands(machine).run({ path, args: ['--version'], timeoutMs: ASKING_MS });
  return /(?:^|[\sv])(\d+\.\d+\.\d+[\w.+-]*)/.exec(said)?.[1];
}

function versionIn(text: string): string | undefined {
  return /"version"\s*:\s*"([^"]+)"/.exec(text)?.[1];
}

function codeOf(cause: unknown): string {
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
}
