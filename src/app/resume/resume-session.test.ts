import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { err } from 'neverthrow';
import { describe, expect, it } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { engine, requestOf, stepOf, tokenOf, told, WORKSPACE, withFile } from '../../../test/examples/engine.ts';
import { sha256 } from '../../../test/examples/sha256.ts';
import { sessionOf } from '../../../test/examples/shared-session.ts';
import { goldenStore, STORED_RUNS } from '../../../test/resume/golden-store.ts';
import { numberedSession, storeFolder } from '../../../test/store-folder.ts';
import { layout } from '../../adapters/file-store/disk/disk.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import {
  type EngineState,
  type ExecutionSnapshot,
  executionSnapshot,
  sealSnapshot,
} from '../../core/log/execution-snapshot.ts';
import { derivedBits, RunId } from '../../core/log/ids.ts';
import { resumeReplyShape } from '../../mcp/reply-shapes.ts';
import type { Store } from '../ports/store.ts';
import { advance } from '../run/advance.ts';
import { startWorkflow } from '../run/start-workflow.ts';
import type { Services } from '../services.ts';
import { type ResumeRequest, resumeSession } from './resume-session.ts';

async function resume(services: Services, request: ResumeRequest) {
  const reply = (await resumeSession(services, request))._unsafeUnwrap();
  expect(resumeReplyShape.safeParse(reply.structured).error).toBeUndefined();
  return reply;
}

const whole = ({ text, furtherTexts = [] }: { text: string; furtherTexts?: readonly string[] }) =>
  [text, ...furtherTexts].join('\n');

