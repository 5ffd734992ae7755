import { describe, expect, it } from 'vitest';
import { runFake } from '../../test/cli/fake-program.ts';
import { fakeSetup, HOME } from '../../test/cli/fake-setup.ts';
import { enforces } from '../../test/enforces.ts';
import { resolveSettings } from '../core/settings/resolve-settings.ts';
import { parseSettingsFile } from '../core/settings/settings-file.ts';
import { toBase64Url } from '../core/token/base64url.ts';
import { activeKeys } from '../core/token/keyring.ts';
import { commandName, SWITCHES } from './command.ts';
import { COMMANDS } from './command-list.ts';
import { commandShape, commandShapes } from './command-shape.ts';
import { keysRotate, keysStatus } from './keys.ts';
import { EXIT } from './problem.ts';
import { configList, configSet } from './settings.ts';

const keysRotateShape = commandShape('keys rotate', keysRotate.data);
const keysStatusShape = commandShape('keys status', keysStatus.data);
const configListShape = commandShape('config list', configList.data);
const configSetShape = commandShape('config set', configSet.data);

const COMMAND_SHAPES = await commandShapes();

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
    const command = await COMMANDS.find((one) => commandName(one) === name)?.load();
    const flags = command?.options?.map((option) => option.flags).join(' ') ?? '';
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

