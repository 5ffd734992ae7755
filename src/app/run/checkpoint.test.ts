import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { type Engine, engine, eventsOf, stepOf, tokenOf, told } from '../../../test/examples/engine.ts';
import { storeFolder } from '../../../test/store-folder.ts';
import { storeOf } from '../../adapters/file-store/file-store.ts';
import type { EventOf } from '../../core/log/event.ts';
import type { ObservationData } from '../../core/log/events/run-events.ts';
import type { RunId } from '../../core/log/ids.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { lineOutputs } from '../../core/sessions/line-outputs.ts';
import { outputHistory } from '../../core/views/node-facts.ts';
import { preferredTip } from '../../core/views/run-status.ts';
import { checkpoint } from './checkpoint.ts';

const DIVERGENCE = { kind: 'wr.workflow_divergence', reason: 'efficiency_skip', summary: 'Read three files, not ten.' };

test('a checkpoint has its own node with the same step, and the step continues from either token', async () => {
  const agent = engine();
  const begun = await agent.start('test.plain');
  const before = agent.events.length;
  const saved = await agent.save(begun, 'Two of five.', [{ kind: 'wr.findings', findings: [] }]);
  const [root, node] = eventsOf(agent, 'node_created').map(({ scope }) => scope.nodeId);
  expect(agent.events.slice(before).map(({ kind, scope }) => [kind, scope?.nodeId])).toEqual([
    ['node_created', node],
    ['edge_created', undefined],
    ['node_output_appended', node],
    ['node_output_appended', node],
  ]);
  const [created] = agent.events.slice(before);
  expect(eventsOf(agent, 'edge_created').map(({ data }) => data)).toEqual([
    {
      edgeKind: 'checkpoint',
      fromNodeId: root,
      toNodeId: node,
      cause: { kind: 'checkpoint_created', eventId: created?.eventId },
    },
  ]);
  expect(saved.structured).toEqual({
    ...begun.structured,
    guidance: undefined,
    stateToken: expect.any(String),
    ackToken: expect.any(String),
    checkpointToken: expect.any(String),
    nextCall: expect.any(Object),
  });
  expect(stepOf(await agent.send(saved, { notes: 'All five.' }))).toBe('s2');
  expect(stepOf(await agent.send(begun, { notes: 'All five.' }))).toBe('s2');
});

test('the same checkpoint token returns the same reply and saves nothing, also after the run continued', async () => {
  const agent = engine();
  const begun = await agent.start('test.plain');
  const saved = await agent.save(begun, 'Two of five.');
  expect(await agent.save(begun, ' Two of five. ')).toEqual(saved);
  await agent.send(saved, { notes: 'All.' });
  const before = agent.events.length;
  expect(await agent.save(begun, 'Two of five.')).toEqual(saved);
  expect(await Promise.all([1, 2, 3].map(() => agent.save(begun, 'Two of five.')))).toEqual([saved, saved, saved]);
  expect(agent.events).toHaveLength(before);
});

test('a checkpoint token sent a hundred times, also concurrently, makes one node', async () => {
  enforces('checkpoint_idempotent', 'checkpoint_key');
  const folder = storeFolder();
  const agents = [1, 2].map(() => engine({ store: storeOf(folder) }));
  const [agent = expect.fail()] = agents;
  const begun = await agent.start('test.plain');
  const save = (by: Engine) => by.save(begun, 'Two of five.', [{ kind: 'note', text: 'x' }]);
  const replies = await Promise.all(Array.from({ length: 40 }, (_, i) => save(agents[i % 2] ?? agent)));
  for (let i = 0; i < 60; i++) replies.push(await save(agents[i % 2] ?? agent));
  expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
  const { graph, outputs } = await engine({ store: storeOf(folder) }).view(begun);
  const saved = [...graph.nodes.values()].filter(({ kind }) => kind === 'checkpoint');
  expect(saved).toHaveLength(1);
  expect(saved.flatMap(({ nodeId }) => outputHistory(outputs, nodeId))).toHaveLength(2);
});

