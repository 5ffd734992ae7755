import { err } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { engine, stepOf, tokenOf, told, WORKSPACE } from '../../../test/examples/engine.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { storeFolder } from '../../../test/store-folder.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import { memoryStore } from '../../adapters/memory-store/memory-store.ts';
import { SessionId } from '../../core/log/ids.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { type ResumeRequest, resumeSession } from '../resume/resume-session.ts';
import { closeRuns } from './close-runs.ts';

const STORES = { memory: () => memoryStore(sha256), files: () => storeOf(storeFolder()) };

function world(kind: keyof typeof STORES = 'memory') {
  const store = STORES[kind]();
  const made = engine({ store });
  const services = { sessions: made.services.sessions, marks: store.marks };
  const idOf = (reply: GivenReply) => SessionId.schema.parse(told(reply, 'session.sessionId'));
  return {
    ...made,
    idOf,
    close: (reply: GivenReply, more: { readonly run?: string; readonly isUndone?: boolean } = {}) =>
      closeRuns(services, { sessionId: idOf(reply), isUndone: false, ...more }),
    resume: async (request: ResumeRequest = { workspace: WORKSPACE }) => resumeSession(made.services, request),
  };
}

const closedWarning = (reply: GivenReply) =>
  (reply.structured['warnings'] as readonly { readonly code: string; readonly details?: unknown }[])
    .filter(({ code }) => code === 'run_closed')
    .map(({ details }) => details);

describe.each(Object.keys(STORES) as (keyof typeof STORES)[])('a closed run, in %s', (kind) => {
  it('a closed run is not offered any more, and nothing is written to its log', async () => {
    enforces('closed_runs_not_offered');
    const { start, send, close, resume, events, idOf } = world(kind);
    const one = await send(await start('test.plain', { goal: 'One' }), { notes: 'Done.' });
    const two = await start('test.plain', { goal: 'Two' });
    expect((await resume())._unsafeUnwrap().structured['candidates']).toHaveLength(2);
    const written = events.length;
    expect((await close(two))._unsafeUnwrap()).toMatchObject([{ workflowId: 'test.plain', isChanged: true }]);
    expect((await close(two))._unsafeUnwrap()).toMatchObject([{ isChanged: false }]);
    expect(events.length).toBe(written);
    const found = (await resume())._unsafeUnwrap();
    expect([idOf(found), told(found, 'resumed.others')]).toEqual([idOf(one), []]);
    await close(one);
    expect((await resume())._unsafeUnwrap().structured).toMatchObject({ candidates: [] });

    expect((await close(one, { isUndone: true }))._unsafeUnwrap()).toMatchObject([{ isChanged: true }]);
    expect(idOf((await resume())._unsafeUnwrap())).toBe(idOf(one));
  });

  it('a closed run reopens when it is continued, and the reply says so', async () => {
    enforces('closed_run_reopens');
    const { start, send, show, close, resume, services, idOf } = world(kind);
    const begun = await start('test.plain');
    await close(begun);
    const shown = await show(begun);
    expect(closedWarning(shown)).toEqual([{ isReopened: false }]);
    expect(shown.text).toContain('The user has closed this run.');
    const next = await send(shown, { notes: 'Done.' });
    expect([stepOf(next), closedWarning(next)]).toEqual(['s2', [{ isReopened: true }]]);
    expect(await send(shown, { notes: 'Done.' })).toEqual(next);
    expect(closedWarning(await show(next))).toEqual([]);
    expect(closedWarning(await send(next, { notes: 'Done.' }))).toEqual([]);
    expect(stepOf((await resume())._unsafeUnwrap())).toBe('s3');
    expect((await services.marks.of(idOf(begun)))._unsafeUnwrap().closed.size).toBe(1);
  });

  it('a closed run reopens when a checkpoint is saved, and the reply says so, also in a replay', async () => {
    enforces('closed_run_reopens');
    const { start, save, show, close } = world(kind);
    const begun = await start('test.plain');
    await close(begun);
    const saved = await save(begun, 'On the way.');
    expect(closedWarning(saved)).toEqual([{ isReopened: true }]);
    expect(closedWarning(await show(begun))).toEqual([]);
    expect(closedWarning(await save(saved, 'Further.'))).toEqual([]);
    expect(await save(begun, 'On the way.')).toEqual(saved);
  });

  it('a complete closed run is shown as closed', async () => {
    enforces('closed_run_reopens');
    const { start, send, show, close, resume, idOf } = world(kind);
    let at = await start('test.plain');
    while (told(at, 'isComplete') !== true) at = await send(at, { notes: 'Done.' });
    await close(at);
    for (const shown of [await show(at), (await resume({ sessionId: idOf(at) }))._unsafeUnwrap()]) {
      expect(closedWarning(shown)).toEqual([{ isReopened: false }]);
      expect(shown.text).toContain('The user has closed this run. Save notes in it only if the user asks for it');
    }
  });
});

describe('closing', () => {
  it('closing one run by its tag leaves the others open', async () => {
    const { start, close, resume } = world();
    const one = await start('test.plain', { goal: 'One' });
    const two = await start('test.plain', { goal: 'Two', attachTo: tokenOf(one, 'stateToken') });
    const tag = String(told(one, 'run.tag'));
    expect((await close(one, { run: tag.toUpperCase() }))._unsafeUnwrap()).toMatchObject([{ tag }]);
    expect(told((await resume())._unsafeUnwrap(), 'run.tag')).toBe(told(two, 'run.tag'));
    const unmatched = (await close(one, { run: 'zzzz' }))._unsafeUnwrapErr();
    expect(unmatched).toMatchObject({ code: 'run_unmatched', asked: 'zzzz', runs: [{ tag }, {}] });
    expect((await close(one))._unsafeUnwrap().map(({ isChanged }) => isChanged)).toEqual([false, true]);
  });

  it('a closed run is found by its id, or by a session that has no other', async () => {
    const { start, close, resume, idOf } = world();
    const one = await start('test.plain', { goal: 'One' });
    const two = await start('test.plain', { goal: 'Two', attachTo: tokenOf(one, 'stateToken') });
    await close(one, { run: String(told(one, 'run.tag')) });
    const named = async (request: ResumeRequest) => told((await resume(request))._unsafeUnwrap(), 'goal');
    expect(await named({ sessionId: idOf(one) })).toBe('Two');
    await close(two);
    const found = (await resume({ sessionId: idOf(one) }))._unsafeUnwrap();
    expect(closedWarning(found)).toEqual([{ isReopened: false }]);
  });

  it('closing a run of a missing session is refused', async () => {
    const { start, close, services } = world();
    const begun = await start('test.plain');
    const gone = SessionId.of(new Uint8Array(10));
    const structured = { ...begun.structured, session: { sessionId: gone } };
    expect(await close({ ...begun, structured })).toEqual(err({ code: 'session_not_found', sessionId: gone }));
    expect((await services.sessions.list())._unsafeUnwrap()).toHaveLength(1);
  });

  it('hundreds of closed runs are skipped without reading them', async () => {
    const { start, close, resume, services, idOf } = world();
    const open = await start('test.plain', { goal: 'Open' });
    for (let i = 0; i < 200; i++) await close(await start('test.plain', { goal: `Closed ${i}` }));
    let loads = 0;
    const load = services.sessions.load;
    services.sessions.load = (sessionId) => {
      loads += 1;
      return load(sessionId);
    };
    expect(idOf((await resume())._unsafeUnwrap())).toBe(idOf(open));
    expect(loads).toBeLessThan(300);
  });
});