describe('an agent that knows only where it works', () => {
  it('one call in the workspace resumes the run with goal, rules, recap, step and tokens', async () => {
    enforces('resume_strong_match_rehydrates', 'resume_tip_only', 'resume_is_read_only');
    const { services, start, send, show, events } = engine();
    const first = await start('test.plain', { goal: 'Repair the shop' });
    const second = await send(first, { notes: 'Found the broken till.' });
    const shown = await show(second);
    const before = events.length;
    const reply = await resume(services, { workspace: `${WORKSPACE}/` });
    expect(events.length).toBe(before);
    const { resumed, ...rehydration } = reply.structured;
    expect(rehydration).toEqual(shown.structured);
    expect(reply.text).toBe(shown.text);
    expect(resumed).toEqual({ whyMatched: ['recency_fallback', 'matched_workspace'], others: [] });
    for (const part of ['Repair the shop', 'Never skip a step.', 'Found the broken till.', 'Do s2.']) {
      expect(reply.text).toContain(part);
      expect(JSON.stringify(reply.structured)).toContain(part);
    }
    expect(stepOf(await send(reply, { notes: 'Repaired it.' }))).toBe('s3');
  });

  it('two open runs are offered as a choice, each with its call', async () => {
    enforces('resume_max_candidates', 'resume_snippet_budget', 'resume_why_matched');
    const { services, start, send, show } = engine();
    const one = await send(await start('test.plain', { goal: 'One' }), { notes: `Long ${'é'.repeat(2_000)}` });
    await send(await start('test.plain', { goal: 'Two' }), { notes: 'Short.' });
    await start('test.plain', { goal: 'Elsewhere', workspace: '/other' });
    const reply = await resume(services, { workspace: WORKSPACE });
    const candidates = reply.structured['candidates'] as { goal: string; snippet: string; stateToken: string }[];
    expect(candidates.map(({ goal }) => goal).sort()).toEqual(['Elsewhere', 'One', 'Two']);
    const long = candidates.find(({ goal }) => goal === 'One') ?? expect.fail();
    expect(Buffer.byteLength(long.snippet)).toBeLessThanOrEqual(2_048);
    expect(Buffer.byteLength(long.snippet)).toBeGreaterThan(2_040);
    expect(long.snippet.endsWith('\n\n[TRUNCATED]')).toBe(true);
    expect((await show(long.stateToken)).structured['ackToken']).toBe(one.structured['ackToken']);
    expect(told(reply, 'nextIntent')).toBe('rehydrate_only');
    // Which one is meant is for the caller to say: a suggested call would be sent for the wrong run.
    expect(told(reply, 'nextCall')).toBeNull();
    const own = candidates.filter(({ goal }) => goal !== 'Elsewhere');
    for (const { stateToken } of own) expect(reply.text).toContain(`{"stateToken":"${stateToken}"}`);
  });

  it('branch and commit of the workspace distinguish runs', async () => {
    enforces('resume_strong_match_rehydrates');
    const { engine: made, runs } = await goldenStore();
    const seen = (branch: string) => ({
      tree: async () => undefined,
      observe: async (path: string | undefined) => [
        { key: 'repo_root', value: { type: 'path', value: '/work/shop' }, confidence: 'high' } as const,
        { key: 'git_branch', value: { type: 'short_string', value: branch }, confidence: 'high' } as const,
        ...(path === '/work/shop/src' ? [] : [expect.fail('asked about another folder')]),
      ],
    });
    const services = { ...made.services, workspace: seen('feature/login-2') };
    const reply = await resume(services, { workspace: '/work/shop/src' });
    const expected = runs.find(({ name }) => name === 'branch longer');
    expect(told(reply, 'session.runId')).toBe(expected?.runId);
    expect(told(reply, 'resumed.whyMatched')).toEqual(['matched_branch', 'matched_workspace']);

    // An agent that asks for something in particular does not mean whatever was begun on this branch.
    const asked = await resume(services, { workspace: '/work/shop/src', query: 'nowhere' });
    expect(JSON.stringify(asked.structured)).not.toContain('matched_branch');
  });

  it('a rewound run is offered once, at its latest activity', async () => {
    enforces('resume_tip_only');
    const { services, start, send, show } = engine();
    const first = await start('test.plain');
    await send(await send(first, { notes: 'This way.' }), { notes: 'Further this way.' });
    const other = await send(await show(first), { notes: 'The other way.' });
    const reply = await resume(services, { workspace: WORKSPACE });
    expect(tokenOf(reply, 'stateToken')).toBe(tokenOf(other, 'stateToken'));
    expect(told(reply, 'resumed.others')).toEqual([]);
  });

  it('resuming with nothing stored says so', async () => {
    const { services } = engine();
    expect((await resume(services, { workspace: WORKSPACE })).structured).toEqual({
      kind: 'ok',
      candidates: [],
      total: 0,
      nextIntent: 'rehydrate_only',
      nextCall: null,
    });
  });

  it('words of the goal find a run, in any script, and nothing is suggested where no word is found', async () => {
    enforces('resume_text_matching', 'resume_strong_match_rehydrates');
    const { services, start } = engine();
    await start('test.plain', { goal: 'Исправить вход' });
    const wanted = await start('test.plain', { goal: '支払いの失敗を調べる' });
    const found = await resume(services, { query: '失敗', workspace: WORKSPACE });
    expect(told(found, 'session.runId')).toBe(told(wanted, 'session.runId'));
    expect(told(found, 'resumed.whyMatched')).toEqual(['matched_notes', 'matched_workspace']);
    const missed = await resume(services, { query: 'вход timeout', workspace: WORKSPACE });
    expect(missed.text).toMatch(/^Nothing matched: no unfinished run has "вход timeout" in its goal/);
    expect([told(missed, 'nextCall'), missed.text.includes('Next call:')]).toEqual([null, false]);
  });

  it.each([
    ['Add a --json flag to the export command', ['json flag', 'json', '--json', '--json flag']],
    [
      'Fix the "login-timeout" bug with --force in _private',
      ['login timeout', 'login-timeout', 'login', 'force', 'private'],
    ],
  ])('a word of the goal finds a run where hyphens or underscores are around it: %s', async (goal, queries) => {
    enforces('resume_text_matching');
    const { services, start } = engine();
    await start('test.plain', { goal: 'Write the page' });
    const wanted = await start('test.plain', { goal });
    for (const query of queries) {
      const found = await resume(services, { query, workspace: WORKSPACE });
      expect(told(found, 'session.runId'), query).toBe(told(wanted, 'session.runId'));
    }
  });

  it('the words of a run are those of its own session, because a copy of a session keeps the ids of its runs', async () => {
    enforces('resume_text_matching');
    const { ids } = engine().services;
    const run = ids.run();
    const { services, start } = engine({ services: { ids: { session: ids.session, run: () => run } } });
    const wanted = await start('test.plain', { goal: 'Find the leak' });
    await start('test.plain', { goal: 'Write the page' });
    const found = await resume(services, { query: 'leak', workspace: WORKSPACE });
    expect(told(found, 'session.sessionId')).toBe(told(wanted, 'session.sessionId'));
  });

  it('finished runs are offered only to a caller who asks for them', async () => {
    enforces('resume_finished_on_request');
    const { services, start, send } = engine();
    let reply = await start('test.plain', { goal: 'Finished' });
    for (let i = 0; i < 12; i++) reply = await send(reply, { notes: 'Done.' });
    expect(told(reply, 'isComplete')).toBe(true);
    expect(told(await resume(services, { workspace: WORKSPACE }), 'candidates')).toEqual([]);
    const asked = await resume(services, { workspace: WORKSPACE, includeFinished: true });
    expect(told(asked, 'candidates.0.goal')).toBe('Finished');
    const runId = told(reply, 'session.runId') as string;
    expect(told(await resume(services, { runId }), 'isComplete')).toBe(true);
  });

  it('a run of another workspace is shown without notes and tokens until it is asked for by its id', async () => {
    enforces('resume_foreign_runs_bare');
    const { services, start, send } = engine();
    const away = await send(await start('test.plain', { goal: 'Away', workspace: '/other' }), {
      notes: 'Secret note.',
    });
    const reply = await resume(services, { workspace: WORKSPACE, query: 'secret' });
    expect(JSON.stringify(reply)).not.toMatch(/Secret note|st_|ack_|chk_/);
    expect(reply.structured['candidates']).toEqual([
      {
        ...(away.structured['session'] as object),
        goal: 'Away',
        workspace: '/other',
        lastActive: expect.any(String),
        whyMatched: ['matched_notes'],
        nextCall: { tool: 'resume_session', arguments: { runId: told(away, 'session.runId') } },
      },
    ]);
    const runId = told(away, 'session.runId') as string;
    expect((await resume(services, { runId, workspace: WORKSPACE })).text).toContain('Secret note.');
    expect((await resume(services, { query: 'secret' })).text).toContain('Secret note.');
  });
});