test('equal checkpoints on two branches stay separate', async () => {
  const agent = engine();
  const begun = await agent.start('test.plain');
  const one = await agent.send(begun, { notes: 'First try.' });
  const other = await agent.send(await agent.show(begun), { notes: 'Second try.' });
  const saved = [await agent.save(one, 'Half way.'), await agent.save(other, 'Half way.')];
  await agent.save(one, 'Half way.');
  const nodes = await Promise.all(saved.map((reply) => agent.node(reply)));
  expect(new Set(nodes).size).toBe(2);
  const notes = async (reply: GivenReply) => {
    const { entries } = told(await agent.show(reply), 'recap') as { readonly entries: readonly { text: string }[] };
    return entries.map(({ text }) => text);
  };
  expect(await notes(one)).toEqual(['First try.', 'Half way.']);
  expect(await notes(other)).toEqual(['Second try.', 'Half way.']);
  await agent.save(saved[1] ?? begun, 'Nearly there.');
  expect(await notes(one)).toEqual(['First try.', 'Half way.']);
  expect(await notes(other)).toEqual(['Second try.', 'Half way.', 'Nearly there.']);
});

test('other content with a used checkpoint token is reported as ignored, and one further call saves it', async () => {
  const agent = engine();
  const begun = await agent.start('test.plain');
  const saved = await agent.save(begun, 'Two of five.');
  const before = agent.events.length;
  const other = await agent.save(begun, 'Three of five.');
  expect(agent.events).toHaveLength(before);
  const checkpointToken = tokenOf(saved, 'checkpointToken');
  const output = { notesMarkdown: 'Three of five.' };
  expect(other.structured).toEqual({
    ...saved.structured,
    warnings: [{ code: 'replay_ignored_new_output', message: expect.any(String) }],
    nextCall: { tool: 'checkpoint_workflow', arguments: { checkpointToken, output } },
  });
  await agent.save(saved, 'Three of five.');
  expect(told(await agent.show(begun), 'recap')).toMatchObject({
    entries: [{ text: 'Two of five.' }, { text: 'Three of five.' }],
  });
});

test('a step can have many checkpoints: each reply has a new token', async () => {
  const agent = engine();
  const begun = await agent.start('test.plain');
  for (const notes of ['One.', 'Two.', 'Three.']) await agent.save(await agent.show(begun), notes);
  expect(told(await agent.show(begun), 'recap')).toMatchObject({
    entries: [{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }],
  });
});

test('an empty checkpoint or a token of another kind is refused', async () => {
  const agent = engine();
  const begun = await agent.start('test.plain');
  const second = await agent.send(begun, { notes: 'One.' });
  const before = agent.events.length;
  const checkpointToken = tokenOf(second, 'checkpointToken');
  const nothing = { checkpointToken, output: { notesMarkdown: ' \n', artifacts: [] } };
  expect(await checkpoint(agent.services, nothing)).toMatchObject(err({ code: 'nothing_to_keep' }));
  const output = { notesMarkdown: 'x', artifacts: [] };
  expect(await checkpoint(agent.services, { checkpointToken: tokenOf(second, 'ackToken'), output })).toMatchObject(
    err({ code: 'TOKEN_SCOPE_MISMATCH' }),
  );
  const stateToken = tokenOf(begun, 'stateToken');
  expect(await checkpoint(agent.services, { checkpointToken, stateToken, output })).toMatchObject(
    err({ code: 'TOKEN_SCOPE_MISMATCH', mismatch: { kind: 'pair' } }),
  );
  expect(agent.events).toHaveLength(before);
});

test('a checkpoint records divergences and reports unknown artifacts', async () => {
  enforces('divergence_recorded_when_sent', 'unknown_artifact_kinds_stored');
  const agent = engine();
  const begun = await agent.start('test.plain');
  const saved = await agent.save(begun, 'Half way.', [DIVERGENCE, { kind: 'test.odd' }, { n: 1 }]);
  expect(eventsOf(agent, 'divergence_recorded').map(({ scope, data }) => [scope.nodeId, data.reason])).toEqual([
    [await agent.node(saved), 'efficiency_skip'],
  ]);
  expect(told(saved, 'warnings')).toMatchObject([{ code: 'unreadable_artifact' }, { code: 'unknown_artifact_kind' }]);
  expect(eventsOf(agent, 'node_output_appended')).toHaveLength(4);
});

