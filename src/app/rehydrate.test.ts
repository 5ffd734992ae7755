import { expect, test } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { memoryServices } from '../../test/examples/memory-services.ts';
import type { GivenReply } from '../core/log/operation/stored-reply.ts';
import { branchCount } from '../core/views/tips.ts';
import { advance } from './advance.ts';
import { rehydrate } from './rehydrate.ts';
import type { Services } from './services.ts';
import { startWorkflow } from './start-workflow.ts';

test('a step that was done is shown with a new ack, and sending that one makes a branch', async () => {
  enforces('token_several_acks_per_node');
  const services = memoryServices();
  const started = (await startWorkflow(services, { workflowId: 'wr.first_steps' }))._unsafeUnwrap();
  const show = async () => (await rehydrate(services, { stateToken: token(started, 'stateToken') }))._unsafeUnwrap();
  expect(token(await show(), 'ackToken')).toBe(token(started, 'ackToken'));

  const first = (await advance(services, { ackToken: token(started, 'ackToken') }))._unsafeUnwrap();
  const again = token(await show(), 'ackToken');
  expect(again).not.toBe(token(started, 'ackToken'));
  expect(token(await show(), 'ackToken')).toBe(again);
  expect(await branches(services)).toEqual([1]);

  const second = (await advance(services, { ackToken: again }))._unsafeUnwrap();
  expect(token(second, 'stateToken')).not.toBe(token(first, 'stateToken'));
  expect(second.structured['pending']).toEqual(first.structured['pending']);
  expect(await branches(services)).toEqual([2]);
});

function token({ structured }: GivenReply, name: string): string {
  const found = structured[name];
  return typeof found === 'string' ? found : expect.fail(`no ${name}`);
}

async function branches(services: Services): Promise<readonly number[]> {
  const [sessionId = expect.fail('a session was started')] = (await services.sessions.list())._unsafeUnwrap();
  const { view } = (await services.sessions.load(sessionId))._unsafeUnwrap();
  return [...view.graph.runs.keys()].map((runId) => branchCount(view.graph, runId));
}
