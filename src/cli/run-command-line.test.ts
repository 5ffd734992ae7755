import { err, ok } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { runFake } from '../../test/cli/fake-program.ts';
import { emptyOverview, fakeSetup, HOME } from '../../test/cli/fake-setup.ts';
import { enforces } from '../../test/enforces.ts';
import { SESSION } from '../../test/examples/ids.ts';
import { COMMAND_GROUPS, commandName } from './command.ts';
import { COMMANDS } from './command-list.ts';
import { commandShape, commandShapes } from './command-shape.ts';
import { EXIT } from './problem.ts';
import { consolePortProblem, refusalProblem } from './refusal-problem.ts';
import { sessionVerify } from './sessions/session-verify.ts';
import { version } from './version.ts';
import { welcome } from './welcome.ts';

const sessionVerifyShape = commandShape('session verify', sessionVerify.data);
const versionShape = commandShape('version', version.data);
const welcomeShape = commandShape('workrail', welcome.data);

const COMMAND_SHAPES = await commandShapes();

const ESCAPE = '\u001b';
const ALL = ['input', 'output', 'error'] as const;

describe('the version', () => {
  it('the version is printed for the command and for the option', async () => {
    for (const argv of [['version'], ['--version'], ['--version', '--quiet'], ['--quiet', 'version']]) {
      expect(await runFake({ argv })).toEqual({ exitCode: 0, out: '1.2.3\n', talk: '', calls: [] });
    }
  });

  it('the version is a JSON document under --json', async () => {
    for (const argv of [
      ['version', '--json'],
      ['--version', '--json'],
      ['--json', 'version'],
    ]) {
      const { exitCode, out, talk } = await runFake({ argv });
      expect({ exitCode, talk }).toEqual({ exitCode: 0, talk: '' });
      expect(versionShape.parse(JSON.parse(out))).toMatchObject({
        ok: true,
        command: 'version',
        data: { version: '1.2.3' },
      });
    }
  });
});

describe('bare workrail', () => {
  it('bare workrail and serve start the server if a client runs them', async () => {
    enforces('cli_bare_invocation');
    const serving = { exitCode: undefined, out: '', talk: '', calls: ['serve'] };
    expect(await runFake({ argv: [] })).toEqual(serving);
    expect(await runFake({ argv: ['serve'] })).toEqual(serving);
    expect(await runFake({ argv: ['serve', '--stdio'] })).toEqual(serving);
    expect(await runFake({ argv: ['serve', '--quiet'], terminals: ALL })).toEqual(serving);
  });

  it('bare workrail in a terminal shows registered clients, open sessions and what to type next', async () => {
    enforces('cli_bare_invocation', 'cli_no_telemetry');
    const sessionAccess = emptyOverview();
    const nobody = await runFake({ argv: [], terminals: ['input'], setup: fakeSetup(), sessionAccess });
    expect(nobody).toMatchObject({ exitCode: 0, talk: 'Next: workrail init\n' });
    for (const part of [
      'WorkRail 1.2.3',
      '/data/workrail',
      'No telemetry',
      'not registered with any agent client yet',
      'No sessions yet',
    ]) {
      expect(nobody.out).toContain(part);
    }
    const files = new Map([[`${HOME}/.cursor/mcp.json`, '{"mcpServers":{"workrail":{"command":"workrail"}}}']]);
    const known = await runFake({ argv: [], terminals: ['input'], setup: fakeSetup({ files }), sessionAccess });
    expect(known).toMatchObject({ exitCode: 0, talk: 'Next: workrail demo\n' });
    expect(known.out).toContain('with Cursor');
  });

  it('bare workrail prints a JSON document under --json', async () => {
    const { exitCode, out } = await runFake({ argv: ['--json'], setup: fakeSetup(), sessionAccess: emptyOverview() });
    expect(exitCode).toBe(0);
    expect(welcomeShape.parse(JSON.parse(out))).toMatchObject({
      ok: true,
      data: { dataDir: '/data/workrail', registered: [], status: { here: { total: 0 } } },
    });
  });

  it('serve in a terminal says what it waits for, on standard error only', async () => {
    const { exitCode, out, talk, calls } = await runFake({ argv: ['serve'], terminals: ['input'] });
    expect({ exitCode, out, calls }).toEqual({ exitCode: undefined, out: '', calls: ['serve'] });
    expect(talk).toContain('Press Ctrl-C to stop');
  });
});

