import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runFake } from '../../../test/cli/fake-program.ts';
import { forkedWorld } from '../../../test/cli/forked-session.ts';
import { lookedAtWorld, MINUTE_MS } from '../../../test/cli/looked-at.ts';
import { sessionOf } from '../../../test/examples/shared-session.ts';
import { freshStore } from '../../../test/fresh-store.ts';
import { layout } from '../../adapters/file-store/disk/disk.ts';

describe('session list', () => {
  it('session list shows the newest first, counts the rest, and filters by state and folder', async () => {
    const world = await forkedWorld();
    const { look, start, sessionAccess, wait } = world;
    wait(90 * MINUTE_MS);
    await start('test.plain', { goal: 'newest', workspace: '/elsewhere' });
    const lines = (await look(['session', 'list'])).out.split('\n');
    expect(lines[0]).toMatch(/^● \w{4} {2}\w{4} {2}newest +test\.plain {2}running {2}just now$/);
    expect(lines[1]).toMatch(/^▲ \w{4} {2}\w{4} {2}checkout fails on empty cart +test\.plain {2}blocked {2}1 h ago$/);
    expect((await look(['session', 'list', '--limit', '1'])).out).toMatch(
      /newest.*\n… and 1 more. Add --all to see them\.\n$/,
    );
    expect((await look(['session', 'list', '--here'])).out).toMatch(/^▲ \w{4} {2}\w{4} {2}checkout/);
    expect((await look(['session', 'list', '--state', 'running'])).out).toMatch(/^● .*newest.*\n$/);
    expect((await look(['session', 'list', '--state', 'closed'])).out).toBe('None of 2 sessions matches.\n');
    expect((await look(['session', 'list', '--state', 'open'])).exitCode).toBe(2);
    expect((await look(['session', 'list', '--limit', 'x'])).exitCode).toBe(2);
    // No log is read for it.
    const refusing = () => expect.fail('a log was read');
    const { sessions } = sessionAccess();
    const unread = sessionAccess({ sessions: { ...sessions, load: refusing, loadValidPrefix: refusing } });
    expect((await runFake({ argv: ['session', 'list'], sessionAccess: unread })).exitCode).toBe(0);
  });

  it('session list marks damaged and partial sessions', async () => {
    const { store, another, files, root } = freshStore();
    const { start, send, wait, sessionAccess } = lookedAtWorld({ store });
    const replies = [];
    for (const goal of ['flipped', 'forged', 'only a part', 'whole']) {
      replies.push(await send(await start('test.plain', { goal }), { notes: 'On.' }));
      wait(MINUTE_MS);
    }
    const [flipped, forged, part] = replies.map(sessionOf);
    const last = join(root, files().findLast((name) => name.includes(`${flipped}/events/`)) ?? '');
    const bytes = readFileSync(last);
    bytes[50] = (bytes[50] ?? 0) ^ 1;
    writeFileSync(last, bytes);
    const manifest = join(root, 'sessions', `${forged}`, 'manifest.jsonl');
    writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('"bytes":', '"bytez":'));
    writeFileSync(join(root, 'sessions', `${part}`, 'salvaged'), '');
    // An index never knows of a part.
    const index = readFileSync(join(root, layout.sessionIndex), 'utf8').split('\n');
    writeFileSync(join(root, layout.sessionIndex), index.filter((line) => !line.includes(`${part}`)).join('\n'));
    const look = async (...argv: string[]) =>
      (await runFake({ argv: ['session', 'list', ...argv], sessionAccess: sessionAccess(another()) })).out;
    const rows = (out: string) =>
      [...out.matchAll(/^(.) \w{4} {2}\w{4} {2}(.+?) {2,}test\.plain {2}(\w+) /gm)].map(([, ...row]) => row.join(' '));
    const [running, salvaged] = ['● whole running', '◐ only a part salvaged'];
    const damaged = ['✗ forged damaged', '✗ flipped damaged'];
    expect(rows(await look()).toSorted()).toEqual([...damaged, running, salvaged].toSorted());
    expect(rows(await look('--state', 'damaged'))).toEqual(damaged);
    expect(rows(await look('--state', 'salvaged', '--limit', '1'))).toEqual([salvaged]);
    expect(rows(await look('--state', 'running'))).toEqual([running]);
    const { out } = await runFake({ argv: ['status'], sessionAccess: sessionAccess(another()) });
    expect(out).toMatch(/Not listed, in all folders: 1 salvaged session, 2 damaged sessions\.\n$/);
    const shown = await runFake({ argv: ['session', 'show', `${part}`], sessionAccess: sessionAccess(another()) });
    expect(shown.out).toMatch(/^✗ only part of a session.*\n◐ salvaged /s);
  });

  it('session commands say so if there are no sessions', async () => {
    const { look } = lookedAtWorld();
    expect(await look(['session', 'list'])).toMatchObject({ exitCode: 0, out: 'No sessions yet in /data/workrail.\n' });
    expect(await look(['session', 'show'])).toMatchObject({ exitCode: 3, out: '' });
    expect((await look(['status'])).out).toBe('No sessions yet.\n');
  });
});
