import { describe, expect, it } from 'vitest';
import { lookedAtWorld, MINUTE_MS } from '../../../test/cli/looked-at.ts';
import { searchSessions } from '../../app/sessions/search-sessions.ts';
import { searchLines } from './search.ts';

async function searchable() {
  const world = lookedAtWorld();
  const { start, send, save, wait } = world;
  const notes = await send(await start('test.plain', { goal: 'first' }), { notes: 'The zebra crossed.' });
  await send(notes, { notes: 'Nothing new.', artifacts: [{ kind: 'note', text: 'a giraffe' }] });
  wait(MINUTE_MS);
  await start('test.plain', { goal: 'find the Zebra' });
  wait(MINUTE_MS);
  const spread = await start('test.plain', { goal: 'a giraffe' });
  await save(spread, 'and a zebra');
  return world;
}

describe('search', () => {
  it('search ranks goals before notes before artifacts, and says what was searched', async () => {
    const { look } = await searchable();
    const { out, talk } = await look(['search', 'ZEBRA']);
    expect(out.replaceAll(/(?<=^. )\w{4}/gm, 'id00')).toBe(
      [
        '● id00  find the Zebra  running  1 min ago',
        '    goal: find the Zebra',
        '● id00  a giraffe  running  just now',
        '    note in step 1 "Do s1": and a zebra',
        '● id00  first  running  2 min ago',
        '    note in step 1 "Do s1": The zebra crossed.',
        'Searched goals, notes and artifacts of 3 sessions.',
        '',
      ].join('\n'),
    );
    expect(talk).toMatch(/^Next: workrail session notes \w{4}\n$/);
  });

  it('search requires every word, in any place of a session', async () => {
    const { look } = await searchable();
    const titles = (out: string) => [...out.matchAll(/^. \w{4} {2}(.+?) {2}/gm)].map(([, title]) => title);
    expect(titles((await look(['search', 'zebra', 'giraffe'])).out)).toEqual(['a giraffe', 'first']);
    expect(titles((await look(['search', 'giraffe'])).out)).toEqual(['a giraffe', 'first']);
    expect((await look(['search', 'zebra', 'lion'])).out).toMatch(
      /^No session contains "zebra" and "lion"\.\nSearched/,
    );
  });

  it('search does not find output that was blocked', async () => {
    const { start, send, look } = lookedAtWorld();
    await send(await start('test.demands'), { notes: 'a rejected draft' });
    expect((await look(['search', 'rejected'])).out).toMatch(/^No session contains/);
  });

  it('search reads the newest sessions and those the index finds, or all with --all', async () => {
    const { start, send, wait, sessionAccess } = lookedAtWorld();
    const older = await send(await start('test.plain'), { notes: 'haystack' });
    await send(older, { notes: 'needle' });
    wait(MINUTE_MS);
    await start('test.plain');
    const search = async (word: string, readMax: number) => {
      const result = await searchSessions(sessionAccess(), { words: [word], readMax });
      const { found, searched, total } = result._unsafeUnwrap();
      return [found.length, searched, total];
    };
    expect(await search('needle', 1)).toEqual([1, 1, 2]);
    expect(await search('haystack', 1)).toEqual([0, 1, 2]);
    expect(await search('haystack', 2)).toEqual([1, 2, 2]);
  });

  it('search says what it has not searched', () => {
    const data = {
      words: ['x'],
      found: [],
      total: 0,
      searched: 200,
      notSearched: 1,
      unreadable: { sessions: 1, ends: 0, artifacts: 2 },
    };
    expect(searchLines(data, { nowMs: 0, width: 80 })).toEqual([
      ['No session contains "x".'],
      [
        {
          text: 'Searched goals, notes and artifacts of 200 sessions; 1 older session not searched (add --all); 1 session cannot be read; 2 artifacts cannot be read.',
          style: 'dim',
        },
      ],
    ]);
  });
});