test('a checkpoint records a changed workspace once, and a branch may change back', async () => {
  let branch = 'main';
  const seen = (): ObservationData => ({
    key: 'git_branch',
    value: { type: 'short_string', value: branch },
    confidence: 'high',
  });
  const agent = engine({ services: { workspace: { observe: async () => [seen()], tree: async () => undefined } } });
  let at = await agent.start('test.plain');
  for (const name of ['main', 'fix', 'fix', 'main']) {
    branch = name;
    at = await agent.save(at, `On ${name}.`);
  }
  expect(eventsOf(agent, 'observation_recorded').map(({ data }) => data.value.value)).toEqual(['main', 'fix', 'main']);
});

test("a checkpoint keeps the session's workspace, wherever the server was started", async () => {
  const seenAt = (path: string): ObservationData => ({
    key: 'repo_root',
    value: { type: 'path', value: path },
    confidence: 'high',
  });
  const observe = async (path: string | undefined) => (path === undefined ? [] : [seenAt(path)]);
  const { services, start } = engine({ services: { workspace: { observe, tree: async () => undefined } } });
  const begun = await start('test.plain', { workspace: '/work/shop' });
  const checkpointToken = tokenOf(begun, 'checkpointToken');
  const output = { notesMarkdown: 'Half of it.', artifacts: [] };
  await checkpoint(services, { checkpointToken, output, workspace: '/work/server' });
  const [summary] = (await services.sessionIndex.summaries())._unsafeUnwrap();
  expect(summary?.observed).toEqual({ repo_root: '/work/shop' });
});

test('a checkpoint after the end is saved, and the reply still lists open gaps', async () => {
  enforces('final_reply_lists_open_gaps');
  const agent = engine();
  const begun = await agent.start('test.skips', { mode: 'full_auto_never_stop' });
  const over = await agent.send(await agent.send(begun));
  const saved = await agent.save(over, 'Told the user.');
  expect(saved.structured).toMatchObject({ isComplete: true, nextCall: null, gaps: told(over, 'gaps') as object });
  expect(told(over, 'gaps')).toHaveLength(2);
  expect(told(await agent.show(over), 'recap')).toMatchObject({
    entries: [{ title: 'After the last step', text: 'Told the user.' }],
  });
});

test('notes saved at a blocked attempt are shown to the agent that corrects it', async () => {
  const agent = engine();
  const begun = await agent.start('test.demands');
  const blocked = await agent.send(begun, { notes: 'Tried.' });
  const saved = await agent.save(blocked, 'The report is under way.');
  expect(saved.text).toMatch(/^Saved\. The step is still blocked, as before: /);
  expect((await agent.show(saved)).structured).toMatchObject({
    kind: 'blocked',
    draft: { notesMarkdown: 'Tried.' },
    recap: { entries: [{ text: 'The report is under way.' }] },
  });
  expect(stepOf(await agent.sendNext(await agent.show(saved)))).toBe('judged');
});

/** Sends notes that replace those of the last finished step. */
async function correct(agent: Engine, from: GivenReply, notesMarkdown: string) {
  const output = { notesMarkdown, artifacts: [], replacesNotes: true };
  return checkpoint(agent.services, { checkpointToken: tokenOf(from, 'checkpointToken'), output });
}

