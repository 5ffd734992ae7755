import { expect, it } from 'vitest';
import { runFake } from '../../test/cli/fake-program.ts';
import { fakeSetup, HOME, PROGRAM } from '../../test/cli/fake-setup.ts';
import { lookedAtWorld } from '../../test/cli/looked-at.ts';

it('the welcome screen fits the terminal and shows commands as the user must type them', async () => {
  const calledAs = 'node ../some/where/dist/workrail.js';
  const world = {
    argv: [],
    terminals: ['input'],
    setup: fakeSetup(),
    sessionAccess: lookedAtWorld().sessionAccess(),
  } as const;
  const { out } = await runFake({ ...world, columns: 80, calledAs });
  expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
  expect(out).toContain(`\n  ${calledAs} workflow list\n      list the workflows an agent can follow\n`);
  expect(out).not.toMatch(/^ {2}workrail /m);
  // A terminal without a size is none to wrap for.
  for (const columns of [80, 0]) {
    expect((await runFake({ ...world, columns })).out).toMatch(/^ {2}workrail workflow list {2}list the workflows/m);
  }
});

it('the welcome screen suggests init only while no client is registered', async () => {
  const world = {
    argv: [],
    terminals: ['input'],
    sessionAccess: lookedAtWorld().sessionAccess(),
  } as const;
  const entry = JSON.stringify({ mcpServers: { workrail: { command: 'node', args: [PROGRAM] } } });
  expect((await runFake({ ...world, setup: fakeSetup() })).out).toContain('workrail init');
  const registered = await runFake({
    ...world,
    setup: fakeSetup({ files: new Map([[`${HOME}/.cursor/mcp.json`, entry]]) }),
  });
  expect(registered.out).toContain('workrail demo');
  expect(registered.out).not.toContain('workrail init');
});

it('the welcome screen counts a registration of the project, and names the sources that wait', async () => {
  const entry = JSON.stringify({ mcpServers: { workrail: { command: 'npx', args: ['-y', 'workrail', 'serve'] } } });
  const sessionAccess = lookedAtWorld().sessionAccess();
  const world = { argv: [], terminals: ['input'], sessionAccess } as const;
  const files = new Map([['/work/shop/.mcp.json', entry]]);
  const inProject = await runFake({ ...world, setup: fakeSetup({ files }) });
  expect(inProject.out).toContain('registered with Claude Code in this project\n');
  expect(inProject.out + inProject.talk).not.toContain('workrail init');
  const unacceptedSources = async () => ['flows'];
  const waiting = await runFake({ ...world, setup: fakeSetup({ files, health: { unacceptedSources } }) });
  expect(waiting.out).toContain('• The source flows waits until you accept it: workrail source accept\n');
  expect(waiting.talk).toContain('Next: workrail source accept');
});
