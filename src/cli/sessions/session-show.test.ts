import { describe, expect, it } from 'vitest';
import { forked, forkedWorld } from '../../../test/cli/forked-session.ts';
import { lookedAtWorld } from '../../../test/cli/looked-at.ts';
import { tokenOf, told } from '../../../test/examples/engine.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { memoryStore } from '../../adapters/memory-store/memory-store.ts';
import { eventIndexSchema } from '../../core/log/ids.ts';

describe('session show', () => {
  it('session show shows the current step, what blocks it and how to continue', async () => {
    const { look, sessionId } = await forkedWorld();
    const { out, talk } = await look(['session', 'show', sessionId]);
    const lines = out.split('\n');
    expect(lines[0]).toBe('checkout fails on empty cart');
    expect(lines[1]).toMatch(
      new RegExp(`^▲ blocked {2}${sessionId} {2}· {2}last active just now {2}· {2}\\d+ events$`),
    );
    expect(lines.slice(2, 4)).toEqual(['  workspace  /work/shop', '']);
    expect(lines.slice(4).join('\n')).toMatch(
      /^▲ run · \w{4} {2}Twelve steps \(test\.plain\) {2}blocked\n {2}step {7}5: Do s5, blocked 3 times\n {2}needs {6}This step requires notes\.\n {13}Fix: Send `output\.notesMarkdown`/,
    );
    expect(out).toContain(
      '  mode       guided (by default), risk policy conservative\n  branch     A; 1 other branch\n',
    );
    expect(talk).toBe(`Next: workrail session resume ${sessionId.slice(-4)}\n`);
  });

  it('session show is about the named run, and status names runs in a session with two', async () => {
    const { start, send, look } = lookedAtWorld();
    const first = await start('test.plain', { goal: 'first goal' });
    const other = await start('test.plain', { goal: 'second goal', attachTo: tokenOf(first, 'stateToken') });
    await send(first, { notes: 'On.' });
    const tags = [first, other].map((reply) => String(told(reply, 'run.tag')));
    expect(await look(['session', 'show', tags[1] ?? ''])).toMatchObject({
      out: expect.stringMatching(/^second goal\n/),
      talk: `Next: workrail session resume ${tags[1]}\n`,
    });
    const { out, talk } = await look(['status']);
    expect(out.split('\n').filter((line) => / at step \d/.test(line))).toEqual([
      `      run ${tags[0]} at step 2: Do s2`,
      `      run ${tags[1]} at step 1: Do s1`,
    ]);
    expect(talk).toBe(`Next: workrail session resume ${tags[0]}\n`);
  });

  it('session show and status show a closed run as closed', async () => {
    const store = memoryStore(sha256);
    const world = lookedAtWorld({ store });
    const { look, view } = world;
    const { sessionId, tip } = await forked(world);
    const [runId] = (await view(tip)).graph.runs.keys();
    const last = (await view(tip)).nextEventIndex - 1;
    if (runId === undefined) expect.fail('there is a run');
    (await store.marks.setClosed(sessionId, runId, eventIndexSchema.parse(last)))._unsafeUnwrap();
    expect((await look(['session', 'list'])).out).toMatch(/^– .* closed /);
    expect((await look(['session', 'show'])).out).toMatch(/– closed .*– run · \w{4} .* closed\n/s);
    expect((await look(['session', 'tree'])).out).toMatch(/^test\.plain {2}"checkout fails on empty cart" {3}closed/);
    expect((await look(['status'])).out).toMatch(/Also in all folders, not listed: 1 closed\.\n$/);
  });
});