describe('help', () => {
  it('help exists for the program and every command, has an example, and starts nothing', async () => {
    enforces('cli_help_and_version_never_serve');
    const names = ['', ...Object.keys(COMMAND_GROUPS), ...COMMANDS.map(commandName)];
    for (const name of names) {
      const words = name === '' ? [] : name.split(' ');
      for (const argv of [
        [...words, '--help'],
        [...words, '-h'],
        ['help', ...words],
      ]) {
        const { exitCode, out, talk, calls } = await runFake({ argv });
        expect({ exitCode, talk, calls }, argv.join(' ')).toEqual({ exitCode: 0, talk: '', calls: [] });
        expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
        expect(out).toContain(`Usage: workrail ${name}`);
        expect(out).toContain('--json');
        expect(out).toMatch(/Example:\n {2}\S/);
        expect(out).not.toContain(ESCAPE);
      }
    }
    expect(await runFake({ argv: ['--version'] })).toMatchObject({ calls: [] });
  });
});

describe('an invalid command line', () => {
  const wrong: readonly (readonly [argv: readonly string[], said: RegExp])[] = [
    [['sesion'], /Unknown command 'sesion'.\nFix: Did you mean session\?/],
    [['config', 'unset', 'mode'], /Unknown command 'unset'.\nFix: Run "workrail config set KEY --unset"/],
    [['session', 'verfy'], /Unknown command 'verfy'.\nFix: Did you mean verify\?/],
    [['session', 'verify', '--jsn'], /Unknown option '--jsn'.\nFix: Did you mean --json\?/],
    [['version', 'please'], /Too many arguments/],
    [['serve', '--prt'], /Unknown option '--prt'.\nFix: Did you mean --port\?/],
    [['serve', '--port'], /argument missing/],
    [['session'], /A command is missing/],
    [['help', 'nope'], /Unknown command 'nope'/],
    [['help', 'session', 'nope'], /Unknown command 'nope'/],
    [['session', 'prefer', '7f3a', '--nope'], /Unknown option '--nope'.\nFix: Run "workrail session prefer --help"/],
    [['session', 'nonsense'], /Unknown command 'nonsense'.\nFix: Run "workrail session --help" to see the commands/],
    [['nonsense'], /Unknown command 'nonsense'.\nFix: Run "workrail --help"/],
    [['constructor'], /Unknown command 'constructor'.\nFix: Run "workrail --help"/],
  ];

  it('an invalid command line exits with code 2, suggests what was meant, and runs nothing', async () => {
    enforces('cli_ids_forgiving', 'cli_exit_codes');
    for (const [argv, said] of wrong) {
      const { exitCode, out, talk, calls } = await runFake({ argv });
      expect({ exitCode, out, calls }, argv.join(' ')).toEqual({ exitCode: 2, out: '', calls: [] });
      expect(talk).toMatch(said);
    }
  });

  it('an invalid command line prints a JSON document under --json', async () => {
    enforces('cli_json_error_shape');
    for (const [argv] of wrong) {
      const { exitCode, out, talk } = await runFake({ argv: [...argv, '--json'] });
      expect({ exitCode, talk }, argv.join(' ')).toEqual({ exitCode: 2, talk: '' });
      const document = JSON.parse(out);
      expect(document).toEqual({
        ok: false,
        v: 1,
        error: {
          code: 'VALIDATION_ERROR',
          message: expect.any(String),
          suggestion: expect.any(String),
          retry: { kind: 'not_retryable' },
          fix: document.error.suggestion,
        },
      });
      for (const shape of [versionShape, sessionVerifyShape, welcomeShape])
        expect(shape.parse(document)).toEqual(document);
    }
  });

  it('escape sequences in a command line are printed, not executed', async () => {
    enforces('cli_escapes_not_raw');
    const { talk } = await runFake({ argv: [`${ESCAPE}[2Jx\u202e`], terminals: ['error'], env: { NO_COLOR: '1' } });
    expect(talk).toContain("'\\u001b[2Jx\\u202e'");
    expect(talk).not.toContain(ESCAPE);
    const { out } = await runFake({ argv: ['\u009b31mx', '--json'] });
    expect(out).toContain('\\u009b31mx');
  });
});

