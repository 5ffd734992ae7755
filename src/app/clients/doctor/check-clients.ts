import type { ClientServices, Launch } from '../../ports/machine.ts';
import type { ClientEnvironment, MachineHealth, TrialLaunch, TrialResult } from '../../ports/machine-health.ts';
import {
  type Client,
  type ClientScope,
  INSTALL_COMMAND,
  isSameLaunch,
  launchForm,
  launchText,
  shortPath,
  spaceOf,
} from '../client.ts';
import { CLIENTS } from '../client-list.ts';
import { findClients, type InspectedClient, inspectClient, replaceTrouble } from '../inspect-client.ts';
import { registerClient } from '../register-client.ts';
import { readChanges } from '../undo-registrations.ts';
import { type DoctorFinding, findingsOf } from './doctor-finding.ts';

const FIX_COMMAND = 'workrail doctor --fix';

const { good, note, fault } = findingsOf('clients');

/** Starts every registration, and finds missing ones. */
export async function checkClients(services: ClientServices, health: MachineHealth): Promise<readonly DoctorFinding[]> {
  const inspected = await inspectEverywhere(services);
  const registered = inspected.filter(({ state }) => state.kind === 'same' || state.kind === 'other');
  const tryLaunch = onceEach(health.tryLaunch);
  const [started, missing] = await Promise.all([
    Promise.all(
      registered.map(async (one) => ({
        ...byHand(services, one, await startedFinding(services, one, tryLaunch)),
        client: one.client.id,
      })),
    ),
    missingFindings(services, inspected),
  ]);
  return [...inspected.flatMap(brokenFindings), ...started, ...missing];
}

async function inspectEverywhere(services: ClientServices): Promise<readonly InspectedClient[]> {
  const scopes: readonly ClientScope[] = ['user', 'project'];
  const pairs = CLIENTS.flatMap((client) => scopes.map((scope) => ({ client, scope })));
  const inspected = await Promise.all(pairs.map(({ client, scope }) => inspectClient(services, client, { scope })));
  const seen = new Set<string>();
  // In the home folder, the project file may be the user's file.
  return inspected.filter((one) => one !== undefined).filter(({ file }) => !seen.has(file) && seen.add(file));
}

function brokenFindings({ client, file, state }: InspectedClient): readonly DoctorFinding[] {
  if (state.kind === 'broken') {
    const text = `${client.name}: ${file}, line ${state.line}: ${state.problem}`;
    return [fault(text, 'Fix the file by hand. Until then, workrail does not change it.')];
  }
  if (state.kind !== 'unreadable') return [];
  return [
    fault(
      `${client.name}: ${file} cannot be read (${state.cause})`,
      /^E(?:ACCES|PERM)$/.test(state.cause) ? 'Give your user read permission.' : 'Replace or remove it.',
    ),
  ];
}

/** Equal launches are tried once. */
function onceEach(tryLaunch: MachineHealth['tryLaunch']): MachineHealth['tryLaunch'] {
  const known: { readonly of: TrialLaunch; readonly trial: Promise<TrialResult> }[] = [];
  return (trialLaunch) => {
    const same = known.find(
      ({ of }) => of.environment === trialLaunch.environment && isSameLaunch(of.launch, trialLaunch.launch),
    );
    if (same !== undefined) return same.trial;
    const trial = tryLaunch(trialLaunch);
    known.push({ of: trialLaunch, trial });
    return trial;
  };
}

/** An entry that cannot be replaced must not promise an automatic fix. */
function byHand(services: ClientServices, inspected: InspectedClient, finding: DoctorFinding): DoctorFinding {
  const trouble = inspected.state.kind === 'other' && finding.fix !== undefined && replaceTrouble(services, inspected);
  if (!trouble) return finding;
  const { check, kind, text } = finding;
  return { check, kind, text, fix: `${inspected.file}, line ${trouble.line}: ${trouble.problem}` };
}

