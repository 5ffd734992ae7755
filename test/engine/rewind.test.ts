import { expect, test } from 'vitest';
import { summariseSession } from '../../src/adapters/file-store/index/entry-makers.ts';
import type { GivenReply } from '../../src/core/log/operation/stored-reply.ts';
import { contextAt } from '../../src/core/views/lineage.ts';
import { enforces } from '../enforces.ts';
import { type Engine, engine, eventsOf, stepOf, tokenOf, told } from '../examples/engine.ts';

test('doing the third of ten steps again creates a branch and leaves the first one unchanged', async () => {
  enforces('advance_from_non_tip_forks', 'rejoin_branch_preferred', 'order_violations_never_accepted');
  const agent = engine();
  const replies = await taken(agent, 10);
  const [third = expect.fail(), tip = expect.fail()] = [replies[2], replies[10]];
  expect(await summary(agent, tip)).toMatchObject({ status: 'in_progress', branchCount: 1 });

  const shown = await agent.show(third);
  expect(shown.structured).toMatchObject({
    pending: { stepId: 's3' },
    recap: { entries: [{ text: 'Did s1.' }, { text: 'Did s2.' }] },
    branch: {
      children: [{ kind: 'step', summary: 'Did s3.' }],
      preferred: { stateToken: tokenOf(tip, 'stateToken'), stepTitle: 'Do s11' },
    },
  });
  const fork = await agent.send(shown, { notes: 'Did s3 in another way.', context: { way: 'other' } });
  expect(stepOf(fork)).toBe('s4');

  // The branch is where the work goes on now; the first one is left alone and can be gone back to.
  const onFork = await summary(agent, fork);
  expect(onFork).toMatchObject({ status: 'in_progress', branchCount: 2, tip: await agent.node(fork) });
  expect(notesOf(await agent.show(fork))).toEqual(['Did s1.', 'Did s2.', 'Did s3 in another way.']);
  expect(notesOf(await agent.show(tip))).toHaveLength(10);
  const { context } = await agent.view(tip);
  expect(contextAt(context, await agent.node(tip))).toEqual({ last: 's10' });
  expect(contextAt(context, await agent.node(fork))).toEqual({ last: 's2', way: 'other' });
  expect(contextAt(context, await agent.node(third))).toEqual({ last: 's2' });

  const further = await agent.send(tip, { notes: 'Did s11.' });
  expect(stepOf(further)).toBe('s12');
  expect(await summary(agent, tip)).toMatchObject({ branchCount: 2, tip: await agent.node(further) });
  const over = await agent.send(further, { notes: 'Did s12.' });
  expect([told(over, 'isComplete'), await summary(agent, over)]).toMatchObject([true, { status: 'complete' }]);
  const onceMore = await agent.send(fork, { notes: 'Did s4.' });
  expect(await summary(agent, onceMore)).toMatchObject({ status: 'in_progress', branchCount: 2 });
});

test('a blocked run has the status blocked until it continues or is in never-stop mode', async () => {
  enforces('block_writes_no_gap');
  const agent = engine();
  const begun = await agent.start('test.skips');
  const blocked = await agent.send(begun);
  expect(await summary(agent, begun)).toMatchObject({ status: 'blocked', branchCount: 1 });
  expect(eventsOf(agent, 'gap_recorded')).toEqual([]);
  await agent.save(blocked, 'Half way.');
  expect(await summary(agent, begun)).toMatchObject({ status: 'blocked' });
  const last = await agent.send(blocked, { notes: 'One.' });
  expect(await summary(agent, begun)).toMatchObject({ status: 'in_progress' });
  await agent.send(last, { notes: 'Two.' });
  // What was blocked and then corrected leaves nothing open.
  expect(await summary(agent, begun)).toMatchObject({ status: 'complete' });
});

test('no call does a step out of order, whatever token and output it sends', async () => {
  enforces('order_violations_never_accepted', 'advance_only_through_ack');
  const agent = engine();
  const replies = await taken(agent, 5);
  for (const [i, reply] of replies.entries()) {
    const shown = await agent.show(reply);
    expect(stepOf(shown)).toBe(`s${i + 1}`);
    const next = await agent.send(shown, { notes: 'Again.', context: { step: 's12', cursor: 11 } });
    expect(stepOf(next)).toBe(`s${i + 2}`);
  }
});

async function taken(agent: Engine, count: number): Promise<readonly GivenReply[]> {
  const replies = [await agent.start('test.plain')];
  for (let i = 1; i <= count; i++) {
    const from = replies.at(-1) ?? expect.fail();
    replies.push(await agent.send(from, { notes: `Did s${i}.`, context: { last: `s${i}` } }));
  }
  return replies;
}

async function summary({ services, view }: Engine, reply: GivenReply) {
  const { sessionId } = reply.structured['session'] as never;
  const summed = await summariseSession({ sessionId, view: await view(reply) }, services);
  return summed._unsafeUnwrap().runs[0];
}

function notesOf(reply: GivenReply): readonly string[] {
  const { entries } = told(reply, 'recap') as unknown as { readonly entries: readonly { readonly text: string }[] };
  return entries.map(({ text }) => text);
}
