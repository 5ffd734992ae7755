import { err } from 'neverthrow';
import * as z from 'zod';
import { type Client, shortPath } from '../app/clients/client.ts';
import { type Registrations, registrations } from '../app/clients/inspect-client.ts';
import { CLIENT_IDS } from '../core/wire/machine-shapes.ts';
import { waitingLines } from './author/workflow-words.ts';
import { type CommandContext, type CommandOutcome, command, done } from './command.ts';
import { asTyped, dim, type Line, notable, strong } from './output/line.ts';
import { columnsOf, hangText, wrapText } from './output/text-width.ts';
import { status, statusData } from './sessions/status.ts';

const welcomeData = z.strictObject({
  version: z.string(),
  dataDir: z.string(),
  /** Clients that are configured to use WorkRail. */
  registered: z.array(z.enum(CLIENT_IDS)),
  /** Clients found on this machine. */
  installed: z.array(z.enum(CLIENT_IDS)),
  /** The data of `workrail status`; null if it is not available. */
  status: statusData.nullable(),
});
type WelcomeData = z.infer<typeof welcomeData>;

/** Bare `workrail` in a terminal: what is registered, what is running here, and what to type next. */
export const welcome = command({
  example: 'workrail',
  data: welcomeData,
  run: async (context, input) => {
    const { program } = context;
    const setup = await program.setup();
    const clients = await registrations(setup);
    const waiting = await setup.health.unacceptedSources();
    const standing = await status.run(context, input);
    if (standing.isErr()) return err(standing.error);
    const { value } = standing;
    const data: WelcomeData = {
      version: program.version,
      dataDir: await program.dataDir(),
      registered: clients.registered.map(({ id }) => id),
      installed: clients.installed.map(({ id }) => id),
      status: value.kind === 'done' ? value.data : null,
    };
    return done({
      data,
      lines: linesOf({ ...data, folder: shortPath(setup.machine, data.dataDir), program, waiting }, clients, value),
      next: waiting.length > 0 ? 'workrail source accept' : nextOf(data, value),
    });
  },
});

function nextOf({ registered, status: standing }: WelcomeData, outcome: CommandOutcome): string {
  if (registered.length === 0) return INIT;
  const isOpen = standing !== null && standing.here.total + standing.elsewhere.total > 0;
  return isOpen && outcome.kind === 'done' ? outcome.next : 'workrail demo';
}

type Shown = {
  readonly version: string;
  readonly folder: string;
  readonly program: CommandContext['program'];
  /** The sources that this project asks for, and that nobody accepted yet. */
  readonly waiting: readonly string[];
};

function linesOf(
  shown: Shown,
  { registered, installed, onlyHere }: Registrations,
  outcome: CommandOutcome,
): readonly Line[] {
  const { version, folder, program, waiting } = shown;
  const width = columnsOf(program);
  const nameOf = (client: Client) => (onlyHere.includes(client) ? `${client.name} in this project` : client.name);
  const names = registered.map(nameOf).join(', ');
  const kept = wrapText(`Your data stays in ${folder} on this machine. No telemetry.`, width);
  return [
    [strong(`WorkRail ${version}`), ' walks an AI agent through a workflow, one step at a time.'],
    ...kept.map((text): Line => [dim(text)]),
    [],
    [strong('Agent clients')],
    ...(registered.length > 0
      ? hangText(names, { first: '  registered with ', rest: 18, width }).map((line): Line => [line])
      : notRegistered(
          installed.map(({ name }) => name),
          width,
        )),
    ...waitingLines(waiting),
    [],
    ...(outcome.kind === 'done' ? outcome.lines : []),
    [],
    [strong('Commands to try')],
    ...SUGGESTED.filter(([command]) => command !== INIT || registered.length === 0).flatMap(([command, about]) =>
      suggestedLines(asTyped(command, program), about, width),
    ),
  ];
}

function suggestedLines(command: string, about: string, width: number): readonly Line[] {
  const [first = '', ...rest] = hangText(about, {
    first: `  ${command}`,
    rest: command.length > WIDTH ? BELOW : WIDTH + 4,
    width,
  });
  const [head, tail] = [first.slice(0, command.length + 2), first.slice(command.length + 2)];
  return [[head, dim(tail)], ...rest.map((text): Line => [dim(text)])];
}

function notRegistered(found: readonly string[], width: number): readonly Line[] {
  const here = found.length === 0 ? 'None was found on this machine.' : `Found on this machine: ${found.join(', ')}.`;
  return [
    [notable('  not registered with any agent client yet')],
    ...hangText(here, { first: '', rest: 2, width }).map((line): Line => [line]),
  ];
}

const INIT = 'workrail init';

const SUGGESTED: readonly (readonly [command: string, about: string])[] = [
  [INIT, 'register with your agent clients; add --dry-run to preview'],
  ['workrail demo', 'watch an agent run a workflow on the real engine'],
  ['workrail status', 'show what is running, blocked or waiting'],
  ['workrail workflow list', 'list the workflows an agent can follow'],
  ['workrail doctor', 'check that everything works'],
  ['workrail --help', 'list every command'],
];

/** Below a command that is longer, as when the program is started by its path, the description has its own line. */
const WIDTH = Math.max(...SUGGESTED.map(([command]) => command.length));
const BELOW = 6;