describe('colors', () => {
  const isColored = async (world: Omit<Parameters<typeof runFake>[0], 'argv'>, ...argv: string[]) => {
    const { out, talk } = await runFake({ argv, setup: fakeSetup(), sessionAccess: emptyOverview(), ...world });
    return [out.includes(ESCAPE), talk.includes(ESCAPE)];
  };

  it('colors are used only on a stream that is a terminal', async () => {
    expect(await isColored({ terminals: ALL })).toEqual([true, true]);
    expect(await isColored({ terminals: ['input', 'error'] })).toEqual([false, true]);
    expect(await isColored({ terminals: ['input', 'output'] })).toEqual([true, false]);
    expect(await isColored({ terminals: ALL }, '--help')).toEqual([true, false]);
    expect(await isColored({ terminals: ['input', 'error'] }, '--help')).toEqual([false, false]);
  });

  it('NO_COLOR, a dumb terminal and --no-color turn colors off', async () => {
    enforces('cli_interaction_switches');
    expect(await isColored({ terminals: ALL, env: { NO_COLOR: '1' } })).toEqual([false, false]);
    expect(await isColored({ terminals: ALL, env: { NO_COLOR: '1' } }, '--help')).toEqual([false, false]);
    expect(await isColored({ terminals: ALL, env: { TERM: 'dumb' } })).toEqual([false, false]);
    expect(await isColored({ terminals: ALL }, '--no-color')).toEqual([false, false]);
    expect(await isColored({ terminals: ALL, env: { NO_COLOR: '' } })).toEqual([true, true]);
  });
});

describe('every command', () => {
  it('every command prints one document of its published shape under --json, and nothing else', async () => {
    enforces('cli_json_everywhere');
    const world = { terminals: ALL, setup: fakeSetup(), sessionAccess: emptyOverview() };
    for (const entry of COMMANDS) {
      const name = commandName(entry);
      const { operands } = await entry.load();
      const { exitCode, out, talk } = await runFake({ argv: [...name.split(' '), '--json'], ...world });
      expect(talk, name).toBe('');
      // Commands that serve print where, unless that is standard output itself.
      if (exitCode === undefined) {
        const data = { url: 'http://127.0.0.1:7434/#code' };
        const said = name === 'console' ? `${JSON.stringify({ ok: true, v: 1, command: name, data })}\n` : '';
        expect([['serve', 'console'].includes(name), out]).toEqual([true, said]);
        continue;
      }
      // A command that only serves has nothing to print but its problem.
      const shape = COMMAND_SHAPES[name] ?? commandShape(name, z.never());
      const document = shape.parse(JSON.parse(out));
      expect(document, name).toMatchObject({ v: 1, ok: exitCode === 0 });
      if (operands?.[0]?.syntax.startsWith('<') === true) expect([name, exitCode]).toEqual([name, EXIT.usage]);
    }
  });

  it('a server prints its address for a script, as JSON or alone, and nothing else', async () => {
    enforces('cli_json_everywhere');
    const url = 'http://127.0.0.1:7433/mcp';
    const world = { terminals: ALL, serve: () => ok({ url, secretFile: '/data/keys/http-token' }) };
    const said = async (...argv: readonly string[]) => runFake({ argv, ...world });
    expect(await said('serve', '--http', '--quiet')).toMatchObject({ out: `${url}\n`, talk: '' });
    const { out, talk } = await said('serve', '--http', '--json');
    expect([JSON.parse(out).data, talk]).toEqual([{ url, tokenFile: '/data/keys/http-token' }, '']);
    expect(await said('console', '--quiet')).toMatchObject({ out: 'http://127.0.0.1:7434/#code\n', talk: '' });
    const atTerminal = (await said('console')).talk;
    expect([atTerminal.includes('Press Enter'), atTerminal.includes('takes no decisions')]).toEqual([true, false]);
    const elsewhere = (await runFake({ argv: ['console'], terminals: [] })).talk;
    expect([elsewhere.includes('Press Enter'), elsewhere.includes('takes no decisions')]).toEqual([false, true]);
  });

  it('a command exits with one of seven codes', async () => {
    enforces('cli_exit_codes');
    expect(EXIT).toEqual({
      ok: 0,
      failed: 1,
      usage: 2,
      notFound: 3,
      checkFailed: 4,
      needsPerson: 5,
      interrupted: 130,
    });
    const exitCode = async (world: Parameters<typeof runFake>[0]) => (await runFake(world)).exitCode;
    expect(await exitCode({ argv: ['session', 'verify'] })).toBe(0);
    expect(await exitCode({ argv: ['session', 'verify'], bug: new Error('bug: five') })).toBe(1);
    expect(await exitCode({ argv: ['session', 'verify', '--what'] })).toBe(2);
    expect(await exitCode({ argv: ['session', 'verify', 'sess_0'] })).toBe(3);
    const damage = { reason: 'segment_missing', place: 'sessions/x', offset: 0 } as const;
    const health = { kind: 'corrupt_head', damage } as const;
    const audits = [
      { sessionId: SESSION, health, events: 0, bytes: 0, findings: [], signature: { kind: 'unsigned' } as const },
    ];
    expect(await exitCode({ argv: ['session', 'verify'], audits })).toBe(4);
  });
});

