import { err, ok } from 'neverthrow';
import { expect, test } from 'vitest';
import { fileWith } from '../../../test/catalog/catalog-of.ts';
import { enforces } from '../../../test/enforces.ts';
import { ENGINE_FILES, engine, eventsOf, stepOf, tokenOf, told, WORKSPACE } from '../../../test/examples/engine.ts';
import { memoryServices } from '../../../test/examples/memory-services.ts';
import { type Autonomy, PRESETS } from '../../core/log/autonomy.ts';
import { contextAt } from '../../core/views/lineage.ts';
import { preferencesAt } from '../../core/views/node-facts.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { sealWorkflow } from '../../core/workflow/compiled/sealed-workflow.ts';
import type { Services } from '../services.ts';
import { startWorkflow } from './start-workflow.ts';

test('the pinned workflow of a run is stored under the hash that the run names', async () => {
  enforces('pinned_workflow_stored_by_hash');
  const services = memoryServices();
  expect((await startWorkflow(services, { workflowId: 'wr.first_steps' })).isOk()).toBe(true);
  const [sessionId = expect.fail('a session was started')] = (await services.sessions.list())._unsafeUnwrap();
  const { view } = (await services.sessions.load(sessionId))._unsafeUnwrap();
  const hashes = [...view.graph.runs.values()].map(({ pinned }) => pinned.workflowHash);
  expect(hashes).toHaveLength(1);
  for (const hash of hashes) {
    const workflow = (await services.pinnedWorkflows.get(hash))._unsafeUnwrap();
    expect(sealWorkflow(workflow, services.hasher.sha256).hash).toBe(hash);
  }
});

test('no run starts if its workflow cannot be pinned', async () => {
  enforces('pinned_workflow_stored_by_hash');
  const services = memoryServices();
  const full = { code: 'io_failed', operation: 'pin workflow', place: 'workflows', cause: 'ENOSPC' } as const;
  const pinnedWorkflows = { ...services.pinnedWorkflows, pin: async () => err(full) };
  expect(await startWorkflow({ ...services, pinnedWorkflows }, { workflowId: 'wr.first_steps' })).toEqual(err(full));
  expect(await services.sessions.list()).toEqual(ok([]));
});

test('a workflow that is collected between its pin and the start of its run is pinned again', async () => {
  enforces('pinned_workflow_stored_by_hash');
  const services = memoryServices();
  let pins = 0;
  const pinnedWorkflows = {
    ...services.pinnedWorkflows,
    // What collection has taken away is as if it had never been pinned.
    pin: async (workflow: CompiledWorkflow) => {
      pins += 1;
      if (pins === 1) return ok(sealWorkflow(workflow, services.hasher.sha256).hash);
      return services.pinnedWorkflows.pin(workflow);
    },
  };
  expect((await startWorkflow({ ...services, pinnedWorkflows }, { workflowId: 'wr.first_steps' })).isOk()).toBe(true);
  expect(pins).toBe(2);
});

test('a start is one append: session, run, first node, preferences, observations, context and trace', async () => {
  const agent = engine();
  let appends = 0;
  const sessions = {
    ...agent.services.sessions,
    append: (...given: Parameters<typeof agent.services.sessions.append>) => {
      appends += 1;
      return agent.services.sessions.append(...given);
    },
  };
  const request = { workflowId: 'test.plain', goal: 'Ship', context: { a: 1 }, workspace: '/work/shop' };
  expect((await startWorkflow({ ...agent.services, sessions }, request)).isOk()).toBe(true);
  expect(appends).toBe(1);
  const [, run, node] = agent.events;
  expect(agent.events.map(({ kind, scope }) => [kind, scope?.runId, scope?.nodeId])).toEqual([
    ['session_created', undefined, undefined],
    ['run_started', run?.scope?.runId, undefined],
    ...['node_created', 'preferences_changed'].map((kind) => [kind, run?.scope?.runId, node?.scope?.nodeId]),
    ['observation_recorded', undefined, undefined],
    ...['context_set', 'decision_trace_appended'].map((kind) => [kind, run?.scope?.runId, node?.scope?.nodeId]),
  ]);
});

