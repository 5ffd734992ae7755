import { describe, expect, it } from 'vitest';
import { forked, forkedWorld } from '../../../test/cli/forked-session.ts';
import { lookedAtWorld } from '../../../test/cli/looked-at.ts';
import { tokenOf, told, withFile } from '../../../test/examples/engine.ts';
import { AT_TERMINAL, answerAt, answerId, OBSERVED, shipStep, TELL, teamFile } from '../../../test/examples/gates.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { memoryStore } from '../../adapters/memory-store/memory-store.ts';
import { findCheck, recordCheck } from '../../app/run/attest-check.ts';
import { eventIndexSchema, type RunId, type SessionId } from '../../core/log/ids.ts';
import { commandDigest } from '../../core/run/evidence/judge-check.ts';

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
    expect((await look(['status'])).out).toMatch(/Not listed, in all folders: 1 closed session\.\n$/);
  });

  it('session show, tree and status show that a check which blocked the run is observed since', async () => {
    const checks = [{ id: 'tests', run: 'npm test', minimum: 'observed' }];
    const file = teamFile('test.checked', { id: 'do', title: 'Do it', prompt: 'Do it.', checks }, TELL);
    const services = { workspace: { observe: OBSERVED, tree: async () => undefined } };
    const { start, send, look, services: made } = lookedAtWorld({ listing: () => withFile(file), services });
    const begun = await start('test.checked');
    const { runId, sessionId } = begun.structured['session'] as { runId: RunId; sessionId: SessionId };
    const tag = String(told(begun, 'run.tag'));
    const attest = async (name: string, exitCode: number) => {
      const session = (await made.sessions.load(sessionId))._unsafeUnwrap();
      const due = (await findCheck(made, session, { runId, checkId: 'tests' }))._unsafeUnwrap();
      const ran = { commandDigest: commandDigest('npm test', sha256), exitCode, timedOut: false, durationMs: 5 };
      const statement = { kind: 'check', checkId: 'tests', ...ran } as const;
      const result = { statement, tail: 'ok', attestationId: answerId(name), by: AT_TERMINAL };
      (await recordCheck(made, due, result))._unsafeUnwrap();
    };
    const blocked = await send(begun, { notes: 'All tests pass.' });
    await attest('red', 1);
    const before = (await look(['session', 'show', sessionId], 200)).out;
    expect(before).toMatch(/ {2}needs {6}The check "tests"/);
    expect(before).toContain(`workrail attest ${tag} tests`);
    await attest('green', 0);
    const after = (await look(['session', 'show', sessionId], 200)).out;
    expect(after).toContain('  checked    "tests" is observed now. Tell the agent: continue.\n');
    expect(after).not.toMatch(/needs {2}|workrail attest/);
    expect((await look(['session', 'tree', sessionId], 200)).out).toContain('← "tests" is observed now.');
    expect((await look(['status'], 200)).out).toContain('← "tests" is observed now. Tell the agent: continue.');
    const data = JSON.parse((await look(['session', 'show', sessionId, '--json'])).out).data.runs[0];
    expect([data.blockers, data.shownChecks]).toEqual([[], [{ checkId: 'tests', grade: 'observed' }]]);
    const next = await send(blocked);
    expect(told(next, 'pending.stepId')).toBe('tell');
  });

  it('session show of a run that waits for a person shows what to answer and the command for it, like status', async () => {
    const file = teamFile('test.ship', shipStep(), TELL);
    const world = lookedAtWorld({ listing: () => withFile(file) });
    const begun = await world.start('test.ship');
    const tag = String(told(begun, 'run.tag'));
    const blocked = await world.send(begun, { notes: 'Ready.' });
    for (const argv of [['session', 'show', tag], ['session', 'tree', tag], ['status']]) {
      const { out, talk } = await world.look(argv, 200);
      expect(out).toContain('This step waits for a person: Approve step "Ship"?');
      expect(out).not.toContain('Tell the user');
      expect(talk).toBe(`Next: workrail answer ${tag}\n`);
    }
    (await answerAt(world, blocked))._unsafeUnwrap();
    for (const argv of [['session', 'show', tag], ['session', 'tree', tag], ['status']]) {
      const { out, talk } = await world.look(argv, 200);
      expect(out).toMatch(/The draft was approved at a terminal\. Tell the agent: continue\./);
      expect(talk).toMatch(/^Next: workrail session resume /);
    }
  });
});
