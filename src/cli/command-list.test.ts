import { expect, it } from 'vitest';
import { runFake } from '../../test/cli/fake-program.ts';
import { enforces } from '../../test/enforces.ts';
import { commandName, SWITCHES } from './command.ts';
import { COMMANDS } from './command-list.ts';
import { commandShapes } from './command-shape.ts';
import { EXIT } from './problem.ts';

const COMMAND_SHAPES = await commandShapes();

/** What the contract of the command line names; a change begins there. */
const CONTRACT = {
  approvers: 'add list remove',
  '': 'answer attest completion connect console demo doctor export gc import init migrate search serve status verify version waiting',
  config: 'get list path servers set',
  keys: 'rotate status repair public',
  session: 'accept close delete diff fork-from-valid keep hand-over list notes prefer resume show tree verify',
  passport: 'check',
  source: 'accept add list remove update',
  space: 'create gc list reseal rotate-keys set source trust verify',
  member: 'list remove set',
  token: 'create list revoke',
  audit: 'export verify',
  store: 'copy',
  workflow: 'builtins check copy diff dry-run list migrate-id new preview show test uses',
};
const OPTIONS = {
  init: '--client --all --team --project --yes --dry-run --undo',
  demo: '--speed --keep',
  doctor: '--fix --full',
  answer: '--sign --key',
  'approvers add': '--name',
  'session resume': '--at',
  export: '--as --output --withhold --tree',
  verify: '--key --tree --head --approvers',
  'passport check': '--base',
  'session verify': '--key --head',
  import: '--dry-run --no-accept --update --copy',
  gc: '--dry-run --older-than',
  migrate: '--database-url --dry-run',
  'store copy': '--from --to --space --session --keys --master-key-file',
  'audit export': '--database-url --space --output',
  'token create': '--database-url --space --for --role --days',
  serve:
    '--stdio --http --team --public-url --issuer --listen --admin-listen --master-key-file --rls --listen-url --connections',
  connect: '--sign-in --client-id --port --no-open --sign-out',
  console: '--port --no-open',
};

it('the commands and options are those of the contract, and help lists them', async () => {
  enforces('cli_commands_closed');
  const named = Object.entries(CONTRACT).flatMap(([group, verbs]) =>
    verbs.split(' ').map((verb) => `${group} ${verb}`.trim()),
  );
  expect(COMMANDS.map(commandName).sort()).toEqual(named.sort());
  for (const [name, options] of Object.entries(OPTIONS)) {
    const command = await COMMANDS.find((one) => commandName(one) === name)?.load();
    const flags = command?.options?.map((option) => option.flags).join(' ') ?? '';
    expect([name, options.split(' ').filter((option) => !flags.includes(option))]).toEqual([name, []]);
  }
  for (const [group, verbs] of Object.entries(CONTRACT)) {
    const { out } = await runFake({ argv: [group, '--help'].filter((word) => word !== '') });
    const listed = [...out.matchAll(/^ {2}([a-z-]+)(?: |$)/gm)].map(([, verb]) => verb);
    for (const verb of verbs.split(' ')) expect(listed).toContain(verb);
  }
  // Commands that serve print no document.
  expect(Object.keys(COMMAND_SHAPES).sort()).toEqual(named.filter((name) => !['console', 'serve'].includes(name)));
});

it('the example in the help of a command is a command line that the command accepts', async () => {
  for (const entry of COMMANDS) {
    const name = commandName(entry);
    const command = await entry.load();
    const known = [...(command.options ?? []).map(({ flags }) => flags), ...Object.keys(SWITCHES)].join(' ');
    const [, typed] = command.example.split(`workrail ${name}`);
    expect([name, typed?.match(/(?<= )--?[a-z-]+/g)?.filter((option) => !known.includes(option)) ?? []]).toEqual([
      name,
      [],
    ]);
    expect([name, typed]).toEqual([name, expect.any(String)]);
  }
});

it('every command refuses an unknown option or an extra operand before it does anything', async () => {
  enforces('cli_exit_codes', 'cli_json_error_shape');
  for (const entry of COMMANDS) {
    const name = commandName(entry);
    const wrong = [['--nope'], ...((await entry.load()).operands === undefined ? [['nope']] : [])];
    for (const argv of wrong.map((words) => [...name.split(' '), ...words, '--json'])) {
      const { exitCode, out, talk, calls } = await runFake({ argv });
      expect({ exitCode, talk, calls }, argv.join(' ')).toEqual({ exitCode: EXIT.usage, talk: '', calls: [] });
      expect(COMMAND_SHAPES[name]?.parse(JSON.parse(out)) ?? JSON.parse(out)).toMatchObject({ ok: false });
    }
  }
});

it('export has six formats, and completion knows three shells', async () => {
  enforces('cli_commands_closed');
  const refusal = async (...argv: string[]) => (await runFake({ argv, terminals: ['output'] })).talk;
  for (const format of ['bundle', 'md', 'html', 'json', 'pdf', 'passport']) {
    expect(await refusal('export', 'zzzz', '--as', format)).not.toContain('Unknown format');
  }
  for (const format of ['docx', 'MD', 'bundle,md', '']) {
    expect(await refusal('export', 'zzzz', '--as', format)).toMatch(
      /Unknown format .*\nFix: .*Choose one of: bundle, md, html, json, pdf, passport\.\n$/,
    );
  }
  expect(await refusal('completion', 'tcsh')).toMatch(/The shells are bash, zsh, fish\.\n$/);
});
