import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { sessionWriter, type WrittenNode } from '../../../test/simulation/session-writer.ts';
import { contextAt } from './lineage.ts';
import { preferencesAt } from './node-facts.ts';
import { foldEvents } from './session-view.ts';

describe('what a node sees', () => {
  test('a step keeps what its parent held when the step was taken', () => {
    const writer = sessionWriter();
    const root = writer.startRun({ context: { branch: 'main' } });
    const before = writer.advance(root);
    writer.record(root, { context: { branch: 'other' } });
    const after = writer.advance(root);

    const { context } = foldEvents(writer.events);
    expect([before, after, root].map(({ nodeId }) => contextAt(context, nodeId))).toEqual([
      { branch: 'main' },
      { branch: 'other' },
      { branch: 'other' },
    ]);
  });

  test('a preference set from outside on the step above governs the retry of a blocked attempt', () => {
    const writer = sessionWriter();
    const root = writer.startRun({ mode: 'guided' });
    const blocked = writer.block(root);
    const blockedAgain = writer.block(blocked);
    writer.record(root, { mode: 'full_auto_never_stop' });
    const retried = writer.advance(blockedAgain);

    const { preferences } = foldEvents(writer.events);
    for (const { nodeId } of [blocked, blockedAgain, retried]) {
      expect(preferencesAt(preferences, nodeId)?.autonomy).toBe('full_auto_never_stop');
    }
  });

  test('the later of two facts counts, even when it is recorded higher up', () => {
    const writer = sessionWriter();
    const root = writer.startRun({ context: { count: 0, mine: false } });
    const blocked = writer.block(root, { context: { count: 1, mine: true } });
    writer.record(root, { context: { count: 2 } });

    const { context } = foldEvents(writer.events);
    expect(contextAt(context, blocked.nodeId)).toEqual({ count: 2, mine: true });
    expect(contextAt(context, root.nodeId)).toEqual({ count: 2, mine: false });
  });

  test('a checkpoint sees what is recorded later on its node', () => {
    const writer = sessionWriter();
    const root = writer.startRun();
    const checkpoint = writer.checkpoint(writer.checkpoint(root));
    writer.record(root, { context: { count: 2 } });

    expect(contextAt(foldEvents(writer.events).context, checkpoint.nodeId)).toEqual({ count: 2 });
  });

  test('facts on a blocked attempt stay there until a retry takes them along', () => {
    const writer = sessionWriter();
    const root = writer.startRun();
    const blocked = writer.block(root, { context: { answer: 42 } });
    const retried = writer.advance(blocked);
    const fresh = writer.advance(root);

    const { context } = foldEvents(writer.events);
    expect(contextAt(context, retried.nodeId)).toEqual({ answer: 42 });
    expect(contextAt(context, fresh.nodeId)).toEqual({});
    expect(contextAt(context, root.nodeId)).toEqual({});
  });

  test('a late fact in the middle of a chain is seen below it, and nowhere else', () => {
    const writer = sessionWriter();
    const root = writer.startRun();
    const chain = [writer.block(root)];
    for (let i = 1; i < 40; i++) chain.push(writer.block(chain.at(-1) as WrittenNode));
    const aside = writer.block(chain[10] as WrittenNode);
    for (const at of [30, 3, 17]) writer.record(chain[at] as WrittenNode, { context: { last: at } });

    const { context } = foldEvents(writer.events);
    const seen = chain.map(({ nodeId }) => contextAt(context, nodeId)['last']);
    expect(seen).toEqual(chain.map((_, i) => (i < 3 ? undefined : i < 17 ? 3 : 17)));
    expect([aside, root].map(({ nodeId }) => contextAt(context, nodeId))).toEqual([{ last: 3 }, {}]);
  });

  test('a query does not change a view', () => {
    const writer = sessionWriter();
    const root = writer.startRun({ context: { count: 0 } });
    const blocked = writer.block(writer.block(root, { context: { count: 1 } }));
    writer.record(root, { context: { late: true } });
    const view = foldEvents(writer.events);
    const first = contextAt(view.context, blocked.nodeId);
    expect(contextAt(view.context, root.nodeId)).toEqual({ count: 0, late: true });
    expect(contextAt(view.context, blocked.nodeId)).toEqual(first);
    expect(first).toEqual({ count: 1, late: true });
    expect(view).toEqual(foldEvents(writer.events));
  });
});

describe('context', () => {
  test('a rewound branch does not see what the other branch put into context', () => {
    enforces('view_context_folds_ancestry');
    const writer = sessionWriter();
    const root = writer.startRun({ context: { goal: 'ship' } });
    const left = writer.advance(root, { context: { tool: 'left' } });
    const right = writer.advance(root, { context: { tool: 'right' } });
    const below = writer.advance(left, { context: { more: [1, { deep: null }] } });

    const { context } = foldEvents(writer.events);
    expect([root, left, right, below].map(({ nodeId }) => contextAt(context, nodeId))).toEqual([
      { goal: 'ship' },
      { goal: 'ship', tool: 'left' },
      { goal: 'ship', tool: 'right' },
      { goal: 'ship', tool: 'left', more: [1, { deep: null }] },
    ]);
  });

  test('the latest delta on the line decides a context key, and null removes it', () => {
    enforces('view_context_nearest_ancestor');
    const writer = sessionWriter();
    const root = writer.startRun({ context: { a: 1, b: 1, c: 1 } });
    const second = writer.advance(root, { context: { a: 2, b: null } });
    const third = writer.advance(second, { context: { b: 3, absent: null } });

    const { context } = foldEvents(writer.events);
    expect([root, second, third].map(({ nodeId }) => contextAt(context, nodeId))).toEqual([
      { a: 1, b: 1, c: 1 },
      { a: 2, c: 1 },
      { a: 2, b: 3, c: 1 },
    ]);
  });

  test('below a step the later context delta decides, its own or that of the step', () => {
    enforces('view_context_nearest_ancestor');
    for (const hang of ['block', 'checkpoint'] as const) {
      const writer = sessionWriter();
      const root = writer.startRun({ context: { a: 1 } });
      const hung = writer[hang](root, { context: { a: 2 } });
      const seen = () => contextAt(foldEvents(writer.events).context, hung.nodeId);
      expect(seen()).toEqual({ a: 2 });
      writer.record(root, { context: { a: 3 } });
      expect(seen()).toEqual({ a: 3 });
      writer.record(hung, { context: { a: 4 } });
      expect(seen()).toEqual({ a: 4 });
      expect(contextAt(foldEvents(writer.events).context, root.nodeId)).toEqual({ a: 3 });
    }
  });
});
