import { configHash } from '../../../core/settings/settings-in-effect.ts';
import { configProblemText } from '../../../core/settings/settings-words.ts';
import { activeKeys } from '../../../core/token/keyring.ts';
import type { OnProgress } from '../../../core/work-progress.ts';
import type { ClientServices } from '../../ports/machine.ts';
import type { MachineHealth } from '../../ports/machine-health.ts';
import { verifySessions } from '../../upkeep/verify-sessions.ts';
import { shortPath } from '../client.ts';
import { type DoctorFinding, good } from './doctor-finding.ts';

const NODE_MIN = [20, 19] as const;
/** The length of the displayed hash, with `sha256:`. */
const HASH_SHOWN = 19;
const FIX_COMMAND = 'workrail doctor --fix';

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
        `settings: ${own === 0 ? 'all defaults' : `${own} set, all others default`} (${configHash(resolved, sha256).slice(0, HASH_SHOWN)})`,
      ),
    ];
  return problems.map((problem) => ({
    check: 'config',
    kind: 'fault',
    text: configProblemText(problem),
    fix: 'Fix this setting. Until then, no server starts.',
  }));
}

export async function checkData(
  { machine }: Pick<ClientServices, 'machine'>,
  health: MachineHealth,
): Promise<readonly DoctorFinding[]> {
  const { path: whole, canWrite, open } = await health.dataFolder();
  const path = shortPath(machine, whole);
  if (canWrite === undefined) return [good('data', `data folder ${path}: not created yet (the first run creates it)`)];
  if (!canWrite) {
    return [
      {
        check: 'data',
        kind: 'fault',
        text: `data folder ${path} is not writable`,
        fix: 'Give your user write permission there.',
      },
    ];
  }
  if (open.length === 0) return [good('data', `data folder ${path}: only your user can read it`)];
  return open.map((place) => ({
    check: 'data',
    kind: 'fault',
    text: `${place.path} can be read by other users of this machine (mode ${place.found})`,
    fix: `${FIX_COMMAND}, or: chmod ${place.wanted} ${place.path}`,
    applyFix: async () => (await health.closeToOthers([place])).at(0),
  }));
}

/** The check of the data folder reports files that are open to others. */
export async function checkKeyring({ keyring }: MachineHealth): Promise<readonly DoctorFinding[]> {
  const found = await keyring.find();
  if (found.isOk()) {
    const keys = activeKeys(found.value).length;
    return [
      good(
        'keyring',
        keys === 0 ? 'keyring: none yet (the first run creates it)' : `keyring: ${keys === 1 ? 'one key' : 'two keys'}`,
      ),
    ];
  }
  if (found.error.code === 'unsafe_permissions') return [];
  return [
    {
      check: 'keyring',
      kind: 'fault',
      text: `keyring: cannot be used (${found.error.code})`,
      fix: 'Restore keys/keyring.json from a backup. Without it, tokens of running agents are invalid.',
    },
  ];
}

export async function checkLocks({ nativeLock }: MachineHealth): Promise<DoctorFinding> {
  const { isLoaded, cause } = await nativeLock();
  if (isLoaded) return good('locks', 'file locks: native');
  return {
    check: 'locks',
    kind: 'note',
    text: `file locks: claim files, because fs-native-extensions does not load${cause === undefined ? '' : ` (${cause})`}`,
    fix: 'Everything except "workrail gc" works. To get native locks: npm install -g workrail --include=optional',
  };
}

export async function checkIndex({ index }: MachineHealth): Promise<DoctorFinding> {
  const inspected = await index.inspect();
  if (inspected.isErr()) {
    return {
      check: 'index',
      kind: 'fault',
      text: `session index: cannot be read (${inspected.error.code})`,
      fix: 'Delete cache/sessions.jsonl in the data folder.',
    };
  }
  const { stale, total } = inspected.value;
  if (stale === 0) return good('index', `session index: up to date (${total} ${total === 1 ? 'session' : 'sessions'})`);
  return {
    check: 'index',
    kind: 'fault',
    text: `session index: out of date for ${stale} of ${Math.max(total, stale)}`,
    fix: FIX_COMMAND,
    applyFix: async () =>
      (await index.rebuild()).match(
        () => undefined,
        ({ code }) => code,
      ),
  };
}

/** Damage is reported and never fixed: only a backup can restore it. */
export async function checkSessions(health: MachineHealth, onProgress: OnProgress): Promise<readonly DoctorFinding[]> {
  const verified = await verifySessions(health, {}, onProgress);
  if (verified.isErr()) {
    return [
      {
        check: 'sessions',
        kind: 'fault',
        text: `sessions: cannot be listed (${verified.error.code})`,
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
    text: `session ${sessionId} is damaged (${kind}) and was not changed`,
    fix: `workrail session verify ${sessionId}`,
  }));
}

/** Every workrail on the PATH, besides the one that is running. */
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
    text: `several versions are installed: ${installed.map(({ path, version }) => `${version ?? 'unknown version'} at ${path}`).join(', ')}`,
    fix: 'Remove those you do not need (npm uninstall -g workrail, in each Node installation), then run: workrail doctor',
  };
}
