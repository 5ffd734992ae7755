import { posix } from 'node:path';
import { err, ok } from 'neverthrow';
import { parseToml } from '../../src/adapters/clients/user-files.ts';
import { memoryStore } from '../../src/adapters/memory-store/memory-store.ts';
import { nodeHasher, storeKeyOf } from '../../src/adapters/system.ts';
import type { LocalServices } from '../../src/app/clients/local-services.ts';
import type { Machine, ProgramCall, UserFiles } from '../../src/app/ports/machine.ts';
import type { MachineHealth } from '../../src/app/ports/machine-health.ts';
import type { SessionAccess } from '../../src/cli/program.ts';
import { type ResolvedSettings, resolveSettings } from '../../src/core/settings/resolve-settings.ts';

export const HOME = '/home/ada';
export const PROGRAM = '/opt/workrail/dist/workrail.js';

type Fake = {
  /** Files by path. Commands change them. */
  readonly files?: Map<string, string>;
  readonly machine?: Partial<Machine>;
  /** Programs on the PATH, by name. */
  readonly programs?: { readonly [name: string]: readonly string[] };
  readonly onRun?: (run: ProgramCall) => void;
  /** Paths that cannot be written. */
  readonly sealed?: readonly string[];
  readonly health?: Partial<MachineHealth>;
  readonly config?: () => ResolvedSettings;
};

/** A machine in memory. Only the editors and the keyring are real. */
export function fakeSetup(fake: Fake = {}): LocalServices {
  const { files = new Map<string, string>(), programs = {} } = fake;
  const store = memoryStore(nodeHasher.sha256);
  const machine: Machine = {
    platform: 'linux',
    home: HOME,
    workspace: '/work/shop',
    env: {},
    join: posix.join,
    nodePath: '/usr/bin/node',
    nodeVersion: '20.19.0',
    programPath: PROGRAM,
    version: '1.2.3',
    ...fake.machine,
  };
  const config = async () => fake.config?.() ?? resolveSettings([], machine.env);
  const healthy: MachineHealth = {
    dataFolder: async () => ({ path: '/data/workrail', canWrite: true, open: [] }),
    closeToOthers: async () => [],
    servers: async () => [],
    dataSize: async () => ({ files: 0, bytes: 0 }),
    nativeLock: async () => ({ isLoaded: true }),
    index: { inspect: async () => ok({ total: 0, stale: 0, suspects: [] }), rebuild: async () => ok(undefined) },
    keyring: store.keyring,
    sessions: store.sessions,
    audit: { audit: async (sessionId) => err({ code: 'session_not_found', sessionId }) },
    versionOf: async () => undefined,
    tryLaunch: async () => ({ kind: 'works', version: machine.version, tools: 6, ms: 100 }),
    config,
    unacceptedSources: async () => [],
  };
  return {
    machine,
    files: memoryFiles(files, fake.sealed ?? []),
    commands: {
      find: async (name) => (programs[name] ?? []).map((path) => ({ path, realPath: path })),
      run: async (run) => {
        fake.onRun?.(run);
        return { exitCode: 0, said: '' };
      },
    },
    sha256: nodeHasher.sha256,
    parseToml,
    keyring: store.keyring,
    keyidOf: (key) => storeKeyOf(key).keyid,
    health: { ...healthy, ...fake.health },
    config,
    configFiles: [
      { kind: 'user', file: `${HOME}/.workrail/config.json` },
      { kind: 'workspace', file: '/work/shop/.workrail/config.json' },
    ],
  };
}

function memoryFiles(files: Map<string, string>, sealed: readonly string[]): UserFiles {
  const isFolder = (path: string) => [...files.keys()].some((file) => file.startsWith(`${path}/`));
  return {
    read: async (path) => ok(files.get(path)),
    exists: async (path) => files.has(path) || isFolder(path),
    put: async (path, text) => {
      if (sealed.includes(path)) return err({ code: 'file_failed', path, cause: 'EACCES' });
      files.set(path, text);
      return ok([]);
    },
    remove: async (path) => {
      files.delete(path);
      return ok(undefined);
    },
    removeEmpty: async () => undefined,
  };
}

/** An empty store. */
export function emptyOverview(): SessionAccess {
  return {
    ...memoryStore(nodeHasher.sha256),
    hasher: nodeHasher,
    workspace: { observe: async () => [], tree: async () => undefined },
    clock: { nowMs: () => 0 },
    tokenForm: 'compact',
    folder: '/work/shop',
    columns: () => 80,
  };
}