it('every command refuses an option that it does not know, and a word too many, before it does anything', async () => {
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

it('a session leaves in one of four formats, and the shells are three', async () => {
  enforces('cli_commands_closed');
  const refusal = async (...argv: string[]) => (await runFake({ argv, terminals: ['output'] })).talk;
  for (const format of ['bundle', 'md', 'html', 'json']) {
    expect(await refusal('export', 'zzzz', '--as', format)).not.toContain('Unknown format');
  }
  for (const format of ['pdf', 'MD', 'bundle,md', '']) {
    expect(await refusal('export', 'zzzz', '--as', format)).toMatch(
      /Unknown format .*\nFix: .*Choose one of: bundle, md, html, json\.\n$/,
    );
  }
  expect(await refusal('completion', 'tcsh')).toMatch(/The shells are bash, zsh, fish\.\n$/);
});

const USER = { kind: 'user', file: `${HOME}/.workrail/config.json` } as const;
const WORKSPACE = { kind: 'workspace', file: '/work/shop/.workrail/config.json' } as const;

function machine(env: { readonly [name: string]: string } = {}, text?: string) {
  const files = new Map<string, string>(text === undefined ? [] : [[USER.file, text]]);
  const config = () => {
    const parsed = [USER, WORKSPACE].flatMap((origin) => {
      const held = files.get(origin.file);
      return held === undefined ? [] : [parseSettingsFile(held, origin)];
    });
    const resolved = resolveSettings(
      parsed.map(({ layer }) => layer),
      env,
    );
    return { ...resolved, problems: [...parsed.flatMap(({ problems }) => problems), ...resolved.problems] };
  };
  return { files, setup: fakeSetup({ files, config, machine: { env } }) };
}

describe('config', () => {
  it('shows every setting with where it comes from', async () => {
    enforces('cli_config_shows_origin');
    const { setup, files } = machine({ WORKRAIL_TOKEN_FORMAT: 'v1' }, '{"log": true}');
    files.set(WORKSPACE.file, '{"mode": "full_auto_stop_on_user_deps"}');
    const { out } = await runFake({ argv: ['config', 'list', '--json'], setup });
    const document = configListShape.parse(JSON.parse(out));
    expect(document.data?.settings).toEqual([
      { key: 'mode', value: 'full_auto_stop_on_user_deps', origin: WORKSPACE },
      { key: 'riskPolicy', value: 'balanced', origin: { kind: 'default' } },
      { key: 'dataDir', value: '/data/workrail', origin: { kind: 'default' } },
      { key: 'tokenFormat', value: 'v1', origin: { kind: 'variable', name: 'WORKRAIL_TOKEN_FORMAT' } },
      { key: 'log', value: true, origin: USER },
      { key: 'startSession', value: false, origin: { kind: 'default' } },
    ]);
    const text = await runFake({ argv: ['config', 'list'], setup });
    expect(text.out).toMatch(/^mode {10}full_auto_stop_on_user_deps {2}\/work\/shop\/.workrail\/config.json\n/);
    expect(await runFake({ argv: ['config', 'get', 'log'], setup })).toMatchObject({
      exitCode: 0,
      out: 'true\n',
      talk: `from: ${USER.file}\nNext: workrail config list\n`,
    });
  });

  it('sets one in a file, keeps what else stands there, and says when something wins over it', async () => {
    enforces('preferences_set_from_cli');
    const { setup, files } = machine({ WORKRAIL_LOG: '0' }, '{\n  // mine\n  "log": false // quiet\n}\n');
    const set = (...argv: string[]) => runFake({ argv: ['config', 'set', ...argv], setup });
    expect(await set('mode', 'full_auto_never_stop')).toMatchObject({ exitCode: 0 });
    expect(files.get(USER.file)).toBe('{\n  // mine\n  "log": false, // quiet\n  "mode": "full_auto_never_stop"\n}\n');
    expect((await set('log', '1')).out).toContain('WORKRAIL_LOG overrides it.');
    expect(files.get(USER.file)).toContain('"log": true, // quiet');
    expect((await set('log', 'true')).out).toContain('Already set; nothing changed.');
    await set('mode', '--unset');
    expect(files.get(USER.file)).not.toContain('mode');
    await set('mode', 'guided', '--project');
    expect(files.get(WORKSPACE.file)).toBe('{\n  "mode": "guided"\n}\n');
    const { out } = await set('mode', 'guided', '--project', '--json');
    expect(configSetShape.parse(JSON.parse(out)).data).toEqual({
      key: 'mode',
      value: 'guided',
      file: WORKSPACE.file,
      isChanged: false,
    });
  });

  it('refuses what means nothing, and a file that is broken, and changes nothing then', async () => {
    const { setup, files } = machine({}, '{\n  "log": tru\n}');
    const before = new Map(files);
    const ended = async (...argv: string[]) => {
      const { exitCode, talk } = await runFake({ argv: ['config', ...argv], setup });
      return [exitCode, talk];
    };
    expect(await ended('get', 'mod')).toEqual([2, expect.stringContaining('Did you mean mode?')]);
    expect(await ended('set', 'mode', 'auto')).toEqual([
      2,
      expect.stringContaining('The value can be guided (the default)'),
    ]);
    expect(await ended('set', 'mode')).toEqual([2, expect.stringContaining('mode needs a value, or --unset')]);
    expect(await ended('set', 'dataDir', 'here')).toEqual([
      2,
      expect.stringContaining('The value can be an absolute path'),
    ]);
    expect(await ended('set', 'dataDir', '/data', '--project')).toEqual([
      2,
      expect.stringContaining('not for a project'),
    ]);
    expect(await ended('set', 'mode', 'guided')).toEqual([
      1,
      expect.stringContaining('config.json, line 2: not valid JSON'),
    ]);
    expect(await ended('list')).toEqual([4, expect.stringContaining('config.json, line 2')]);
    expect(files).toEqual(before);
  });

  it('runs nothing while the settings are wrong, but what shows them', async () => {
    const configProblems = ['/home/ada/.workrail/config.json, line 2: not valid JSON (comma expected).'];
    for (const argv of [['session', 'verify'], ['keys', 'rotate'], ['--quiet']]) {
      const { exitCode, talk, calls } = await runFake({ argv, configProblems, terminals: ['input'] });
      expect({ exitCode, calls }).toEqual({ exitCode: 2, calls: [] });
      expect(talk).toContain(`A setting is invalid. ${configProblems[0]}`);
    }
    expect(await runFake({ argv: ['config', 'path'], configProblems, setup: fakeSetup() })).toMatchObject({
      exitCode: 0,
    });
  });
});

it('looking at the keys makes none, and never shows one', async () => {
  const setup = fakeSetup();
  const status = () => runFake({ argv: ['keys', 'status', '--json'], setup });
  const none = { current: null, previous: null };
  expect(keysStatusShape.parse(JSON.parse((await status()).out)).data?.keys).toEqual(none);
  expect((await setup.keyring.find())._unsafeUnwrap()).toBeUndefined();
  const { current } = (await setup.keyring.open())._unsafeUnwrap();
  expect((await status()).out).not.toContain(toBase64Url(current));
});

it('keys are rotated when somebody says so: the old one still verifies, and the one before it ends only with --yes', async () => {
  enforces('cli_keys_rotate_explicit', 'cli_interaction_switches', 'cli_exit_codes');
  const setup = fakeSetup();
  const { current: first } = (await setup.keyring.open())._unsafeUnwrap();
  const rotate = (...argv: string[]) => runFake({ argv: ['keys', 'rotate', ...argv], setup });
  const keys = async () => activeKeys((await setup.keyring.find())._unsafeUnwrap());

  const once = keysRotateShape.parse(JSON.parse((await rotate('--json')).out));
  expect(once.data?.after.previous).toBe(once.data?.before.current);
  const [second, previous] = await keys();
  expect(previous).toEqual(first);
  expect(second).not.toEqual(first);

  expect(await rotate()).toMatchObject({ exitCode: 5, talk: expect.stringContaining('workrail keys rotate --yes') });
  for (const [answer, exitCode] of [[false, 5] as const, [undefined, 130] as const]) {
    const refused = { setup, terminals: ['input', 'error'], ask: { confirm: async () => answer } } as const;
    expect(await runFake({ argv: ['keys', 'rotate'], ...refused })).toMatchObject({ exitCode });
  }
  expect(await keys()).toEqual([second, first]);
  expect((await rotate('--yes')).out).toContain('are no longer valid');
  expect((await keys())[1]).toEqual(second);
});