test('corrected notes replace those of the last finished step in recap, search and report, and the log keeps both', async () => {
  enforces('checkpoint_corrects_notes', 'outputs_append_only');
  const agent = engine();
  const second = await agent.send(await agent.start('test.plain'), { notes: 'The zebra is black.' });
  const corrected = (await correct(agent, second, 'The zebra is striped.'))._unsafeUnwrap();
  const [first, correction] = eventsOf(agent, 'node_output_appended');
  expect(correction).toMatchObject({
    scope: first?.scope,
    data: { outputChannel: 'recap', supersedesOutputId: first?.data.outputId },
  });
  const entries = [{ stepId: 's1', text: 'The zebra is striped.' }];
  for (const place of [second, corrected]) {
    expect(told(await agent.show(place), 'recap')).toMatchObject({ entries });
  }
  // Corrected again from the reply to the first correction, and seen by what comes after.
  const again = (await correct(agent, corrected, 'The zebra has stripes.'))._unsafeUnwrap();
  const third = await agent.send(again, { notes: 'Fed it.' });
  expect(told(await agent.show(third), 'recap')).toMatchObject({
    entries: [{ stepId: 's1', text: 'The zebra has stripes.' }, { text: 'Fed it.' }],
  });
  const view = await agent.view(third);
  const texts = (isAll: boolean) =>
    lineOutputs(view, {
      nodeId: preferredTip(view.graph, runIdOf(third))?.nodeId ?? expect.fail('a tip'),
      isAll,
    }).flatMap(({ outputs, superseded }) => outputs.map(({ data }) => [textOf(data), superseded.has(data.outputId)]));
  expect(texts(false)).toEqual([
    ['The zebra has stripes.', false],
    ['Fed it.', false],
  ]);
  expect(texts(true)).toEqual([
    ['The zebra is black.', true],
    ['The zebra is striped.', true],
    ['The zebra has stripes.', false],
    ['Fed it.', false],
  ]);
});

test('a correction sent twice is recorded once, and another text with the same token is reported as ignored', async () => {
  const agent = engine();
  const second = await agent.send(await agent.start('test.plain'), { notes: 'Wrong.' });
  const corrected = (await correct(agent, second, 'Right.'))._unsafeUnwrap();
  const before = agent.events.length;
  expect((await correct(agent, second, 'Right.'))._unsafeUnwrap()).toEqual(corrected);
  const other = (await correct(agent, second, 'Better.'))._unsafeUnwrap();
  expect(told(other, 'warnings')).toMatchObject([{ code: 'replay_ignored_new_output' }]);
  expect(agent.events).toHaveLength(before);
  // The call that the reply suggests records it.
  const { checkpointToken, output } = told(other, 'nextCall.arguments') as never as Parameters<typeof checkpoint>[1];
  const sent = { checkpointToken, output: { ...output, artifacts: [] } };
  expect((await checkpoint(agent.services, sent)).isOk()).toBe(true);
  expect(told(await agent.show(second), 'recap')).toMatchObject({ entries: [{ text: 'Better.' }] });
});

test('notes are not replaced where there are none, where they are a draft, and where the run continued', async () => {
  enforces('checkpoint_corrects_notes');
  const agent = engine();
  const begun = await agent.start('test.demands');
  const refused = async (from: GivenReply) => (await correct(agent, from, 'Other.'))._unsafeUnwrapErr();
  expect(await refused(begun)).toMatchObject({ code: 'notes_not_replaceable', reason: 'no_notes' });
  const blocked = await agent.send(begun, { notes: 'Tried.' });
  expect(await refused(blocked)).toMatchObject({ code: 'notes_not_replaceable', reason: 'still_a_draft' });
  const second = await agent.send(await agent.start('test.plain'), { notes: 'One.' });
  await agent.send(second, { notes: 'Two.' });
  const before = agent.events.length;
  expect(await refused(second)).toMatchObject({ code: 'notes_not_replaceable', reason: 'run_continued' });
  const checkpointToken = tokenOf(second, 'checkpointToken');
  const empty = { checkpointToken, output: { artifacts: [{ kind: 'x' }], replacesNotes: true } };
  expect((await checkpoint(agent.services, empty))._unsafeUnwrapErr().code).toBe('nothing_to_keep');
  expect(agent.events).toHaveLength(before);
});

const runIdOf = (reply: GivenReply) => (reply.structured['session'] as { readonly runId: RunId }).runId;
const textOf = (data: EventOf<'node_output_appended'>['data']) =>
  data.outputChannel === 'recap' ? data.payload.notesMarkdown : data.payload.sha256;

test('a checkpoint on a complete run says that it was saved', async () => {
  const agent = engine();
  const last = await agent.send(await agent.start('test.skips'), { notes: 'One.' });
  const over = await agent.send(last, { notes: 'Two.' });
  expect(over.text).toMatch(/^"/);
  expect((await agent.save(over, 'One more thing.')).text).toMatch(/^Saved\. ".+" is complete\./);
});