describe('an id', () => {
  it('an id resumes its session or run, in any workspace and state', async () => {
    enforces('resume_strong_match_rehydrates', 'resume_why_matched');
    const { engine: made, runs } = await goldenStore();
    for (const run of runs) {
      const { sessionId, runId } = run;
      const byRun = await resume(made.services, { runId, workspace: '/gone' });
      expect(told(byRun, 'session')).toEqual({ sessionId, runId });
      expect(told(byRun, 'resumed')).toEqual({
        whyMatched: expect.arrayContaining(['matched_session_id']),
        others: [],
      });
      const bySession = await resume(made.services, { sessionId: ` ${sessionId} ` });
      expect(told(bySession, 'session.sessionId')).toBe(sessionId);
      const isOfTwo = runs.filter((other) => other.sessionId === sessionId).length === 2;
      expect(told(bySession, 'resumed.others')).toHaveLength(isOfTwo ? 1 : 0);
    }
  });

  it('an unknown id is refused by name', async () => {
    const { engine: made, runs } = await goldenStore(undefined, STORED_RUNS.slice(0, 2));
    const [one, two] = runs;
    for (const request of [
      { sessionId: 'sess_0000000000000000' },
      { sessionId: '../..' },
      { runId: 'run_0000000000000000' },
      { sessionId: one?.sessionId, runId: two?.runId },
    ]) {
      const refused = (await resumeSession(made.services, request))._unsafeUnwrapErr();
      const named = [request.runId, request.sessionId].filter((id) => id !== undefined).join(' in session ');
      expect(refused).toEqual({ code: 'session_not_found', named });
    }
  });
});

