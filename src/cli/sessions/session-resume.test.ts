import { describe, expect, it } from 'vitest';
import { forkedWorld } from '../../../test/cli/forked-session.ts';
import { lookedAtWorld, MINUTE_MS } from '../../../test/cli/looked-at.ts';
import { enforces } from '../../../test/enforces.ts';
import { tokenOf, told } from '../../../test/examples/engine.ts';
import { sessionOf } from '../../../test/examples/shared-session.ts';
import { resumeSession } from '../../app/resume/resume-session.ts';

describe('session resume', () => {
  const callIn = (out: string) => {
    const [, tool, args] = /^ {2}(\w+) (\{.*\})$/m.exec(out) ?? [];
    return { tool, args: JSON.parse(args ?? 'null') };
  };

  it('session resume prints a call that shows the current step in a new chat', async () => {
    enforces('cli_session_resume_prompt');
    const { look, services } = await forkedWorld();
    const { exitCode, out, talk } = await look(['session', 'resume']);
    expect([exitCode, talk.startsWith('Next: paste the text above into a new chat')]).toEqual([0, true]);
    expect(out).toContain('blocked at step 5 "Do s5"');
    const { tool, args } = callIn(out);
    expect(tool).toBe('resume_session');
    const back = (await resumeSession(services, args))._unsafeUnwrap();
    expect(back.structured).toMatchObject({ pending: { stepId: 's5' }, ackToken: expect.any(String) });
  });

  it('session resume --at prints a token of an earlier step, and repeating that step creates a branch', async () => {
    enforces('cli_session_resume_prompt');
    const { look, send, show, view, sessionId } = await forkedWorld();
    for (const at of ['2', 's2', 'Do s2']) {
      const { tool, args } = callIn((await look(['session', 'resume', sessionId, '--at', at])).out);
      expect(tool).toBe('continue_workflow');
      expect((await show(args.stateToken)).structured).toMatchObject({ pending: { stepId: 's2' } });
    }
    const { args } = callIn((await look(['session', 'resume', sessionId, '--at', '2'])).out);
    const again = await send(await show(args.stateToken), { notes: 'Guessed again.' });
    expect((await look(['session', 'tree', sessionId])).out).toContain('branch B ⑂ 2 other branches');
    expect((await view(again)).graph.runs.size).toBe(1);
    expect(await look(['session', 'resume', sessionId, '--at', 'Do'])).toMatchObject({ exitCode: 2, out: '' });
    expect(await look(['session', 'resume', sessionId, '--at', '99'])).toMatchObject({ exitCode: 3, out: '' });
  });

  it('session resume chooses the latest of two open runs, and --at needs the run to be named', async () => {
    const { start, send, look, services } = lookedAtWorld();
    const first = await start('test.plain', { goal: 'first' });
    const other = await start('test.plain', { goal: 'second', attachTo: tokenOf(first, 'stateToken') });
    const tip = await send(first, { notes: 'On.' });
    const sessionId = sessionOf(first);
    const { args } = callIn((await look(['session', 'resume', sessionId])).out);
    const asked = (await resumeSession(services, { sessionId }))._unsafeUnwrap();
    expect([args.runId, told(asked, 'session.runId')]).toEqual(Array(2).fill(told(tip, 'session.runId')));
    expect((await look(['session', 'resume', String(told(other, 'session.runId'))])).out).toContain('"second"');
    const tags = [first, other].map((reply) => told(reply, 'run.tag'));
    expect(await look(['session', 'resume', sessionId, '--at', '1'])).toMatchObject({
      exitCode: 2,
      talk: expect.stringContaining(`Name the run instead of the session: ${tags.join(', ')}.`),
    });
    expect((await look(['session', 'resume', String(tags[1]), '--at', '1'])).out).toContain('"second"');
  });

  it('session resume without an id prefers an open session here over a later finished one, and lists other open ones', async () => {
    const { start, send, wait, look } = lookedAtWorld();
    for (const goal of ['older', 'newer']) {
      await start('test.plain', { goal });
      wait(MINUTE_MS);
    }
    await start('test.plain', { goal: 'elsewhere', workspace: '/work/other' });
    let at = await start('test.first_loop', { goal: 'over', context: { files: [] } });
    wait(MINUTE_MS);
    at = await send(at, { notes: 'Done.' });
    expect(told(at, 'isComplete')).toBe(true);
    const { out, talk } = await look(['session', 'resume']);
    expect(out).toContain('"newer"');
    expect(talk).toMatch(/^Also open here: \w{4} "older"\n/);
    const { data } = JSON.parse((await look(['session', 'resume', '--json'])).out);
    expect(data.alsoOpen).toMatchObject([{ state: 'running', title: 'older' }]);
  });

  it('session resume --at accepts a step as printed, and names the nearest steps for an unknown number', async () => {
    const { look, sessionId } = await forkedWorld();
    const resume = (at: string) => look(['session', 'resume', sessionId, '--at', at]);
    for (const at of ['2 Do s2', '2. Do s2', '✓ 2. Do s2', 'step 2 "Do s2"', 'Step 2 of 12: Do s2'])
      expect([at, (await resume(at)).out]).toEqual([at, expect.stringContaining('step 2 "Do s2"')]);
    expect(await resume('7')).toMatchObject({
      exitCode: 3,
      talk: expect.stringContaining('It has: 2 Do s2, 3 Do s3, 4 Do s4, 5 Do s5.'),
    });
    expect((await resume('2 Do s4')).exitCode).toBe(3);
  });

  it('session resume of a blocked step includes the rejected draft', async () => {
    const { start, send, show, look } = lookedAtWorld();
    await send(await start('test.demands'), { notes: 'My draft.' });
    const { out } = await look(['session', 'resume', '--at', '1']);
    expect(out).toContain('blocked at step 1');
    expect((await show(callIn(out).args.stateToken)).structured).toMatchObject({
      kind: 'blocked',
      draft: { notesMarkdown: 'My draft.' },
    });
  });
});