describe('an internal error', () => {
  const world = { argv: ['session', 'verify'], bug: new Error('bug: two and two is five') };

  it('an internal error exits with code 1 and a message without a stack trace', async () => {
    const { exitCode, out, talk } = await runFake(world);
    expect({ exitCode, out }).toEqual({ exitCode: 1, out: '' });
    expect(talk).toMatch(/^INTERNAL: .*\nFix: .*--verbose.*\n$/);
  });

  it('--verbose shows the stack trace of an internal error, with escape sequences made visible', async () => {
    enforces('cli_interaction_switches', 'cli_escapes_not_raw');
    const { talk } = await runFake({ ...world, argv: [...world.argv, '--verbose'] });
    expect(talk).toMatch(/two and two is five\n\s+at /);
    const bug = new Error(`quoting ${ESCAPE}[2J\u200b`);
    const quoting = await runFake({ argv: [...world.argv, '--verbose'], bug });
    expect(quoting.talk).toContain('quoting \\u001b[2J\\u200b\n');
    expect(quoting.talk).not.toContain(ESCAPE);
  });

  it('an internal error prints a JSON document under --json', async () => {
    const { exitCode, out } = await runFake({ ...world, argv: [...world.argv, '--json'] });
    expect(exitCode).toBe(1);
    expect(sessionVerifyShape.parse(JSON.parse(out))).toMatchObject({ ok: false, error: { code: 'INTERNAL' } });
  });
});

describe('serve', () => {
  const asked = async (...argv: string[]) => {
    const how: unknown[] = [];
    const { exitCode, talk } = await runFake({
      argv: ['serve', ...argv],
      serve: (options) => {
        how.push(options);
        return ok(options.transport === 'http' ? { url: `http://127.0.0.1:${options.port}/mcp` } : {});
      },
    });
    return { exitCode, talk, how };
  };

  it('serve uses stdio, or HTTP on the requested port', async () => {
    const isLogged = false;
    expect((await asked()).how).toEqual([{ transport: 'stdio', isLogged }]);
    expect((await asked('--log')).how).toEqual([{ transport: 'stdio', isLogged: true }]);
    for (const argv of [['--http'], ['--http', '7433'], ['--http', '--port', '7433'], ['--port', '7433']]) {
      expect((await asked(...argv)).how).toEqual([{ transport: 'http', port: 7433, isLogged }]);
    }
    expect((await asked('--http', '0', '--log')).how).toEqual([{ transport: 'http', port: 0, isLogged: true }]);
  });

  it('serve over HTTP prints its address and keeps running', async () => {
    const { exitCode, talk } = await asked('--http');
    expect(exitCode).toBeUndefined();
    expect(talk).toContain('Serving MCP at http://127.0.0.1:7433/mcp');
  });

  it.each([
    [['--http', 'home'], /not "home"/],
    [['--http', '70000'], /not "70000"/],
    [['--http', '--stdio'], /not both/],
  ])('serve does not start with %j, and says why', async (argv, said) => {
    const { exitCode, talk, how } = await asked(...argv);
    expect({ exitCode, how }).toEqual({ exitCode: 2, how: [] });
    expect(talk).toMatch(said);
  });

  it('serve says why it cannot use a port, and exits', async () => {
    const taken = err({ code: 'port_taken', port: 7433 } as const);
    const { exitCode, talk } = await runFake({ argv: ['serve', '--http'], serve: () => taken });
    expect([exitCode, talk]).toEqual([2, expect.stringMatching(/Port 7433 is in use.*\nFix: .*--http 0/)]);
    const inUse = consolePortProblem(refusalProblem(taken.error, '')).error;
    expect(inUse.suggestion).toMatch(/"workrail console --port 0"\.$/);
    const { talk: said } = await runFake({ argv: ['console', '--port', 'x'] });
    expect([said.includes('console --port 0'), said.includes('serve --http')]).toEqual([true, false]);
  });
});
