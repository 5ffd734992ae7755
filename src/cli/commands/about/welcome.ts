import { err, ok } from 'neverthrow';
import { shortPath } from '../../../app/machine/setup/machine.ts';
import { type Registrations, registrations } from '../../../app/machine/setup/registrations.ts';
import type { Outcome, RunCommand } from '../../command.ts';
import type { Line } from '../../output/line.ts';
import type { WelcomeData } from '../../shapes/about/welcome-shape.ts';
import type { StatusData } from '../../shapes/status/status-shape.ts';
import { status } from '../status/status.ts';

/** What someone sees who types the name of the program and nothing else: where things stand, and what to type next. */
export const welcome: RunCommand = async (context, input) => {
  const { program } = context;
  const setup = await program.setup();
  const clients = await registrations(setup);
  const standing = await status(context, input);
  if (standing.isErr()) return err(standing.error);
  const { value } = standing;
  const data: WelcomeData = {
    version: program.version,
    dataDir: await program.dataDir(),
    registered: clients.registered.map(({ id }) => id),
    installed: clients.installed.map(({ id }) => id),
    status: value.kind === 'done' ? (value.data as StatusData) : null,
  };
  return ok({
    kind: 'done',
    data,
    lines: linesOf({ ...data, folder: shortPath(setup.machine, data.dataDir) }, clients, value),
    next: nextOf(data, value),
  });
};

function nextOf({ registered, status: standing }: WelcomeData, told: Outcome): string {
  if (registered.length === 0) return 'workrail init';
  const isOpen = standing !== null && standing.here.total + standing.elsewhere.total > 0;
  return isOpen && told.kind === 'done' ? told.next : 'workrail demo';
}

type Shown = { readonly version: string; readonly folder: string };

function linesOf({ version, folder }: Shown, { registered, installed }: Registrations, told: Outcome): readonly Line[] {
  const names = registered.map(({ name }) => name).join(', ');
  return [
    [{ text: `WorkRail ${version}`, style: 'strong' }, ' walks an AI agent through a workflow, one step at a time.'],
    [{ text: `Everything is kept in ${folder}. No telemetry; nothing leaves this machine.`, style: 'dim' }],
    [],
    [{ text: 'Registered', style: 'strong' }],
    ...(registered.length > 0 ? [[`  with ${names}`]] : notRegistered(installed.map(({ name }) => name))),
    [],
    ...(told.kind === 'done' ? told.lines : []),
    [],
    [{ text: 'What to type', style: 'strong' }],
    ...SUGGESTED.map(([command, about]): Line => [`  ${command.padEnd(WIDTH)}  `, { text: about, style: 'dim' }]),
  ];
}

function notRegistered(found: readonly string[]): readonly Line[] {
  const here = found.length === 0 ? 'no agent client was found here' : `found here: ${found.join(', ')}`;
  return [[{ text: '  with no agent client yet', style: 'notable' }, `; ${here}`]];
}

const SUGGESTED: readonly (readonly [command: string, about: string])[] = [
  ['workrail init', 'let your agent client use it; --dry-run shows what would change'],
  ['workrail demo', 'watch an agent go through a workflow, on the real engine'],
  ['workrail status', 'what is running, blocked or waiting'],
  ['workrail workflow list', 'what an agent can be asked to follow'],
  ['workrail doctor', 'check that everything works here'],
  ['workrail --help', 'every command'],
];
const WIDTH = Math.max(...SUGGESTED.map(([command]) => command.length));