test('a run continues with its pinned workflow when the file changes, breaks or disappears', async () => {
  enforces('run_pinned_at_start', 'compiled_snapshot_sufficient');
  let files = ENGINE_FILES;
  const agent = engine({ listing: () => ({ files }) });
  const begun = await agent.start('test.modes', { mode: 'full_auto_never_stop' });
  const asWritten = await walkToEnd(agent, begun);
  const other = await agent.start('test.modes', { mode: 'full_auto_never_stop' });
  files = ENGINE_FILES.map((file) => ({
    ...file,
    content: {
      kind: 'text',
      text: file.content.kind === 'text' ? file.content.text.replaceAll('Do ', 'Never do ') : '',
    },
  }));
  const second = await agent.send(other);
  files = [];
  expect([
    ...[other, second].map((reply) => told(reply, 'pending')),
    ...(await walkToEnd(agent, second)).slice(1),
  ]).toEqual(asWritten);
});

test('the same start call again starts another run in its own session', async () => {
  enforces('start_workflow_not_idempotent');
  const agent = engine();
  const [one, two] = [
    await agent.start('test.plain', { goal: 'Ship' }),
    await agent.start('test.plain', { goal: 'Ship' }),
  ];
  expect(told(one, 'session')).not.toEqual(told(two, 'session'));
  expect(told(one, 'run.tag')).not.toEqual(told(two, 'run.tag'));
  expect((await agent.services.sessions.list())._unsafeUnwrap()).toHaveLength(2);
});

test.each(['stateToken', 'ackToken', 'checkpointToken'] as const)(
  'a run joins the session of a %s, and both runs continue independently',
  async (name) => {
    enforces('session_may_hold_several_runs');
    const agent = engine();
    const begun = await agent.start('test.plain', { goal: 'Ship' });
    const joined = await agent.start('test.skips', { attachTo: tokenOf(begun, name) });
    expect(told(joined, 'session.sessionId')).toBe(told(begun, 'session.sessionId'));
    expect(eventsOf(agent, 'session_created')).toHaveLength(1);
    // The workspace is the same, so there is nothing new to tell of it.
    expect(eventsOf(agent, 'observation_recorded')).toHaveLength(1);
    expect(stepOf(await agent.send(joined, { notes: 'One.' }))).toBe('last');
    expect(stepOf(await agent.send(begun, { notes: 'One.' }))).toBe('s2');
    const { context } = await agent.view(begun);
    expect(contextAt(context, await agent.node(joined))).toEqual({});
  },
);

test('a run that joins a session uses the folder of that session unless the caller names another', async () => {
  const asked: (readonly string[])[] = [];
  const defaults: Services['defaults'] = async (folders) => {
    asked.push(folders);
    return ok(PRESETS.guided);
  };
  const agent = engine({ services: { defaults } });
  const attachTo = tokenOf(await agent.start('test.plain'), 'stateToken');
  // The server was started elsewhere.
  await agent.start('test.plain', { attachTo, workspace: '/server', isWorkspaceAssumed: true });
  await agent.start('test.plain', { attachTo, workspace: '/server' });
  await agent.start('test.plain', { workspace: '/server', isWorkspaceAssumed: true });
  expect(asked).toEqual([[WORKSPACE], [WORKSPACE], [WORKSPACE, '/server'], ['/server']]);
});