describe('a session that cannot be trusted', () => {
  it.each([
    ['its log', (root: string, id: string) => writeFileSync(join(root, layout.manifest(id as never)), 'x\n')],
    [
      'a segment',
      (root: string, id: string) => rmSync(join(root, layout.session(id as never), 'events'), { recursive: true }),
    ],
    ['its workflow', (root: string) => rmSync(join(root, layout.pinnedWorkflows), { recursive: true })],
    ['its snapshots', (root: string) => rmSync(join(root, 'snapshots'), { recursive: true })],
  ])('because %s is damaged is not offered, though the index still knows it', async (what, damage) => {
    enforces('resume_healthy_only');
    const folder = storeFolder();
    const { engine: made, runs } = await goldenStore(storeOf(folder), STORED_RUNS.slice(0, 5));
    const [first, ...others] = runs;
    if (first === undefined) expect.fail();
    // Known to the index before the damage, and for the next seconds.
    const store = storeOf(folder);
    // No source has the workflows any more, so a lost one cannot be restored.
    const { catalog } = engine({ listing: () => ({ files: [] }) }).services;
    const services = { ...made.services, ...store, catalog };
    expect((await store.sessionIndex.summaries())._unsafeUnwrap()).toHaveLength(5);
    damage(folder.root, first.sessionId);
    const reply = await resume(services, { query: 'nowhere' });
    const left = what === 'its log' || what === 'a segment' ? others : [];
    const shown = (reply.structured['candidates'] as { runId: string }[]).map(({ runId }) => runId);
    expect(shown.sort()).toEqual(left.map(({ runId }) => runId).sort());
    const named = await resumeSession(services, { sessionId: first.sessionId });
    expect(named.isErr()).toBe(true);
  });

  it.each([
    ['a folder', (path: string) => mkdirSync(path)],
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a device', (path: string) => symlinkSync('/dev/zero', path)],
  ])('a session whose manifest is %s is reported, never as if nothing were stored', async (_, put) => {
    enforces('resume_healthy_only');
    const folder = storeFolder();
    const { services, start } = engine({ store: storeOf(folder) });
    const started = await start('test.plain', { goal: 'Mine' });
    const sessionId = sessionOf(started);
    const manifest = join(folder.root, layout.manifest(sessionId));
    const runId = told(started, 'session.runId') as string;
    rmSync(manifest);
    put(manifest);
    for (const request of [{}, { workspace: WORKSPACE }, { query: 'mine' }]) {
      const reply = await resume({ ...services, ...storeOf(folder) }, request);
      expect(reply.structured['warnings']).toMatchObject([
        { code: 'session_damaged', details: { sessionIds: [sessionId] } },
      ]);
      expect(whole(reply)).toContain(`workrail session verify ${sessionId}`);
      expect(reply.text).not.toContain('no unfinished run is stored here');
    }
    const named = await resumeSession({ ...services, ...storeOf(folder) }, { runId });
    expect(named._unsafeUnwrapErr()).toEqual({ code: 'session_not_found', named: runId, unreadable: [sessionId] });
  });

  it('a run whose place cannot be read is reported', async () => {
    const { services, start } = engine();
    const sessionId = sessionOf(await start('test.plain', { goal: 'Mine' }));
    const get: Store['snapshots']['get'] = async (place) =>
      err({ code: 'io_failed', operation: 'read', place, cause: 'EIO' });
    const reply = await resume({ ...services, snapshots: { get } }, { workspace: WORKSPACE });
    expect(told(reply, 'candidates')).toEqual([]);
    expect(told(reply, 'warnings.0.details.sessionIds')).toEqual([sessionId]);
  });
});

