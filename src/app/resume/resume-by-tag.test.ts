import { expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { engine, told, WORKSPACE } from '../../../test/examples/engine.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { sessionOf } from '../../../test/examples/shared-session.ts';
import { derivedBits, RunId, runTag } from '../../core/log/ids.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import type { SessionOrigin } from '../../core/log/origin.ts';
import { resumeReplyShape } from '../../mcp/reply-shapes.ts';
import type { Services } from '../services.ts';
import { type ResumeRequest, resumeSession } from './resume-session.ts';

async function resume(services: Services, request: ResumeRequest) {
  const reply = (await resumeSession(services, request))._unsafeUnwrap();
  expect(resumeReplyShape.safeParse(reply.structured).error).toBeUndefined();
  return reply;
}

const runIdOf = (reply: GivenReply) => told(reply, 'session.runId') as RunId;
const goals = (reply: GivenReply) => (told(reply, 'candidates') as { goal?: string }[]).map(({ goal }) => goal);

/** Every run has the same tag. */
function alike() {
  const { ids } = engine().services;
  let made = 0;
  const run = () => `${RunId.of(derivedBits(['run', made++], sha256)).slice(0, -4)}a3t9` as RunId;
  return engine({ services: { ids: { session: ids.session, run } } });
}

it('the tag by which replies name a run resumes it, as a run, a session or a query', async () => {
  enforces('resume_run_tag', 'resume_why_matched');
  const { services, start } = engine();
  for (const goal of ['One', 'Two', 'Three']) await start('test.plain', { goal });
  const wanted = await start('test.plain', { goal: 'Wanted' });
  await start('test.plain', { goal: 'Last' });
  const tag = runTag(runIdOf(wanted));
  const spellings = [tag, `run ${tag}`, `Run ${tag.toUpperCase()}`, ` ${tag} `, `run_${tag}`];
  for (const text of spellings) {
    for (const request of [{ runId: text }, { sessionId: text }, { query: text }]) {
      const reply = await resume(services, { ...request, workspace: WORKSPACE });
      expect([request, runIdOf(reply)]).toEqual([request, runIdOf(wanted)]);
      expect(told(reply, 'resumed.whyMatched')).toEqual(['matched_session_id', 'matched_workspace']);
    }
  }
  const both = await resume(services, { sessionId: sessionOf(wanted), runId: tag, workspace: '/other' });
  expect(runIdOf(both)).toBe(runIdOf(wanted));
});

it('two runs with one tag are both offered, and neither is chosen', async () => {
  enforces('resume_run_tag');
  const { services, start } = alike();
  await start('test.plain', { goal: 'One' });
  await start('test.plain', { goal: 'Two', workspace: '/other' });
  for (const request of [{ runId: 'a3t9' }, { sessionId: 'a3t9' }, { query: 'a3t9' }]) {
    const reply = await resume(services, { ...request, workspace: WORKSPACE });
    expect([goals(reply), told(reply, 'nextCall')]).toEqual([['One', 'Two'], null]);
    expect(reply.text).toContain('You may mean one of these 2 runs');
  }
});

it('a tag is a hint: a run of another workspace is offered without its notes, with the call that names it', async () => {
  enforces('resume_foreign_runs_bare', 'resume_run_tag');
  const { services, start, send } = engine();
  const away = await send(await start('test.plain', { goal: 'Away', workspace: '/other' }), { notes: 'Secret.' });
  await start('test.plain', { goal: 'Here' });
  const runId = runIdOf(away);
  const reply = await resume(services, { runId: runTag(runId), workspace: WORKSPACE });
  expect(goals(reply)).toEqual(['Away']);
  expect(JSON.stringify(reply)).not.toMatch(/Secret|st_|ack_|chk_/);
  const call = { tool: 'resume_session', arguments: { runId } };
  expect([told(reply, 'nextCall'), told(reply, 'candidates.0.nextCall')]).toEqual([null, call]);
  expect(reply.text).not.toContain('None of these runs matched');
  const query = await resume(services, { query: runTag(runId), workspace: WORKSPACE });
  expect(goals(query)).toEqual(['Away', 'Here']);
  expect([told(query, 'nextCall'), told(query, 'candidates.0.nextCall')]).toEqual([null, call]);
});

it('the tag of a finished or closed run finds it', async () => {
  const { services, start, send } = engine();
  let reply = await start('test.plain', { goal: 'Finished' });
  for (let i = 0; i < 12; i++) reply = await send(reply, { notes: 'Done.' });
  const closed = await start('test.plain', { goal: 'Closed' });
  await start('test.plain', { goal: 'Open' });
  const marks: Services['marks'] = {
    ...services.marks,
    of: async (sessionId) =>
      (await services.marks.of(sessionId)).map((one) =>
        sessionId === sessionOf(closed) ? { ...one, closed: new Map([[runIdOf(closed), 1 as never]]) } : one,
      ),
  };
  for (const wanted of [reply, closed]) {
    const tag = runTag(runIdOf(wanted));
    for (const request of [{ runId: tag }, { query: tag }]) {
      expect(runIdOf(await resume({ ...services, marks }, { ...request, workspace: WORKSPACE }))).toBe(runIdOf(wanted));
    }
  }
});

it('a tag never opens an imported run that no person accepted', async () => {
  enforces('imported_not_strong_before_acceptance', 'resume_run_tag');
  const { services, start } = engine();
  const wanted = await start('test.plain', { goal: 'Wanted' });
  const tag = runTag(runIdOf(wanted));
  const origin: SessionOrigin = { v: 1, kind: 'imported', at: 1, producer: { appVersion: '1' } };
  const marks: Services['marks'] = {
    ...services.marks,
    of: async (sessionId) => (await services.marks.of(sessionId)).map((one) => ({ ...one, origin })),
  };
  for (const request of [{ runId: tag }, { query: tag }]) {
    const reply = await resume({ ...services, marks }, { ...request, workspace: WORKSPACE });
    expect([goals(reply), told(reply, 'nextCall')]).toEqual([['Wanted'], null]);
    expect(JSON.stringify(reply)).not.toMatch(/st_|ack_|chk_/);
  }
});

it('a tag that no run has is refused by name, and a query like a tag is searched as words', async () => {
  enforces('resume_text_matching');
  const { services, start } = engine();
  const wanted = await start('test.plain', { goal: 'Make the page fast' });
  await start('test.plain', { goal: 'Other' });
  const refused = await resumeSession(services, { runId: 'Run zzzz' });
  expect(refused._unsafeUnwrapErr()).toEqual({ code: 'session_not_found', named: 'Run zzzz' });
  const found = await resume(services, { query: 'fast', workspace: WORKSPACE });
  expect(runIdOf(found)).toBe(runIdOf(wanted));
  const tag = runTag(runIdOf(wanted));
  for (const request of [{ query: `#${tag}` }, { runId: `#${tag}` }])
    expect(runIdOf(await resume(services, { ...request, workspace: WORKSPACE }))).toBe(runIdOf(wanted));
  const two = (await resumeSession(services, { runId: runTag(runIdOf(wanted)), sessionId: 'zzzz' }))._unsafeUnwrapErr();
  // The run is stored, only not in that session.
  expect(two).toMatchObject({ code: 'session_not_found', named: `${tag} in session zzzz` });
});