test('a run that joins a session from another folder is warned that its checks and approvals are about the folder of the session', async () => {
  const observe = async (folder: string | undefined) =>
    [{ key: 'repo_root', value: { type: 'path', value: String(folder) }, confidence: 'high' }] as const;
  const agent = engine({ services: { workspace: { observe, tree: async () => undefined } } });
  const attachTo = tokenOf(await agent.start('test.plain', { workspace: '/work/shop' }), 'stateToken');
  const warned = async (workspace: string) =>
    told(await agent.start('test.plain', { attachTo, workspace }), 'warnings') as readonly { code: string }[];
  expect(await warned('/work/shop-two')).toMatchObject([
    {
      code: 'other_workspace',
      message: expect.stringContaining('without attachTo'),
      details: { root: '/work/shop', own: '/work/shop-two' },
    },
  ]);
  expect(await warned('/work/shop')).toEqual([]);
  expect(await warned('/work/shop/below')).toEqual([]);
});

test('a token without a session starts nothing', async () => {
  const agent = engine();
  const elsewhere = engine();
  const begun = await elsewhere.start('test.plain');
  const request = { workflowId: 'test.plain', attachTo: tokenOf(begun, 'stateToken') };
  expect((await startWorkflow(agent.services, request)).isErr()).toBe(true);
  const sessions = { ...elsewhere.services.sessions, exclusively: agent.services.sessions.exclusively };
  expect(await startWorkflow({ ...elsewhere.services, sessions }, request)).toMatchObject(
    err({ code: 'TOKEN_UNKNOWN_NODE', missing: { kind: 'session' } }),
  );
  expect(agent.events).toEqual([]);
});

test('the goal is stored in the context and names the session; one that is too long starts nothing', async () => {
  enforces('goal_becomes_context_and_title');
  const agent = engine();
  const goal = 'é'.repeat(512);
  const begun = await agent.start('test.plain', { goal, context: { goal: 'another', a: 1 } });
  const view = await agent.view(begun);
  expect(contextAt(view.context, await agent.node(begun))).toEqual({ goal, a: 1 });
  const { sessionId } = begun.structured['session'] as never;
  const { runs } = (await agent.services.sessionIndex.summarise({ sessionId, view }))._unsafeUnwrap();
  expect(runs).toMatchObject([{ goal: expect.stringMatching(/^é{10}/) }]);
  expect(await startWorkflow(agent.services, { workflowId: 'test.plain', goal: `${goal}!` })).toEqual(
    err({ code: 'goal_too_large', bytes: 1_025, bytesMax: 1_024 }),
  );
  expect((await agent.services.sessions.list())._unsafeUnwrap()).toHaveLength(1);
});

test.each<[Autonomy, string]>([
  ['guided', 'conservative'],
  ['full_auto_stop_on_user_deps', 'balanced'],
  ['full_auto_never_stop', 'conservative'],
])('the mode %s stands for the risk policy %s', async (autonomy, riskPolicy) => {
  enforces('mode_presets');
  const agent = engine();
  const begun = await agent.start('test.plain', { mode: autonomy });
  expect(told(begun, 'preferences')).toMatchObject({ autonomy, riskPolicy });
  expect(eventsOf(agent, 'preferences_changed').map(({ data }) => data)).toEqual([
    {
      changeId: expect.any(String),
      source: 'agent',
      delta: [
        { key: 'autonomy', value: autonomy },
        { key: 'riskPolicy', value: riskPolicy },
      ],
      effective: { autonomy, riskPolicy },
    },
  ]);
});

test('preferences are copied when a run starts, so a later change does not affect it', async () => {
  enforces('preferences_baseline_copied');
  const defaults = { autonomy: 'full_auto_stop_on_user_deps', riskPolicy: 'aggressive' } as const;
  const agent = engine({ services: { defaults: async () => ok(defaults) } });
  const begun = await agent.start('test.plain');
  expect(eventsOf(agent, 'preferences_changed')).toMatchObject([{ data: { source: 'system', effective: defaults } }]);
  const later = engine({
    store: agent.services,
    services: { defaults: async () => ok({ autonomy: 'guided', riskPolicy: 'balanced' }) },
  });
  const second = await later.send(begun, { notes: 'One.' });
  expect([told(second, 'preferences'), told(await later.show(begun), 'preferences')]).toMatchObject([
    defaults,
    defaults,
  ]);
  const { preferences } = await later.view(begun);
  expect(preferencesAt(preferences, await later.node(second))).toEqual(defaults);
});

