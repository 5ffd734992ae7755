import { err } from 'neverthrow';
import { expect, test } from 'vitest';
import { enforces } from '../../test/enforces.ts';
import { memoryServices } from '../../test/examples/memory-services.ts';
import { advance } from './advance.ts';
import type { SessionStore } from './ports/session-store.ts';
import type { Services } from './services.ts';
import { startWorkflow } from './start-workflow.ts';

test('a step that is recorded is answered again without the lock', async () => {
  enforces('replay_check_then_recheck');
  const { services, counts } = countedServices();
  const ackToken = await startedAck(services);
  const first = await advance(services, { ackToken, notesMarkdown: 'looked' });
  const before = { ...counts };
  expect(await advance(services, { ackToken, notesMarkdown: 'looked' })).toEqual(first);
  expect(await advance(services, { ackToken, notesMarkdown: 'something else' })).toEqual(first);
  expect(counts).toEqual(before);
});

test('two that race with one token make one step: the second looks again under the lock and writes nothing', async () => {
  enforces('replay_check_then_recheck');
  const { services, counts, meet } = countedServices();
  const ackToken = await startedAck(services);
  const before = { ...counts };
  meet(2);
  const requests = ['looked', 'looked as well'].map((notesMarkdown) => ({ ackToken, notesMarkdown }));
  const [first, second] = await Promise.all(requests.map((request) => advance(services, request)));
  expect(first?.isOk()).toBe(true);
  expect(second).toEqual(first);
  expect(counts).toEqual({ locked: before.locked + 2, appended: before.appended + 1 });
});

test('one that is not recorded is looked for before anything is written, also when nobody races', async () => {
  enforces('replay_check_then_recheck');
  const { services, counts } = countedServices();
  const ackToken = await startedAck(services);
  const before = { ...counts };
  expect((await advance(services, { ackToken })).isOk()).toBe(true);
  expect(counts).toEqual({ locked: before.locked + 1, appended: before.appended + 1 });
});

test('a record that may yet be lost is looked up under the lock, so that it is durable before it is answered', async () => {
  enforces('replay_check_then_recheck');
  const { services, counts } = countedServices();
  const ackToken = await startedAck(services);
  const first = await advance(services, { ackToken });
  const before = { ...counts };
  const sessions = { ...services.sessions, isDurable: () => false };
  expect(await advance({ ...services, sessions }, { ackToken })).toEqual(first);
  expect(counts).toEqual({ locked: before.locked + 1, appended: before.appended });
});

test.each(['exclusively', 'storedReply'] as const)(
  'a session that is removed before %s is one that the token does not know',
  async (call) => {
    const services = memoryServices();
    const ackToken = await startedAck(services);
    if (call === 'storedReply') await advance(services, { ackToken });
    const sessions = { ...services.sessions, [call]: memoryServices().sessions[call] };
    expect(await advance({ ...services, sessions }, { ackToken })).toMatchObject(
      err({ code: 'TOKEN_UNKNOWN_NODE', missing: { kind: 'session' } }),
    );
  },
);

type Counts = { locked: number; appended: number };

/** Services that count. After `meet`, so many wait at the gate for each other. */
function countedServices(): { services: Services; counts: Counts; meet: (size: number) => void } {
  const counts: Counts = { locked: 0, appended: 0 };
  const services = memoryServices();
  let missing = 0;
  let open = () => {};
  let gathered = Promise.resolve();
  const sessions: SessionStore = {
    ...services.sessions,
    exclusively: async (sessionId, work, options) => {
      counts.locked += 1;
      missing -= 1;
      if (missing === 0) open();
      await gathered;
      return services.sessions.exclusively(sessionId, work, options);
    },
    append: (permit, plan) => {
      counts.appended += 1;
      return services.sessions.append(permit, plan);
    },
  };
  const meet = (size: number) => {
    missing = size;
    gathered = new Promise((resolve) => {
      open = resolve;
    });
  };
  return { services: { ...services, sessions }, counts, meet };
}

async function startedAck(services: Services): Promise<string> {
  const started = await startWorkflow(services, { workflowId: 'wr.first_steps' });
  return String(started._unsafeUnwrap().structured['ackToken']);
}