describe('a session at a place that its workflow does not have', () => {
  /** As somebody would append who knows how that is done, and lies about where the run stands. */
  function lyingStore(folder: ReturnType<typeof storeFolder>): Store {
    const store = storeOf(folder);
    const lie = (snapshot: ExecutionSnapshot): ExecutionSnapshot => {
      const step = { stepId: 'ghost', loopPath: [] } as never;
      const state = { ...snapshot.enginePayload.state, pending: { kind: 'some', step } } as EngineState;
      return executionSnapshot(snapshot.workflowHash, state);
    };
    const append: Store['sessions']['append'] = (permit, plan) => {
      const [[ref, snapshot] = expect.fail('a snapshot')] = plan.snapshots;
      const sealed = sealSnapshot(lie(snapshot), sha256);
      const events = JSON.parse(JSON.stringify(plan.events).replaceAll(ref, sealed.ref)) as typeof plan.events;
      return store.sessions.append(permit, { ...plan, events, snapshots: new Map([[sealed.ref, lie(snapshot)]]) });
    };
    return { ...store, sessions: { ...store.sessions, append } };
  }

  it('a session at a place that its workflow does not have is damaged and never offered', async () => {
    enforces('resume_healthy_only');
    const folder = storeFolder();
    const sound = engine({ store: storeOf(folder) });
    await sound.start('test.plain', { goal: 'Sound' });
    const lying = engine({ store: lyingStore(folder) });
    const forged = await startWorkflow(
      {
        ...lying.services,
        ids: {
          ...lying.services.ids,
          session: () => numberedSession(9),
          run: () => RunId.of(derivedBits(['lie'], sha256)),
        },
      },
      { workflowId: 'test.plain', workspace: WORKSPACE },
    );
    const services = { ...sound.services, ...storeOf(folder) };
    for (const request of [{}, { workspace: WORKSPACE }, { query: 'plain' }]) {
      const reply = await resume(services, request);
      const { warnings, ...offered } = reply.structured;
      const ids = JSON.stringify(offered);
      expect([ids.includes('Sound'), ids.includes(numberedSession(9))]).toEqual([true, false]);
      expect(warnings).toMatchObject([{ code: 'session_damaged', details: { sessionIds: [numberedSession(9)] } }]);
      expect(whole(reply)).toContain(`workrail session verify ${numberedSession(9)}`);
    }
    const damaged = { code: 'damaged', damage: { reason: 'content_wrong_shape' } };
    const named = await resumeSession(services, { sessionId: numberedSession(9) });
    expect(named._unsafeUnwrapErr()).toMatchObject(damaged);
    const ackToken = tokenOf(forged._unsafeUnwrap(), 'ackToken');
    const went = await advance(services, { ackToken, ...requestOf({ notes: 'On.' }) });
    expect(went._unsafeUnwrapErr()).toMatchObject(damaged);
  });

  it('a session drops out if only an older place of it is unreadable', async () => {
    enforces('resume_healthy_only');
    const folder = storeFolder();
    const { services, start, send } = engine({ store: storeOf(folder) });
    await start('test.skips', { goal: 'Sound', workspace: '/elsewhere' });
    const begun = await start('test.plain', { goal: 'Damaged' });
    const { view } = (await services.sessions.load(sessionOf(begun)))._unsafeUnwrap();
    const [root = expect.fail('a root')] = view.graph.nodes.values();
    await send(begun, { notes: 'Noted.' });
    const store = storeOf(folder);
    const get: Store['snapshots']['get'] = async (ref) =>
      ref === root.snapshotRef ? err(gone(ref)) : store.snapshots.get(ref);
    const reply = await resume({ ...services, ...store, snapshots: { get } }, { workspace: WORKSPACE });
    expect(JSON.stringify(reply.structured)).toContain('Sound');
    expect(JSON.stringify(reply.structured)).not.toContain('Damaged');
  });
});

const gone = (place: string) => ({ code: 'damaged', damage: { reason: 'content_missing', place, offset: 0 } }) as const;

const PROMPT = `Do it. ${'And well. '.repeat(250)}`;

describe('a long way', () => {
  it('a long run resumes within ten thousand bytes: the recap shrinks, the step and the tokens stay', async () => {
    enforces('resume_strong_match_is_compact');
    const steps = Array.from({ length: 9 }, (_, i) => ({ id: `s${i}`, title: `Part ${i}`, prompt: PROMPT }));
    const file = { id: 'test.long', name: 'Long', description: 'Long.', metaGuidance: ['Be brief.'], steps };
    const { services, start, send, show } = engine({ listing: () => withFile(file) });
    let reply = await start('test.long', { goal: 'g'.repeat(1_024) });
    for (let i = 0; i < 8; i++) reply = await send(reply, { notes: `Note ${i} "quoted"\n${'"line"\n'.repeat(270)}` });
    for (const goal of ['a', 'b', 'c', 'd']) {
      await start('test.plain', { goal: goal.repeat(1_024), workspace: '/other' });
    }
    expect(Buffer.byteLength(whole(await show(reply)))).toBeGreaterThan(9_000);
    const back = await resume(services, { workspace: WORKSPACE });
    expect(Buffer.byteLength(whole(back))).toBeLessThanOrEqual(8_000);
    expect(Buffer.byteLength(JSON.stringify(back.structured))).toBeLessThanOrEqual(8_000);
    expect(told(back, 'recap.entries.0.text')).toContain('Note 7');
    expect(told(back, 'resumed.others')).toHaveLength(4);
    const next = await advance(services, { ackToken: tokenOf(back, 'ackToken'), ...requestOf({ notes: 'On.' }) });
    expect(told(next._unsafeUnwrap(), 'isComplete')).toBe(true);
  });
});

it('resuming without keys is refused and creates none', async () => {
  enforces('resume_is_read_only');
  const { services, start } = engine();
  await start('test.plain');
  const keyless = {
    ...services,
    keyring: {
      ...services.keyring,
      find: async () => services.keyring.find().then((found) => found.map(() => undefined)),
    },
  };
  expect((await resumeSession(keyless, {}))._unsafeUnwrapErr()).toEqual({ code: 'keys_missing' });
});
