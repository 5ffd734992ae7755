import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { sessionWriter } from '../../../test/simulation/session-writer.ts';
import { contextAt } from './context.ts';
import { foldEvents } from './session-view.ts';

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
