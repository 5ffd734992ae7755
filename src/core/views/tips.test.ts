import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import type { NodeFacts } from '../../../test/simulation/node-facts.ts';
import { type SessionWriter, sessionWriter, type WrittenNode } from '../../../test/simulation/session-writer.ts';
import type { EventKind } from '../log/event.ts';
import { nodeOf } from './run-graph.ts';
import { foldEvents } from './session-view.ts';
import { branchCount, preferredTip, preferredTipBelow, tips } from './tips.ts';

/** A fact of every kind that can be recorded on a node that is there. */
type Touching = Exclude<
  EventKind,
  'session_created' | 'observation_recorded' | 'run_started' | 'edge_created' | 'node_created' | 'advance_recorded'
>;
const TOUCHES: { readonly [kind in Touching]: NodeFacts } = {
  node_output_appended: { note: { name: 'n', text: 'n' } },
  preferences_changed: { mode: 'guided' },
  capability_observed: { capability: { capability: 'delegation', status: 'available', grade: 'weak' } },
  gap_recorded: { gaps: [{ name: 'g' }] },
  divergence_recorded: { isDivergent: true },
  decision_trace_appended: { trace: 'why' },
  context_set: { context: { a: 1 } },
  step_skipped: { skipped: 0 },
};

describe('tips', () => {
  test('a node with only blocked attempts and checkpoints below it is still a tip', () => {
    enforces('view_tip_counts_step_descendants_only');
    const writer = sessionWriter();
    const root = writer.startRun();
    const step = writer.advance(root);
    const blocked = writer.block(step);
    const checkpoint = writer.checkpoint(step);
    expect(tipIds(writer, root)).toEqual([step, blocked, checkpoint].map(({ nodeId }) => nodeId));
  });

  test('a step reached through a blocked attempt ends the tips above it', () => {
    enforces('view_tip_counts_step_descendants_only');
    const writer = sessionWriter();
    const root = writer.startRun();
    const retried = writer.advance(writer.block(writer.checkpoint(root)));
    expect(tipIds(writer, root)).toEqual([retried.nodeId]);
  });

  test('branches are counted by tips of kind step, and no event holds a branch id', () => {
    enforces('view_branch_is_derived');
    const writer = sessionWriter();
    const root = writer.startRun();
    const counts = [branches(writer, root)];
    const first = writer.advance(root);
    writer.block(first);
    writer.checkpoint(first);
    counts.push(branches(writer, root));
    writer.advance(root);
    writer.advance(writer.block(root));
    counts.push(branches(writer, root));
    expect(counts).toEqual([1, 1, 3]);
    expect(JSON.stringify(writer.events)).not.toMatch(/branch/i);
  });
});

describe('the preferred tip', () => {
  test('the preferred tip is the newest node after an advance', () => {
    const writer = sessionWriter();
    const root = writer.startRun();
    const made = [root];
    const found = [preferred(writer, root)];
    for (const make of [writer.advance, writer.block, writer.checkpoint, writer.advance]) {
      made.push(make(made.at(-1) ?? root));
      found.push(preferred(writer, root));
    }
    expect(found).toEqual(made.map(({ nodeId }) => nodeId));
  });

  test.each(Object.entries(TOUCHES))('the preferred tip goes back to an older branch by %s there', (kind, facts) => {
    enforces('view_preferred_tip');
    const writer = sessionWriter();
    const root = writer.startRun();
    const old = writer.advance(root);
    const young = writer.advance(root);
    expect(preferred(writer, root)).toBe(young.nodeId);
    writer.record(old, facts);
    expect(writer.events.at(-1)?.kind).toBe(kind);
    expect(preferred(writer, root)).toBe(old.nodeId);
  });

  test('the preferred tip goes back to an older branch by a node or an attempt made there', () => {
    enforces('view_preferred_tip');
    for (const make of ['advance', 'block', 'checkpoint'] as const) {
      const writer = sessionWriter();
      const root = writer.startRun();
      const old = writer.advance(root);
      writer.advance(root);
      const made = writer[make](old);
      expect(preferred(writer, root)).toBe(made.nodeId);
      // An attempt is recorded last, on the node it was made at.
      const { touchedIndex } = nodeOf(foldEvents(writer.events).graph, old.nodeId);
      expect(touchedIndex === writer.events.at(-1)?.eventIndex).toBe(make !== 'checkpoint');
    }
  });

  test('the preferred tip is the newest one when the last activity lies above several tips', () => {
    enforces('view_preferred_tip');
    const writer = sessionWriter();
    const root = writer.startRun();
    const fork = writer.advance(root);
    const left = writer.advance(fork);
    const right = writer.advance(fork);
    const aside = writer.advance(root);
    writer.record(left, { mode: 'guided' });
    writer.record(fork, { mode: 'guided' });
    expect(preferred(writer, root)).toBe(right.nodeId);
    writer.record(root, { mode: 'guided' });
    expect(preferred(writer, root)).toBe(aside.nodeId);
  });

  test('the preferred tip is chosen for each run by itself', () => {
    const writer = sessionWriter();
    const first = writer.startRun();
    const step = writer.advance(first);
    const second = writer.startRun();
    expect([first, second].map((root) => preferred(writer, root))).toEqual([step.nodeId, second.nodeId]);
  });

  test('the preferred tip below a node leaves out what happened on other branches', () => {
    const writer = sessionWriter();
    const root = writer.startRun();
    const left = writer.advance(root);
    const low = writer.advance(left);
    const lower = writer.advance(left);
    writer.record(low, { isDivergent: true });
    writer.advance(root);
    const { graph } = foldEvents(writer.events);
    expect(preferredTipBelow(graph, left.nodeId).nodeId).toBe(lower.nodeId);

    writer.record(low, { isDivergent: true });
    expect(preferredTipBelow(foldEvents(writer.events).graph, left.nodeId).nodeId).toBe(low.nodeId);
  });
});

function tipIds(writer: SessionWriter, { runId }: WrittenNode): readonly string[] {
  return tips(foldEvents(writer.events).graph, runId).map(({ nodeId }) => nodeId);
}

function branches(writer: SessionWriter, { runId }: WrittenNode): number {
  return branchCount(foldEvents(writer.events).graph, runId);
}

function preferred(writer: SessionWriter, { runId }: WrittenNode): string | undefined {
  return preferredTip(foldEvents(writer.events).graph, runId)?.nodeId;
}