async function startedFinding(
  services: ClientServices,
  inspected: InspectedClient,
  tryLaunch: MachineHealth['tryLaunch'],
): Promise<DoctorFinding> {
  const { client, file, state } = inspected;
  const where = `${client.name} (${shortPath(services.machine, file)})`;
  const launch = 'launch' in state ? state.launch : undefined;
  const applyFix = () => register(services, inspected, true);
  if (launch === undefined) {
    return fault(
      `${where}: the entry "workrail" does not start a program`,
      `workrail init --client ${client.id} --force`,
    );
  }
  const space = spaceOf(launch);
  if (space !== undefined) {
    // A trial would start a run in the space of the team.
    return good(`${where}: passes calls on to ${space}. It was not tried`);
  }
  if (inspected.scope === 'project' && state.kind !== 'same') {
    // A repository is untrusted, and starting an entry would run whatever it says.
    const text = `${where} starts "${launchText(launch)}". It was not tried, because the file belongs to the project`;
    return note(text, `workrail init --project --client ${client.id} --force`);
  }
  const left = inspected.scope === 'project' ? await untried(services, inspected, launch) : undefined;
  if (left !== undefined) return left;
  const trial = await tryLaunch(trialOf(services, inspected, launch));
  switch (trial.kind) {
    case 'works': {
      const { version } = services.machine;
      if (trial.version === version) {
        const name = inspected.scope === 'project' ? `${client.name} in this project` : client.name;
        return good(`${name}: works (${trial.tools} tools, one step forward and back in ${trial.ms} ms)`);
      }
      const fix = `${FIX_COMMAND} (changes it to start ${inspected.wanted.args[0] ?? inspected.wanted.command})`;
      return fault(`${where} starts version ${trial.version}, but this is ${version}`, fix, applyFix);
    }
    case 'stale':
      return fault(`${where}: ${trial.missing} does not exist any more`, FIX_COMMAND, applyFix);
    case 'fails': {
      const said = trial.said === '' ? '' : `: ${trial.said}`;
      const text = `${where}: "${launchText(launch)}" fails at ${trial.at}${said}`;
      if (state.kind === 'same') return fault(text, `Run it in a terminal to see why: ${launchText(launch)}`);
      return fault(text, FIX_COMMAND, applyFix);
    }
  }
}

/** What keeps a registration that a team committed from being tried here; `undefined` if nothing does. */
async function untried(
  { commands, machine }: ClientServices,
  { client, file, wanted }: InspectedClient,
  launch: Launch,
): Promise<DoctorFinding | undefined> {
  const form = launchForm(launch);
  const starts = `${client.name} (${shortPath(machine, file)}) starts "${launchText(launch)}"`;
  if (form === 'path_command' && (await commands.find('workrail')).length === 0) {
    return fault(`${starts}, and no workrail is on the PATH`, `Install it: ${INSTALL_COMMAND}`);
  }
  if (form === 'package_runner' && !isSameLaunch(launch, wanted)) {
    const text = `${starts}. It was not tried, because it runs the copy of workrail in this project`;
    return note(text, 'Run that copy yourself: npx --no -- workrail doctor');
  }
  return undefined;
}

/** The runner would look in the folder of the trial, so the project's copy is started by its path. */
function trialOf({ machine }: ClientServices, { client, scope }: InspectedClient, launch: Launch): TrialLaunch {
  const started =
    launchForm(launch) === 'package_runner'
      ? { command: machine.nodePath, args: [machine.programPath, 'serve'], env: {} }
      : launch;
  return { launch: started, environment: environmentOf(client, scope) };
}

function environmentOf({ hasWindow, isSparing }: Client, scope: ClientScope): ClientEnvironment {
  // Editors read the PATH of the login shell for what a project registers by name.
  if (hasWindow) return scope === 'project' ? 'shell' : 'window';
  return isSparing === true ? 'few' : 'shell';
}

/** Finds clients whose registration is gone, and installed clients if none is registered. */
async function missingFindings(
  services: ClientServices,
  inspected: readonly InspectedClient[],
): Promise<readonly DoctorFinding[]> {
  const isRegistered = inspected.some(({ state }) => state.kind === 'same' || state.kind === 'other');
  const changes = (await readChanges(services)).unwrapOr([]);
  const lost = inspected.filter(
    ({ client, scope, file, state }) =>
      state.kind === 'absent' &&
      changes.some((one) => one.client === client.id && one.scope === scope && one.file === file),
  );
  const installed = await findClients(services);
  const never = inspected.filter(
    (one) =>
      one.scope === 'user' && one.state.kind === 'absent' && installed.includes(one.client) && !lost.includes(one),
  );
  if (!isRegistered && lost.length === 0 && never.length === 0) return [NOBODY];
  return [
    ...lost.map((one) =>
      note(
        `${one.client.name}: the registration made by "workrail init" is missing in ${one.file}`,
        initFor(one.client),
      ),
    ),
    ...never.map((one) => {
      const text = `${one.client.name} is installed, but workrail is not registered with it`;
      return note(text, initFor(one.client));
    }),
  ];
}

/** A server over HTTP, or a machine that only reads sessions, needs no client. */
const NOBODY = note(
  'no agent client found on this machine',
  'Install one, or register one by name: workrail init --client claude-code',
);

function initFor({ id }: Client): string {
  return `workrail init --client ${id}`;
}

async function register(
  services: ClientServices,
  inspected: InspectedClient,
  isForced: boolean,
): Promise<string | undefined> {
  // Another fix may have changed the same file meanwhile.
  const now = (await inspectClient(services, inspected.client, inspected)) ?? inspected;
  const registered = await registerClient(services, now, { isDry: false, isForced });
  const isDone = ['registered', 'replaced', 'unchanged'].includes(registered.result);
  return isDone ? undefined : `${now.file} was not changed (${registered.result})`;
}