test('invalid settings start no run, unless the call sets the mode itself', async () => {
  const broken = { code: 'config_broken', problem: 'config.json, line 2: mode is "auto".' } as const;
  const { services } = engine({ services: { defaults: async () => err(broken) } });
  const request = { workflowId: 'test.plain' };
  expect(await startWorkflow(services, request)).toEqual(err(broken));
  expect((await services.sessions.list())._unsafeUnwrap()).toEqual([]);
  expect((await startWorkflow(services, { ...request, mode: 'guided' })).isOk()).toBe(true);
});

test("a mode beyond the workflow's recommendation is used with a recorded warning", async () => {
  enforces('mode_never_refused', 'recommendation_warning_durable');
  const agent = engine();
  const mode = 'full_auto_never_stop';
  const begun = await agent.start('test.modes', { mode });
  const warning = { code: 'exceeds_recommended_autonomy', recommended: 'guided', effective: mode };
  expect(told(begun, 'preferences.autonomy')).toBe(mode);
  expect(told(begun, 'warnings')).toMatchObject([
    { code: warning.code, details: { recommended: 'guided', effective: mode } },
  ]);
  expect(begun.text).toContain('this workflow recommends a more cautious one, guided');
  expect(eventsOf(agent, 'preferences_changed').map(({ data }) => data.warnings)).toEqual([[warning]]);
  const quiet = await agent.start('test.modes');
  expect([told(quiet, 'warnings'), eventsOf(agent, 'preferences_changed').at(-1)?.data.warnings]).toEqual([
    [],
    undefined,
  ]);
});

test('git is asked before the session is locked', async () => {
  enforces('git_observed_before_lock');
  const agent = engine();
  const order: string[] = [];
  const { sessions, workspace } = agent.services;
  const services = {
    ...agent.services,
    workspace: {
      observe: async (folder: string | undefined) => {
        const seen = await workspace.observe(folder);
        order.push('observed');
        return seen;
      },
      tree: async () => undefined,
    },
    sessions: {
      ...sessions,
      exclusively: ((...given: Parameters<typeof sessions.exclusively>) => {
        order.push('locked');
        return sessions.exclusively(...given);
      }) as typeof sessions.exclusively,
    },
  };
  await startWorkflow(services, { workflowId: 'test.plain', workspace: '/work/shop' });
  expect(order).toEqual(['observed', 'locked']);
});

/** Every pending step from a reply on, done without anything handed in. */
async function walkToEnd(agent: ReturnType<typeof engine>, from: Awaited<ReturnType<typeof agent.start>>) {
  const pending = [];
  for (let at = from; at.structured['isComplete'] === false; at = await agent.send(at)) {
    expect(at.structured['kind']).toBe('ok');
    pending.push(told(at, 'pending'));
  }
  return pending;
}

test('the start reply names the keys of the workflow file that have no effect', async () => {
  enforces('unknown_key_is_warning');
  const odd = {
    id: 'test.odd',
    name: 'Odd',
    description: 'A key that nothing reads.',
    functionDefinitions: [{ name: 'look', definition: 'Look twice.' }],
    steps: [{ id: 'a', title: 'A', prompt: 'Do it, then look().', guidence: ['Mind the gap.'] }],
  };
  const file = fileWith(JSON.stringify(odd), { ref: 'odd.json' });
  const listing = () => ({ files: [file] });
  const reply = await engine({ listing }).start('test.odd');
  expect(told(reply, 'warnings')).toEqual([
    {
      code: 'workflow_file_problem',
      message:
        '/somewhere/odd.json has parts without effect. Line 1: This names the function "look()", but the step does not show its definition to the agent. Add "functionReferences": ["look()"] to the step. Line 1: Unknown key "guidence" (ignored). Did you mean "guidance"? Tell the user.',
      details: { path: '/somewhere/odd.json', count: 2 },
    },
  ]);
});

