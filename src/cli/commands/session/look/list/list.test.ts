import { describe, expect, it } from 'vitest';
import { runFake } from '../../../../../../test/cli/fake-program.ts';
import { forkedWorld } from '../../../../../../test/cli/forked-session.ts';
import { lookedAtWorld, MINUTE_MS } from '../../../../../../test/cli/looked-at.ts';

describe('session list', () => {
  it('lists the newest first, says how many more there are, and filters by state and place', async () => {
    const world = await forkedWorld();
    const { look, start, overview, wait } = world;
    wait(90 * MINUTE_MS);
    await start('test.plain', { goal: 'newest', workspace: '/elsewhere' });
    const lines = (await look(['session', 'list'])).out.split('\n');
    expect(lines[0]).toMatch(/^● \w{4} {2}newest +test\.plain {2}running {2}just now$/);
    expect(lines[1]).toMatch(/^▲ \w{4} {2}checkout fails on empty cart +test\.plain {2}blocked {2}1 h ago$/);
    expect((await look(['session', 'list', '--limit', '1'])).out).toMatch(
      /newest.*\n… and 1 more; --all shows them\.\n$/,
    );
    expect((await look(['session', 'list', '--here'])).out).toMatch(/^▲ \w{4} {2}checkout/);
    expect((await look(['session', 'list', '--state', 'running'])).out).toMatch(/^● .*newest.*\n$/);
    expect((await look(['session', 'list', '--state', 'closed'])).out).toBe('None of 2 sessions fits.\n');
    expect((await look(['session', 'list', '--state', 'open'])).exitCode).toBe(2);
    expect((await look(['session', 'list', '--limit', 'x'])).exitCode).toBe(2);
    // No log is read for it.
    const refusing = () => expect.fail('a log was read');
    const { sessions } = overview();
    const unread = overview({ sessions: { ...sessions, load: refusing, loadValidPrefix: refusing } });
    expect((await runFake({ argv: ['session', 'list'], overview: unread })).exitCode).toBe(0);
  });

  it('says so when there is nothing to list or to look at', async () => {
    const { look } = lookedAtWorld();
    expect(await look(['session', 'list'])).toMatchObject({ exitCode: 0, out: 'No sessions yet in /data/workrail.\n' });
    expect(await look(['session', 'show'])).toMatchObject({ exitCode: 3, out: '' });
    expect((await look(['status'])).out).toBe('No sessions yet: nothing is running, blocked or waiting.\n');
  });
});
