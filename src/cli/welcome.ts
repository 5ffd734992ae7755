import { err, ok } from 'neverthrow';
import * as z from 'zod';
import { CLIENT_IDS, shortPath } from '../app/clients/client.ts';
import { type Registrations, registrations } from '../app/clients/inspect-client.ts';
import type { CommandContext, CommandOutcome, RunCommand } from './command.ts';
import { commandShape } from './command-shape.ts';
import type { Line } from './output/line.ts';
import { columnsOf, hangText, wrapText } from './output/text-width.ts';
import { asTyped } from './output/wording.ts';
import { type StatusData, status, statusData } from './status.ts';

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
    lines: linesOf({ ...data, folder: shortPath(setup.machine, data.dataDir), program }, clients, value),
    next: nextOf(data, value),
  });
};

function nextOf({ registered, status: standing }: WelcomeData, told: CommandOutcome): string {
  if (registered.length === 0) return 'workrail init';
  const isOpen = standing !== null && standing.here.total + standing.elsewhere.total > 0;
  return isOpen && told.kind === 'done' ? told.next : 'workrail demo';
}

type Shown = { readonly version: string; readonly folder: string; readonly program: CommandContext['program'] };

function linesOf(shown: Shown, { registered, installed }: Registrations, told: CommandOutcome): readonly Line[] {
  const { version, folder, program } = shown;
  const width = columnsOf(program);
  const names = registered.map(({ name }) => name).join(', ');
  const kept = wrapText(`Everything is kept in ${folder}. No telemetry; nothing leaves this machine.`, width);
  return [
    [{ text: `WorkRail ${version}`, style: 'strong' }, ' walks an AI agent through a workflow, one step at a time.'],
    ...kept.map((text): Line => [{ text, style: 'dim' }]),
    [],
    [{ text: 'Registered', style: 'strong' }],
    ...(registered.length > 0
      ? hangText(names, { first: '  with ', rest: 7, width }).map((line): Line => [line])
      : notRegistered(
          installed.map(({ name }) => name),
          width,
        )),
    [],
    ...(told.kind === 'done' ? told.lines : []),
    [],
    [{ text: 'What to type', style: 'strong' }],
    ...SUGGESTED.flatMap(([command, about]) => suggestedLines(asTyped(command, program), about, width)),
  ];
}

function suggestedLines(command: string, about: string, width: number): readonly Line[] {
  const [first = '', ...rest] = hangText(about, {
    first: `  ${command}`,
    rest: command.length > WIDTH ? BELOW : WIDTH + 4,
    width,
  });
  const [head, tail] = [first.slice(0, command.length + 2), first.slice(command.length + 2)];
  return [[head, { text: tail, style: 'dim' }], ...rest.map((text): Line => [{ text, style: 'dim' }])];
}

function notRegistered(found: readonly string[], width: number): readonly Line[] {
  const here = found.length === 0 ? 'none was found here' : `found here: ${found.join(', ')}`;
  return [
    [{ text: '  with no agent client yet', style: 'notable' }],
    ...hangText(here, { first: '', rest: 2, width }).map((line): Line => [line]),
  ];
}

const SUGGESTED: readonly (readonly [command: string, about: string])[] = [
  ['workrail init', 'let your agent client use it; --dry-run shows what would change'],
  ['workrail demo', 'watch an agent go through a workflow, on the real engine'],
  ['workrail status', 'what is running, blocked or waiting'],
  ['workrail workflow list', 'what an agent can be asked to follow'],
  ['workrail doctor', 'check that everything works here'],
  ['workrail --help', 'every command'],
];
/** Where a command is longer, as where the program has no name, what it does stands below it. */
const WIDTH = Math.max(...SUGGESTED.map(([command]) => command.length));
const BELOW = 6;

const welcomeData = z.strictObject({
  version: z.string(),
  dataDir: z.string(),
  /** Clients that have a workrail among their servers. */
  registered: z.array(z.enum(CLIENT_IDS)),
  /** Clients that are found on this machine. */
  installed: z.array(z.enum(CLIENT_IDS)),
  /** As `workrail status` tells it; null when the sessions cannot be read. */
  status: statusData.nullable(),
});
type WelcomeData = z.infer<typeof welcomeData>;

/** What `workrail --json`, without a command, prints. */
export const welcomeShape = commandShape('workrail', welcomeData);
