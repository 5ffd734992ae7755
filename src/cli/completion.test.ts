import { expect, it } from 'vitest';
import { runFake } from '../../test/cli/fake-program.ts';
import { emptyOverview, fakeSetup } from '../../test/cli/fake-setup.ts';
import { COMMAND_GROUPS, commandName } from './command.ts';
import { COMMANDS } from './command-list.ts';
import { candidatesFor, type LiveCandidates } from './completion.ts';

const live: LiveCandidates = {
  sessions: async () => [{ value: '7f3a', about: 'running: Fix the cart' }],
  workflows: async () => [{ value: 'wr.first_steps', about: 'First steps' }],
};
const values = async (...words: string[]) => (await candidatesFor(words, live)).map(({ value }) => value);

it('completion reaches every command word by word', async () => {
  const first = await values('');
  for (const name of COMMANDS.map(commandName)) {
    const [group = '', verb] = name.split(' ');
    expect(first).toContain(group);
    if (verb !== undefined) expect(await values(group, verb.slice(0, 2))).toContain(verb);
  }
  for (const group of Object.keys(COMMAND_GROUPS)) expect(await values('help', group, '')).not.toEqual([]);
});

it('completion offers session ids, workflow ids, clients, settings and values where they belong', async () => {
  expect(await values('session', 'show', '')).toEqual(['7f3a']);
  expect(await values('export', '--json', '7')).toEqual(['7f3a']);
  expect(await values('session', 'keep', '7f3a', '')).toEqual(['7f3a']);
  expect(await values('workflow', 'show', 'wr.')).toEqual(['wr.first_steps']);
  expect(await values('config', 'get', 'mo')).toEqual(['mode']);
  expect(await values('config', 'set', 'log', '')).toEqual(['true', 'false']);
  expect(await values('init', '--client', 'zed,cu')).toEqual(['zed,cursor']);
  expect(await values('completion', 'z')).toEqual(['zsh']);
});

it('completion offers options after a dash, and nothing where the shell completes files', async () => {
  expect(await values('doctor', '--f')).toEqual(['--fix', '--full']);
  expect(await values('--v')).toEqual(['--verbose', '--version']);
  expect(await values('import', '')).toEqual([]);
  expect(await values('config', 'get', 'mode', '')).toEqual([]);
  expect(await values('nonsense', '')).toEqual([]);
});

it.each(['bash', 'zsh', 'fish'])(
  'while %s completes a word, the program has no terminal to take keys from',
  async (shell) => {
    const world = { setup: fakeSetup(), sessionAccess: emptyOverview() };
    const { out } = await runFake({ argv: ['completion', shell], ...world });
    expect(out).toMatch(/--complete -- .* <\/dev\/null 2>\/dev\/null/);
  },
);

it('completion for an unknown shell names the known ones', async () => {
  const world = { setup: fakeSetup(), sessionAccess: emptyOverview() };
  const { exitCode, talk } = await runFake({ argv: ['completion', 'zhs'], ...world });
  expect([exitCode, talk]).toEqual([2, expect.stringContaining('Did you mean zsh?')]);
  expect((await runFake({ argv: ['completion', 'fish', '--complete', '--', 'doc'], ...world })).out).toMatch(
    /^doctor \w/,
  );
});
