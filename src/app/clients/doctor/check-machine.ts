import { ok, type Result } from 'neverthrow';
import type { OnProgress } from '../../../core/flow.ts';
import { appliedSettings, changesText, serverName, serverStanding } from '../../../core/settings/applied-settings.ts';
import { configHash } from '../../../core/settings/settings-in-effect.ts';
import { configProblemText } from '../../../core/settings/settings-words.ts';
import { plural } from '../../../core/text/words.ts';
import { activeKeys } from '../../../core/token/keyring.ts';
import type { ClientServices } from '../../ports/machine.ts';
import type { IndexInspection, MachineHealth } from '../../ports/machine-health.ts';
import type { StoreFailure } from '../../ports/store-failure.ts';
import { verifySessions } from '../../upkeep/verify-sessions.ts';
import { shortPath } from '../client.ts';
import { type DoctorFinding, findingsOf } from './doctor-finding.ts';

const NODE_MIN = [20, 19] as const;
/** The length of the displayed hash, with `sha256:`. */
const HASH_SHOWN = 19;
const FIX_COMMAND = 'workrail doctor --fix';

export function checkNode({ machine }: Pick<ClientServices, 'machine'>): DoctorFinding {
  const [major = 0, minor = 0] = machine.nodeVersion.split('.').map(Number);
  const isOld = major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1]);
  const text = `Node ${machine.nodeVersion} at ${machine.nodePath}`;
  const { good, fault } = findingsOf('node');
  return isOld ? fault(text, `Install Node ${NODE_MIN.join('.')} or newer.`) : good(text);
}

export async function checkConfig(
  { sha256 }: Pick<ClientServices, 'sha256'>,
  { config, servers, dataFolder }: Pick<MachineHealth, 'config' | 'servers' | 'dataFolder'>,
): Promise<readonly DoctorFinding[]> {
  const resolved = await config();
  const { problems, settings } = resolved;
  const own = Object.values(settings).filter(({ origin }) => origin.kind !== 'default').length;
  const { good, fault } = findingsOf('config');
  if (problems.length === 0) {
    const set = own === 0 ? 'all defaults' : `${own} set, all others default`;
    const hash = `${configHash(resolved, sha256).slice(0, HASH_SHOWN)}`;
    const desired = appliedSettings(resolved, (await dataFolder()).path);
    const running = (await servers()).map((server) => serverFinding(serverStanding(server, desired)));
    return [good(`settings: ${set} (${hash})`), ...running];
  }
  return problems.map((problem) =>
    fault(configProblemText(problem), 'Fix this setting. Until then, no run starts here.'),
  );
}

/** A server that runs with other settings than those that are set now is worth knowing, and not a fault. */
function serverFinding(server: ReturnType<typeof serverStanding>): DoctorFinding {
  const { good, note } = findingsOf('config');
  const text = `server started by ${serverName(server)}: uses settings ${server.appliedConfigHash.slice(0, HASH_SHOWN)}`;
  return server.needsRestart ? note(`${text}; ${changesText(server)}`, server.restart) : good(text);
}

export async function checkData(
  { machine }: Pick<ClientServices, 'machine'>,
  health: MachineHealth,
): Promise<readonly DoctorFinding[]> {
  const { path: whole, canWrite, open } = await health.dataFolder();
  const path = shortPath(machine, whole);
  const { good, fault } = findingsOf('data');
  if (canWrite === undefined) return [good(`data folder ${path}: not created yet (the first run creates it)`)];
  if (!canWrite) return [fault(`data folder ${path} is not writable`, 'Give your user write permission there.')];
  if (open.length === 0)
    return [good(`data folder ${path}: only your user can read it; it is not encrypted (use disk encryption)`)];
  return open.map((place) =>
    fault(
      `${place.path} can be read by other users of this machine (mode ${place.found})`,
      `${FIX_COMMAND}, or: chmod ${place.wanted} ${place.path}`,
      async () => (await health.closeToOthers([place])).at(0),
    ),
  );
}

/** The check of the data folder reports files that are open to others. */
export async function checkKeyring({ keyring }: MachineHealth): Promise<readonly DoctorFinding[]> {
  const found = await keyring.find();
  const { good, fault } = findingsOf('keyring');
  if (found.isOk()) {
    const count = ['none yet (the first run creates it)', 'one key'][activeKeys(found.value).length];
    return [good(`keyring: ${count ?? 'two keys'}`)];
  }
  if (found.error.code === 'unsafe_permissions') return [];
  if (found.error.code === 'damaged') {
    const advice = 'Restore keys/keyring.json from a backup, or make new keys: workrail keys repair';
    return [fault('keyring: damaged, so no token can be checked', advice)];
  }
  return [
    fault(`keyring: cannot be read (${found.error.code})`, 'Give your user read permission for keys/keyring.json.'),
  ];
}

