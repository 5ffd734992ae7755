import { expect, it } from 'vitest';
import { runFake } from '../../test/cli/fake-program.ts';
import { enforces } from '../../test/enforces.ts';
import { commandName } from './command-entry.ts';
import { COMMANDS } from './command-list.ts';
import { COMMAND_SHAPES } from './shapes/command-shapes.ts';

/** What the contract of the command line names; whoever adds one changes the contract first. */
const CONTRACT = {
  '': 'completion demo doctor export gc import init search serve status version',
  config: 'get list path set',
  keys: 'rotate status',
  session: 'close delete diff keep list notes prefer resume show tree verify',
  source: 'add list remove update',
  workflow: 'check copy diff dry-run list migrate-id new preview show test',
};
const OPTIONS = {
  init: '--client --all --project --yes --dry-run --undo',
  demo: '--speed --keep',
  doctor: '--fix',
  'session resume': '--at',
  export: '--as --output',
  import: '--dry-run',
  gc: '--dry-run --older-than',
  serve: '--stdio --http',
};

it('the commands are those of the contract, with its options, and help lists them', async () => {
  enforces('cli_commands_closed');
  const named = Object.entries(CONTRACT).flatMap(([group, verbs]) =>
    verbs.split(' ').map((verb) => `${group} ${verb}`.trim()),
  );
  expect(COMMANDS.map(commandName).sort()).toEqual(named.sort());
  for (const [name, options] of Object.entries(OPTIONS)) {
    const entry = COMMANDS.find((one) => commandName(one) === name);
    const flags = entry?.options?.map((option) => option.flags).join(' ') ?? '';
    expect([name, options.split(' ').filter((option) => !flags.includes(option))]).toEqual([name, []]);
  }
  for (const [group, verbs] of Object.entries(CONTRACT)) {
    const { out } = await runFake({ argv: [group, '--help'].filter((word) => word !== '') });
    const listed = [...out.matchAll(/^ {2}([a-z-]+)(?: |$)/gm)].map(([, verb]) => verb);
    for (const verb of verbs.split(' ')) expect(listed).toContain(verb);
  }
  // What serve prints is the protocol.
  expect(Object.keys(COMMAND_SHAPES).sort()).toEqual(named.filter((name) => name !== 'serve'));
});

it('a session leaves in one of four formats, and the shells are three', async () => {
  enforces('cli_commands_closed');
  const refusal = async (...argv: string[]) => (await runFake({ argv, terminals: ['output'] })).talk;
  for (const format of ['bundle', 'md', 'html', 'json']) {
    expect(await refusal('export', 'zzzz', '--as', format)).not.toContain('There is no format');
  }
  for (const format of ['pdf', 'MD', 'bundle,md', '']) {
    expect(await refusal('export', 'zzzz', '--as', format)).toMatch(
      /There is no format .*\nFix: Use --as bundle, md, html or json\.\n$/,
    );
  }
  expect(await refusal('completion', 'tcsh')).toMatch(/The shells are bash, zsh, fish\.\n$/);
});
