import { expect, test } from 'vitest';
import { fileWith } from '../../../test/catalog/catalog-of.ts';
import { enforces } from '../../../test/enforces.ts';
import { ENGINE_FILES, engine, fixtureText, stepOf, tokenOf, told } from '../../../test/examples/engine.ts';
import type { WorkflowFile } from '../ports/workflow-sources.ts';
import { rehydrate } from './rehydrate.ts';

const PLAIN = fixtureText('plain');
const CHANGED = PLAIN.replace('Do s2.', 'Do s2 with care.');
const place = { ref: 'workflows/plain.json' };

test('a changed workflow file is reported with the call that starts its new version, and the run continues', async () => {
  enforces('pinned_drift_warned');
  let files: readonly WorkflowFile[] = ENGINE_FILES;
  const agent = engine({ listing: () => ({ files }) });
  const begun = await agent.start('test.plain', { goal: 'Ship', context: { ticket: 7 } });
  expect(told(await agent.show(begun), 'warnings')).toEqual([]);
  files = [fileWith(CHANGED, place)];
  const { structured } = await agent.show(begun);
  const suggestedCall = {
    tool: 'start_workflow',
    arguments: {
      workflowId: 'test.plain',
      attachTo: tokenOf(begun, 'stateToken'),
      goal: 'Ship',
      context: { ticket: 7 },
    },
  };
  expect(structured['warnings']).toEqual([{ code: 'workflow_changed', message: expect.any(String), suggestedCall }]);
  expect(told(await agent.send(begun, { notes: 'One.' }), 'pending.prompt')).toMatch(/^Do s2\.\n/);
  const { workflowId, ...more } = suggestedCall.arguments;
  const joined = await agent.start(workflowId, more);
  expect(told(joined, 'session.sessionId')).toBe(told(begun, 'session.sessionId'));
  expect(told(await agent.send(joined, { notes: 'One.' }), 'pending.prompt')).toMatch(/^Do s2 with care\.\n/);
});

test('an advance reports a changed workflow file once per run and process, and its replay says the same', async () => {
  enforces('pinned_drift_warned');
  let files: readonly WorkflowFile[] = ENGINE_FILES;
  let now = 1_700_000_000_000;
  const agent = engine({ listing: () => ({ files }), services: { clock: { nowMs: () => now } } });
  const begun = await agent.start('test.plain', { goal: 'Ship' });
  const second = await agent.send(begun, { notes: 'One.' });
  expect(told(second, 'warnings')).toEqual([]);
  files = [fileWith(CHANGED, place)];
  now += 60_000;
  const third = await agent.send(second, { notes: 'Two.' });
  expect(told(third, 'warnings')).toEqual([
    {
      code: 'workflow_changed',
      message: expect.any(String),
      suggestedCall: {
        tool: 'start_workflow',
        arguments: { workflowId: 'test.plain', attachTo: tokenOf(third, 'stateToken'), goal: 'Ship' },
      },
    },
  ]);
  expect(third.text).toContain(tokenOf(third, 'stateToken'));
  expect(await agent.send(second, { notes: 'Two.' })).toEqual(third);
  now += 60_000;
  const branch = { ...agent, ...(await agent.show(second)) };
  expect(told(await agent.send(branch, { notes: 'Two again.' }), 'warnings')).toEqual([]);
});

test('the first advances after a start do not look at the files again, and a remark about notes does not hide a later change', async () => {
  enforces('pinned_drift_warned');
  let files: readonly WorkflowFile[] = ENGINE_FILES;
  let now = 1_700_000_000_000;
  let reads = 0;
  const listing = () => {
    reads += 1;
    return { files };
  };
  const agent = engine({ listing, services: { clock: { nowMs: () => now } } });
  const begun = await agent.start('test.plain', { goal: 'Ship' });
  const before = reads;
  const second = await agent.send(begun, { notes: 'One\0.' });
  expect(reads).toBe(before);
  expect(told(second, 'warnings')).toMatchObject([{ code: 'notes_characters' }]);
  files = [fileWith(CHANGED, place)];
  now += 60_000;
  expect(told(await agent.send(second, { notes: 'Two.' }), 'warnings')).toMatchObject([{ code: 'workflow_changed' }]);
});

