import { configHash } from '../../../core/settings/settings-in-effect.ts';
import { configProblemText } from '../../../core/settings/settings-words.ts';
import { activeKeys } from '../../../core/token/keyring.ts';
import type { ClientServices } from '../../ports/machine.ts';
import type { MachineHealth } from '../../ports/machine-health.ts';
import { verifySessions } from '../../upkeep/verify-sessions.ts';
import { shortPath } from '../client.ts';
import { type DoctorFinding, good } from './doctor-finding.ts';

const NODE_MIN = [20, 19] as const;
/** Of `sha256:` and the digits behind it. */
const HASH_SHOWN = 19;
const MEND = 'workrail doctor --fix';

export function checkNode({ machine }: Pick<ClientServices, 'machine'>): DoctorFinding {
  const [major = 0, minor = 0] = machine.nodeVersion.split('.').map(Number);
  const isOld = major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]);
  const text = `Node ${machine.nodeVersion} at ${machine.nodePath}`;
  return isOld
    ? { check: 'node', kind: 'fault', text, fix: `Install Node ${NODE_MIN.join('.')} or newer.` }
    : good('node', text);
}

export async function checkConfig(
  { sha256 }: Pick<ClientServices, 'sha256'>,
  { config }: Pick<MachineHealth, 'config'>,
): Promise<readonly DoctorFinding[]> {
  const resolved = await config();
  const { problems, settings } = resolved;
  const own = Object.values(settings).filter(({ origin }) => origin.kind !== 'default').length;
  if (problems.length === 0)
    return [
      good(
        'config',
        `settings: ${own === 0 ? 'all defaults' : `${own} set`} (${configHash(resolved, sha256).slice(0, HASH_SHOWN)})`,
      ),
    ];
  return problems.map((problem) => ({
    check: 'config',
    kind: 'fault',
    text: configProblemText(problem),
    fix: 'Put that right; no server starts before.',
  }));
}

export async function checkData(
  { machine }: Pick<ClientServices, 'machine'>,
  health: MachineHealth,
): Promise<readonly DoctorFinding[]> {
  const { path: whole, canWrite, open } = await health.dataFolder();
  const path = shortPath(machine, whole);
  if (canWrite === undefined) return [good('data', `data folder ${path}: not made yet, the first run does`)];
  if (!canWrite) {
    return [
      {
        check: 'data',
        kind: 'fault',
        text: `data folder ${path} cannot be written`,
        fix: 'Give your user the right to write there.',
      },
    ];
  }
  if (open.length === 0) return [good('data', `data folder ${path}: only you can look into it`)];
  return open.map((place) => ({
    check: 'data',
    kind: 'fault',
    text: `${place.path} is open to other users of this machine (mode ${place.found})`,
    fix: `${MEND}, or: chmod ${place.wanted} ${place.path}`,
    mend: async () => (await health.closeToOthers([place])).at(0),
  }));
}

/** A file that is open to others is told by the look at the data folder. */
export async function checkKeyring({ keyring }: MachineHealth): Promise<readonly DoctorFinding[]> {
  const found = await keyring.find();
  if (found.isOk()) {
    const keys = activeKeys(found.value).length;
    return [
      good(
        'keyring',
        keys === 0 ? 'keyring: none yet, the first run makes it' : `keyring: ${keys === 1 ? 'one key' : 'two keys'}`,
      ),
    ];
  }
  if (found.error.code === 'unsafe_permissions') return [];
  return [
    {
      check: 'keyring',
      kind: 'fault',
      text: `the keyring cannot be used (${found.error.code})`,
      fix: 'Put keys/keyring.json back from a backup. Without it no token of a running agent is genuine.',
    },
  ];
}

export async function checkLocks({ nativeLock }: MachineHealth): Promise<DoctorFinding> {
  const { isLoaded, cause } = await nativeLock();
  if (isLoaded) return good('locks', 'locks: those of the system');
  return {
    check: 'locks',
    kind: 'note',
    text: `locks: claim files, because fs-native-extensions does not load${cause === undefined ? '' : ` (${cause})`}`,
    fix: 'Everything works but workrail gc. To get the locks of the system: npm install -g workrail --include=optional',
  };
}

export async function checkIndex({ index }: MachineHealth): Promise<DoctorFinding> {
  const looked = await index.inspect();
  if (looked.isErr()) {
    return {
      check: 'index',
      kind: 'fault',
      text: `the session index cannot be read (${looked.error.code})`,
      fix: 'Delete cache/sessions.jsonl in the data folder.',
    };
  }
  const { stale, total } = looked.value;
  if (stale === 0) return good('index', `session index: knows all ${total}`);
  return {
    check: 'index',
    kind: 'fault',
    text: `session index: stale for ${stale} of ${Math.max(total, stale)}`,
    fix: MEND,
    mend: async () =>
      (await index.rebuild()).match(
        () => undefined,
        ({ code }) => code,
      ),
  };
}

type OnProgress = (progress: { readonly done: number; readonly total: number }) => void;

/** Damage is told and never mended: only a backup knows what stood there. */
export async function checkSessions(health: MachineHealth, onProgress: OnProgress): Promise<readonly DoctorFinding[]> {
  const verified = await verifySessions(health, {}, onProgress);
  if (verified.isErr()) {
    return [
      {
        check: 'sessions',
        kind: 'fault',
        text: `the sessions cannot be listed (${verified.error.code})`,
        fix: 'workrail session verify',
      },
    ];
  }
  const damaged = verified.value.sessions.filter(({ health: { kind } }) => kind !== 'healthy');
  if (damaged.length === 0) {
    const { sessions, events } = verified.value.totals;
    return [
      good('sessions', sessions === 0 ? 'sessions: none yet' : `sessions: ${sessions} healthy, ${events} events`),
    ];
  }
  return damaged.map(({ sessionId, health: { kind } }) => ({
    check: 'sessions',
    kind: 'fault',
    text: `session ${sessionId} is damaged (${kind}); it was left as it is`,
    fix: `workrail session verify ${sessionId}`,
  }));
}

/** Every workrail that the shell would find, besides the one that runs. */
export async function checkVersions(
  { machine, commands }: ClientServices,
  { versionOf }: Pick<MachineHealth, 'versionOf'>,
): Promise<DoctorFinding> {
  const onPath = await commands.find('workrail');
  const places = new Map(onPath.map(({ realPath, path }) => [realPath, path]));
  if (!places.has(machine.programPath)) places.set(machine.programPath, machine.programPath);
  const installed = await Promise.all(
    [...places].map(async ([realPath, path]) => ({
      path,
      version: realPath === machine.programPath ? machine.version : await versionOf(realPath),
    })),
  );
  const isOne = installed.every(({ version }) => version === machine.version);
  if (isOne) return good('versions', `workrail ${machine.version} at ${installed[0]?.path ?? machine.programPath}`);
  return {
    check: 'versions',
    kind: 'fault',
    text: `several versions are installed: ${installed.map(({ path, version }) => `${version ?? 'one that does not tell its version'} at ${path}`).join(', ')}`,
    fix: 'Remove those you do not need (npm uninstall -g workrail, in each Node that has it), then type: workrail doctor',
  };
}
