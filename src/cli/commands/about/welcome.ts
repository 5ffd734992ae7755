import { ok } from 'neverthrow';
import type { RunCommand } from '../../command.ts';
import { commandName } from '../../command-entry.ts';
import { COMMANDS } from '../../command-list.ts';
import type { Line } from '../../output/line.ts';
import type { WelcomeData } from '../../shapes/about/welcome-shape.ts';

const REGISTER = 'claude mcp add workrail -- workrail serve';

/** What someone sees who types the name of the program and nothing else. */
export const welcome: RunCommand = async ({ program }) => {
  const data: WelcomeData = {
    version: program.version,
    dataDir: await program.dataDir(),
    commands: COMMANDS.map((entry) => ({ name: commandName(entry), summary: entry.summary })),
  };
  return ok({ kind: 'done', data, lines: linesOf(data), next: 'workrail --help' });
};

function linesOf({ version, dataDir, commands }: WelcomeData): readonly Line[] {
  const width = Math.max(...commands.map(({ name }) => name.length));
  return [
    [{ text: `WorkRail ${version}`, style: 'strong' }, ' walks an AI agent through a workflow, one step at a time.'],
    [],
    [{ text: 'Data', style: 'strong' }],
    [`  ${dataDir}`],
    ['  Nothing leaves this machine: no telemetry, no network.'],
    [],
    [{ text: 'Commands', style: 'strong' }],
    ...commands.map(
      ({ name, summary }): Line => [`  workrail ${name.padEnd(width)}  `, { text: summary, style: 'dim' }],
    ),
    [],
    [{ text: 'Let an agent use it', style: 'strong' }],
    [`  ${REGISTER}`],
    ['  Any other client that starts MCP servers: command "workrail", arguments "serve".'],
  ];
}