test("reformatting a workflow or another workspace's file is not reported as drift", async () => {
  enforces('pinned_drift_warned');
  let files: readonly WorkflowFile[] = ENGINE_FILES;
  const agent = engine({ listing: () => ({ files }) });
  const begun = await agent.start('test.plain');
  files = [fileWith(JSON.stringify(JSON.parse(PLAIN)), place)];
  expect(told(await agent.show(begun), 'warnings')).toEqual([]);
  files = [fileWith(CHANGED, place)];
  const stateToken = tokenOf(begun, 'stateToken');
  for (const workspace of ['/work/garden', undefined]) {
    const shown = (await rehydrate(agent.services, { stateToken, workspace }))._unsafeUnwrap();
    expect(told(shown, 'warnings')).toEqual([]);
  }
  const inside = (await rehydrate(agent.services, { stateToken, workspace: '/links/shop/docs' }))._unsafeUnwrap();
  expect(told(inside, 'warnings')).toMatchObject([{ code: 'workflow_changed' }]);
});

test('a missing workflow file is reported; a broken or overridden one is not mistaken for it', async () => {
  enforces('pinned_drift_warned');
  let files: readonly WorkflowFile[] = ENGINE_FILES;
  const agent = engine({ listing: () => ({ files }) });
  const begun = await agent.start('test.plain');
  const warned = async () => told(await agent.show(begun), 'warnings');
  files = [];
  expect(await warned()).toEqual([{ code: 'workflow_gone', message: expect.any(String) }]);
  files = [fileWith(PLAIN.replace('"steps"', '"stepz"'), place)];
  expect(await warned()).toEqual([]);
  files = [fileWith(CHANGED, { ...place, kind: 'user' })];
  expect(await warned()).toEqual([]);
});

test('a complete run gets no drift warning', async () => {
  let files: readonly WorkflowFile[] = ENGINE_FILES;
  const agent = engine({ listing: () => ({ files }) });
  const last = await agent.send(await agent.start('test.skips'), { notes: 'One.' });
  const over = await agent.send(last, { notes: 'Two.' });
  files = [];
  expect(told(await agent.show(last), 'warnings')).toMatchObject([{ code: 'workflow_gone' }]);
  expect(told(await agent.show(over), 'warnings')).toEqual([]);
});

test('a context that would fill the reply is named instead of repeated', async () => {
  enforces('context_never_echoed');
  let files: readonly WorkflowFile[] = ENGINE_FILES;
  const agent = engine({ listing: () => ({ files }) });
  const begun = await agent.start('test.plain', { goal: 'Ship', context: { ticket: 7 } });
  const long = await agent.send(begun, { notes: 'One.', context: { text: 'x'.repeat(10_000) } });
  const grown = await agent.send(begun, { notes: 'Other.', context: { goal: 'g'.repeat(1_100) } });
  const branched = await agent.sendNext(grown);
  files = [fileWith(CHANGED, place)];
  const [warning] = told(await agent.show(long), 'warnings') as readonly object[];
  expect(warning).toMatchObject({
    suggestedCall: { arguments: { workflowId: 'test.plain', goal: 'Ship' } },
    message: expect.stringContaining('"ticket", "text"'),
  });
  expect(JSON.stringify(warning)).not.toContain('xxxx');
  expect(stepOf(branched)).toBe('s2');
  const { suggestedCall } = (told(await agent.show(branched), 'warnings') as readonly never[])[0] ?? expect.fail();
  expect(suggestedCall).toMatchObject({
    arguments: { context: { ticket: 7, goal: 'g'.repeat(1_100) } },
  });
  expect((suggestedCall as { arguments: object }).arguments).not.toHaveProperty('goal');
});