export async function checkLocks({ nativeLock }: MachineHealth): Promise<DoctorFinding> {
  const { isLoaded, cause } = await nativeLock();
  const { good, note } = findingsOf('locks');
  if (isLoaded) return good('file locks: native');
  return note(
    `file locks: claim files, because fs-native-extensions does not load${cause === undefined ? '' : ` (${cause})`}`,
    'Everything except "workrail gc" works. To get native locks, install workrail again with --include=optional.',
  );
}

type Inspected = Result<IndexInspection, StoreFailure>;

export function checkIndex({ index }: MachineHealth, inspected: Inspected): DoctorFinding {
  const { good, note, fault } = findingsOf('index');
  if (inspected.isErr()) {
    const text = `session index: cannot be read (${inspected.error.code})`;
    return fault(text, 'Delete cache/sessions.jsonl in the data folder.');
  }
  const { stale, total } = inspected.value;
  if (stale === 0) return good(`session index: up to date (${plural(total, 'session')})`);
  // The index is only a cache: whatever lists sessions reads the logs of those that it lacks.
  return note(`session index: out of date for ${stale} of ${Math.max(total, stale)}`, FIX_COMMAND, async () => {
    const rebuilt = await index.rebuild();
    return rebuilt.isErr() ? rebuilt.error.code : undefined;
  });
}

/** So many are checked in full even if nobody asks for it: those that are in use are among the newest. */
const NEWEST_CHECKED = 50;

/** How thoroughly sessions are checked. */
type Thoroughness = { readonly isFull: boolean; readonly inspected?: Inspected; readonly onProgress: OnProgress };

/**
 * Damage is reported and never fixed: only a backup can restore it. Every byte of every session is read only on
 * request: that takes minutes with many sessions. Otherwise the newest are read, and what looks damaged in the index.
 */
export async function checkSessions(
  health: MachineHealth,
  { isFull, inspected, onProgress }: Thoroughness,
): Promise<readonly DoctorFinding[]> {
  const { good, note, fault } = findingsOf('sessions');
  const listed = await health.sessions.list();
  if (listed.isErr()) return [fault(`sessions: cannot be listed (${listed.error.code})`, 'workrail session verify')];
  const all = listed.value;
  const isPart = !isFull && inspected?.isOk() === true && all.length > NEWEST_CHECKED;
  const chosen = isPart ? [...new Set([...inspected.value.suspects, ...all.slice(-NEWEST_CHECKED)])] : all;
  const verified = await verifySessions({ ...health, sessions: { list: async () => ok(chosen) } }, {}, onProgress);
  if (verified.isErr())
    return [fault(`sessions: cannot be checked (${verified.error.code})`, 'workrail session verify')];
  const damaged = verified.value.sessions.filter(({ health: { kind } }) => kind !== 'healthy');
  const ofUnknownOrigin = verified.value.sessions
    .filter(({ findings }) => findings.some(({ what }) => what === 'origin_damaged'))
    .map(({ sessionId }) =>
      note(
        `session ${sessionId}: the record of its origin is damaged, so it counts as imported and not accepted`,
        `workrail session accept ${sessionId}`,
      ),
    );
  if (damaged.length === 0) {
    const { sessions, events } = verified.value.totals;
    const some = `sessions: ${all.length} without visible damage; every byte of the newest ${NEWEST_CHECKED} checked (all: workrail doctor --full)`;
    const healthy = good(
      isPart ? some : sessions === 0 ? 'sessions: none yet' : `sessions: ${sessions} healthy, ${events} events`,
    );
    return [healthy, ...ofUnknownOrigin];
  }
  const faults = damaged.map(({ sessionId, health: { kind } }) =>
    fault(`session ${sessionId} is damaged (${kind}) and was not changed`, `workrail session verify ${sessionId}`),
  );
  return [...faults, ...ofUnknownOrigin];
}

/** Agents are not offered the workflows of a source that nobody accepted. */
export async function checkSources({
  unacceptedSources,
}: Pick<MachineHealth, 'unacceptedSources'>): Promise<readonly DoctorFinding[]> {
  const names = await unacceptedSources();
  if (names.length === 0) return [];
  const { note } = findingsOf('sources');
  const what = names.length === 1 ? 'the source' : 'the sources';
  return [
    note(
      `this project asks for ${what} ${names.join(', ')}. Nobody has accepted that here, so agents are not offered the workflows`,
      'workrail source accept',
    ),
  ];
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
  const { good, fault } = findingsOf('versions');
  if (isOne) return good(`workrail ${machine.version} at ${installed[0]?.path ?? machine.programPath}`);
  return fault(
    `several versions are installed: ${installed.map(({ path, version }) => `${version ?? 'unknown version'} at ${path}`).join(', ')}`,
    'Remove those you do not need (npm uninstall -g workrail, in each Node installation), then run: workrail doctor',
  );
}