test('the start reply reports a misspelled slot and broken bindings of the project', async () => {
  enforces('binding_problems_reported');
  const bound = {
    id: 'test.bound',
    name: 'Bound',
    description: 'A text of the project.',
    extensionPoints: [{ slotId: 'build', purpose: 'How to build.', default: 'make' }],
    steps: [{ id: 'a', title: 'A', prompt: 'Run {{wr.bindings.build}}.' }],
  };
  const file = fileWith(JSON.stringify(bound), { ref: 'bound.json' });
  const started = async (text: string) => {
    const bindings = { ref: 'bindings.json', path: '/repo/bindings.json', content: { kind: 'text', text } } as const;
    const reply = await engine({ listing: () => ({ files: [file], bindings }) }).start('test.bound');
    return (told(reply, 'warnings') as readonly { message: string }[]).map(({ message }) => message);
  };
  const head = '/repo/bindings.json has parts without effect. Line 1:';
  expect(await started('{"biuld": "gradle"}')).toEqual([
    `${head} Unknown slot "biuld" (ignored). Did you mean "build"? Tell the user.`,
  ]);
  expect(await started('{')).toEqual([expect.stringContaining(`${head} This is not JSON`)]);
  expect(await started('{"build": "gradle"}')).toEqual([]);
});

test('a start that is sent again under the same ids makes no second run and gets the same answer', async () => {
  const agent = engine();
  const ids = { session: agent.services.ids.session(), run: agent.services.ids.run() };
  const services = { ...agent.services, ids: { session: () => ids.session, run: () => ids.run } };
  const request = { workflowId: 'test.plain', goal: 'Start once.', workspace: WORKSPACE };
  const first = (await startWorkflow(services, request))._unsafeUnwrap();
  const moved = await agent.send(first, { notes: 'Done.' });
  expect((await startWorkflow(services, request))._unsafeUnwrap()).toEqual(first);
  expect(await agent.send(first, { notes: 'Done.' })).toEqual(moved);

  const run = agent.services.ids.run();
  const joining = { ...services, ids: { ...services.ids, run: () => run } };
  const attached = { ...request, goal: 'Join once.', attachTo: tokenOf(first, 'stateToken') };
  const joined = (await startWorkflow(joining, attached))._unsafeUnwrap();
  expect((await startWorkflow(joining, attached))._unsafeUnwrap()).toEqual(joined);
  const { graph } = await agent.view(first);
  expect([...graph.runs.keys()]).toEqual([ids.run, run]);
});

test('a start that another release carried out is answered with the workflow that it pinned', async () => {
  const text = (title: string) =>
    JSON.stringify({
      id: 'team.one',
      name: 'One',
      description: 'One step.',
      steps: [{ id: 'a', title, prompt: title }],
    });
  let files = [fileWith(text('The old step'))];
  let nowMs = 0;
  const agent = engine({ listing: () => ({ files }), services: { clock: { nowMs: () => nowMs } } });
  const ids = { session: agent.services.ids.session(), run: agent.services.ids.run() };
  const services = { ...agent.services, ids: { session: () => ids.session, run: () => ids.run } };
  const first = (await startWorkflow(services, { workflowId: 'team.one' }))._unsafeUnwrap();
  files = [fileWith(text('The new step'))];
  nowMs += 3_600_000;
  const again = (await startWorkflow(services, { workflowId: 'team.one' }))._unsafeUnwrap();
  expect([first.text, again.text].every((shown) => shown.includes('The old step'))).toBe(true);
  expect((await agent.start('team.one')).text).toContain('The new step');
});
