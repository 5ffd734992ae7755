import { describe, expect, it } from 'vitest';
import { enforces } from '../enforces.ts';
import { engine, eventsOf, stepOf, tokenOf, told } from '../examples/engine.ts';

describe('a checkpoint', () => {
  it('a checkpoint sent a hundred times is one node with its edge and its outputs, and leaves the run where it is', async () => {
    enforces('checkpoint_does_not_advance', 'checkpoint_creates_node_edge_outputs', 'checkpoint_idempotent');
    const made = engine();
    const step = await made.send(await made.start('test.plain'), { notes: 'First.' });
    const before = made.events.length;
    const saved = await made.save(step, 'Half of it.', [{ kind: 'list', items: [1] }]);
    for (let i = 0; i < 99; i++) {
      expect(await made.save(step, 'Half of it.', [{ kind: 'list', items: [1] }])).toEqual(saved);
    }
    const events = made.events.slice(before);
    const [from, node] = [await made.node(step), await made.node(saved)];
    expect(events.map(({ kind }) => kind)).toEqual([
      'node_created',
      'edge_created',
      'node_output_appended',
      'node_output_appended',
    ]);
    expect(eventsOf({ events }, 'node_created')[0]?.data).toMatchObject({ nodeKind: 'checkpoint', parentNodeId: from });
    expect(eventsOf({ events }, 'edge_created')[0]?.data).toMatchObject({
      edgeKind: 'checkpoint',
      fromNodeId: from,
      toNodeId: node,
      cause: { kind: 'checkpoint_created', eventId: events[0]?.eventId },
    });
    expect(eventsOf({ events }, 'node_output_appended').map(({ scope }) => scope.nodeId)).toEqual([node, node]);
    expect([stepOf(saved), stepOf(await made.show(step))]).toEqual([stepOf(step), stepOf(step)]);
  });

  it.each(['the checkpoint', 'the step'])('after a checkpoint the run continues from %s', async (where) => {
    enforces('checkpoint_reply_tokens');
    const made = engine();
    const step = await made.start('test.plain');
    const saved = await made.save(step, 'Half of it.');
    expect(tokenOf(saved, 'ackToken')).not.toBe(tokenOf(step, 'ackToken'));
    const next = await made.send(where === 'the step' ? step : saved, { notes: 'All of it.' });
    expect(stepOf(next)).toBe('s2');
    const edge = eventsOf(made, 'edge_created').at(-1);
    expect(edge?.data).toMatchObject({ edgeKind: 'acked_step', cause: { kind: 'tip_advance' } });
    expect((await made.show(next)).text).toContain('Half of it.');
  });

  it('a checkpoint is another one from another node, another run or another token of the same node', async () => {
    enforces('checkpoint_key');
    const made = engine();
    const first = await made.start('test.plain');
    const second = await made.send(first, { notes: 'On.' });
    const otherRun = await made.start('test.plain', { attachTo: tokenOf(first, 'stateToken') });
    const saved = await made.save(second, 'Same words.');
    const again = await made.show(second);
    const nodes = [saved];
    for (const from of [first, otherRun, again, saved]) nodes.push(await made.save(from, 'Same words.'));
    expect(new Set(await Promise.all(nodes.map(made.node))).size).toBe(5);
    const kinds = eventsOf(made, 'node_created').filter(({ data }) => data.nodeKind === 'checkpoint');
    expect(kinds).toHaveLength(5);
  });

  it('a checkpoint of one branch is not shown on the other', async () => {
    const made = engine();
    const first = await made.start('test.plain');
    const left = await made.send(first, { notes: 'Left.' });
    const right = await made.send(await made.show(first), { notes: 'Right.' });
    await made.save(left, 'Saved on the left.');
    await made.save(right, 'Saved on the right.');
    const texts = [await made.show(left), await made.show(right)].map((reply) => JSON.stringify(told(reply, 'recap')));
    expect(texts.map((text) => [text.includes('on the left'), text.includes('on the right')])).toEqual([
      [true, false],
      [false, true],
    ]);
  });

  it('rehydrating never creates a checkpoint', async () => {
    enforces('checkpoint_not_from_rehydrate');
    const made = engine();
    const saved = await made.save(await made.start('test.plain'), 'Half of it.');
    const before = made.events.length;
    for (let i = 0; i < 3; i++) await made.show(saved);
    expect(made.events.length).toBe(before);
  });
});
