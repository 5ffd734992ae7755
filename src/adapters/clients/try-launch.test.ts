import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { fakeSetup } from '../../../test/cli/fake-setup.ts';
import { enforces } from '../../../test/enforces.ts';
import { launchTrial } from './try-launch.ts';

const { machine } = fakeSetup({ machine: { env: { PATH: '/usr/bin:/bin' } } });
const node = (...args: string[]) => ({
  launch: { command: process.execPath, args, env: {} },
  environment: 'shell' as const,
});
/** Where a flood is read to its end before any timer, even the first turn takes longer. */
const LIMIT_MS = 30_000;
const leftovers = () => readdirSync(tmpdir()).filter((name) => name.startsWith('workrail-doctor-')).length;

it('a server that never answers is killed and its folder removed', async () => {
  enforces('doctor_really_starts_clients');
  const before = leftovers();
  const hanging = node('-e', 'setInterval(() => {}, 1000)');
  expect(await launchTrial(machine, 300)(hanging)).toEqual({
    kind: 'fails',
    at: 'the start',
    said: 'no answer in 300 ms',
  });
  expect(leftovers()).toBe(before);
});

describe.runIf(process.platform !== 'win32')('a server that floods its output is killed', () => {
  // What a shell started is no child of ours, and holds the pipe open when the shell is gone.
  const message = '{"jsonrpc":"2.0","method":"x"}';
  it.each(['yes X', 'yes X; true', 'yes X >&2; true', `yes '${message}'; true`])(
    '%s',
    async (script) => {
      enforces('doctor_really_starts_clients');
      const launch = { command: '/bin/sh', args: ['-c', script], env: {} };
      const noAnswer = { kind: 'fails', at: 'the start', said: 'no answer in 100 ms' };
      expect(await launchTrial(machine, 100)({ launch, environment: 'shell' })).toEqual(noAnswer);
    },
    LIMIT_MS,
  );
});

it('the last output of a failing program is reported', async () => {
  const failing = node('-e', 'console.error("port is taken"); process.exit(1)');
  expect(await launchTrial(machine)(failing)).toEqual({ kind: 'fails', at: 'the start', said: 'port is taken' });
});

it('a missing absolute path is stale; a program that is not on the PATH fails', async () => {
  const tryLaunch = launchTrial(machine);
  expect(await tryLaunch(node('/gone/workrail.js', 'serve'))).toEqual({ kind: 'stale', missing: '/gone/workrail.js' });
  const unknown = { launch: { command: 'workrail-not-there', args: [], env: {} }, environment: 'window' as const };
  expect(await tryLaunch(unknown)).toMatchObject({
    kind: 'fails',
    at: 'the start',
    said: expect.stringContaining('ENOENT'),
  });
});

it('a tried server sees only the variables that its client passes on', async () => {
  enforces('doctor_really_starts_clients');
  const variables = { PATH: '/opt/own:/usr/bin', HOME: '/home/ada', LANG: 'C', WORKRAIL_LOG: '1' };
  const shell = launchTrial(fakeSetup({ machine: { env: variables } }).machine);
  const script =
    'console.error(["HOME","PATH","WORKRAIL_LOG","EXTRA"].map((n) => process.env[n] ?? "-").join()); process.exit(1)';
  const seen = async (environment: 'shell' | 'few' | 'window') => {
    const launch = { command: process.execPath, args: ['-e', script], env: { EXTRA: 'x' } };
    const trial = await shell({ launch, environment });
    return trial.kind === 'fails' ? trial.said : trial.kind;
  };
  expect(await seen('shell')).toBe('/home/ada,/opt/own:/usr/bin,1,x');
  expect(await seen('few')).toBe('/home/ada,/opt/own:/usr/bin,-,x');
  expect(await seen('window')).toBe('/home/ada,/usr/local/bin:/usr/bin:/bin,-,x');
});

it('a server that cannot return to an earlier step fails the trial', async () => {
  enforces('doctor_really_starts_clients');
  const script = `
    const told = (stepId) => ({ content: [], structuredContent: { stateToken: 's', ackToken: 'a', pending: { stepId } } });
    const serverInfo = { name: 'forgetful', version: '1' };
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const { id, method, params } = JSON.parse(line);
      if (id === undefined) return;
      const result = {
        initialize: { protocolVersion: params?.protocolVersion, capabilities: { tools: {} }, serverInfo },
        'tools/list': { tools: [] },
        'tools/call': told(params?.name === 'start_workflow' ? 'first' : 'second'),
      }[method];
      console.log(JSON.stringify({ jsonrpc: '2.0', id, result }));
    });`;
  const forgetful = await launchTrial(machine)(node('-e', script));
  expect(forgetful).toEqual({ kind: 'fails', at: 'going back', said: 'another step came back' });
});
