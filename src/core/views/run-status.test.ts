import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { OTHER_RUN, RUN } from '../../../test/examples/ids.ts';
import { ONE_FACT } from '../../../test/simulation/node-facts.ts';
import { type SessionWriter, sessionWriter, type WrittenNode } from '../../../test/simulation/session-writer.ts';
import { type Autonomy, PRESETS } from '../log/autonomy.ts';
import type { ExecutionSnapshot } from '../log/execution-snapshot.ts';
import { nodeOf } from './run-graph.ts';
import { branchCount, isClosed, preferredTip, preferredTipBelow, RUN_STATUSES, runStatus, tips } from './run-status.ts';
import { foldEvents } from './session-view.ts';

describe('run status', () => {
  test('the status of a run is one of four words, judged at the preferred tip', () => {
    enforces('view_run_status_closed');
    const writer = sessionWriter();
    const root = writer.startRun();
    const seen = [statusOf(writer, root)];
    const blocked = writer.block(root);
    seen.push(statusOf(writer, root));
    writer.advance(blocked, {}, 'complete');
    seen.push(statusOf(writer, root));
    writer.advance(blocked, { gaps: [{ name: 'g' }] }, 'complete');
    seen.push(statusOf(writer, root));
    expect(seen).toEqual(['in_progress', 'blocked', 'complete', 'complete_with_gaps']);
    expect(RUN_STATUSES).toEqual(seen);
  });

  test('the status of a run is judged where work last continued, not where another branch ended', () => {
    enforces('view_run_status_closed');
    const writer = sessionWriter();
    const root = writer.startRun();
    writer.advance(root, {}, 'complete');
    expect(statusOf(writer, root)).toBe('complete');
    writer.advance(root);
    expect(statusOf(writer, root)).toBe('in_progress');
  });

  test('a run in never-stop mode is not blocked', () => {
    enforces('view_run_status_rule', 'view_run_status_closed');
    const writer = sessionWriter();
    const root = writer.startRun({ mode: 'full_auto_never_stop' });
    writer.block(root);
    expect(statusOf(writer, root)).toBe('in_progress');
    writer.record(root, { mode: 'full_auto_stop_on_user_deps' });
    expect(statusOf(writer, root)).toBe('blocked');
  });

  test('the status of a run uses the defaults only where its line has no preferences', () => {
    enforces('view_preferences_by_ancestry');
    const writer = sessionWriter();
    const root = writer.startRun();
    writer.block(root);
    expect(statusOf(writer, root, 'full_auto_never_stop')).toBe('in_progress');
    writer.record(root, { mode: 'guided' });
    expect(statusOf(writer, root, 'full_auto_never_stop')).toBe('blocked');
  });

  test('a checkpoint on a blocked attempt leaves the run blocked', () => {
    enforces('view_run_status_rule');
    const writer = sessionWriter();
    const root = writer.startRun();
    const blocked = writer.block(root);
    writer.checkpoint(writer.checkpoint(blocked));
    expect(statusOf(writer, root)).toBe('blocked');
    writer.advance(blocked);
    expect(statusOf(writer, root)).toBe('in_progress');
  });

  test('a critical gap blocks at its own node, unless it only reports something unexpected', () => {
    enforces('view_run_status_rule');
    const cases = [
      [{ name: 'g' }, 'blocked'],
      [{ name: 'g', severity: 'warning' }, 'in_progress'],
      [{ name: 'g', reason: { category: 'unexpected', detail: 'invariant_violation' } }, 'in_progress'],
      [{ name: 'g', reason: { category: 'user_only_dependency', detail: 'needs_user_choice' } }, 'blocked'],
      [{ name: 'g', reason: { category: 'capability_missing', detail: 'required_capability_unknown' } }, 'blocked'],
    ] as const;
    for (const [gap, expected] of cases) {
      const writer = sessionWriter();
      const root = writer.startRun();
      const step = writer.advance(root, { gaps: [gap] });
      expect(statusOf(writer, root)).toBe(expected);
      writer.advance(step);
      expect(statusOf(writer, root)).toBe('in_progress');
    }
  });

  test('a finished run is complete with gaps only if a critical one is open on its own line', () => {
    enforces('view_run_status_rule', 'view_gaps_by_ancestry');
    const writer = sessionWriter();
    const root = writer.startRun();
    const gappy = writer.advance(root, { gaps: [{ name: 'g' }] });
    writer.advance(gappy, {}, 'complete');
    expect(statusOf(writer, root)).toBe('complete_with_gaps');
    writer.advance(root, { gaps: [{ name: 'minor', severity: 'warning' }] }, 'complete');
    expect(statusOf(writer, root)).toBe('complete');
    writer.advance(gappy, { gaps: [{ name: 'r', resolves: 'g' }] }, 'complete');
    expect(statusOf(writer, root)).toBe('complete');
  });
});

function statusOf(writer: SessionWriter, { runId }: WrittenNode, defaults: Autonomy = 'guided'): string {
  return runStatus(foldEvents(writer.events), runId, {
    snapshotOf: (ref) => writer.snapshots.get(ref) as ExecutionSnapshot,
    defaults: PRESETS[defaults],
  });
}

test('a closed run stays closed until it is continued', () => {
  const closed = new Map([[RUN, 7]]);
  const at = (lastActivityIndex: number) => isClosed(closed, { runId: RUN, lastActivityIndex });
  expect([at(0), at(7), at(8)]).toEqual([true, true, false]);
  expect(isClosed(closed, { runId: OTHER_RUN, lastActivityIndex: 0 })).toBe(false);
});

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

  const touching = Object.entries(ONE_FACT).filter(([kind]) => kind !== 'attestation_recorded');

  test('an answer of a person does not move the preferred tip', () => {
    const writer = sessionWriter();
    const root = writer.startRun();
    const first = writer.advance(root);
    const second = writer.advance(root);
    writer.record(first, ONE_FACT.attestation_recorded);
    expect(preferred(writer, root)).toBe(second.nodeId);
  });

  test.each(touching)('the preferred tip goes back to an older branch by %s there', (kind, facts) => {
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
    writer.record(low, { others: ['divergence_recorded'] });
    writer.advance(root);
    const { graph } = foldEvents(writer.events);
    expect(preferredTipBelow(graph, left.nodeId).nodeId).toBe(lower.nodeId);

    writer.record(low, { others: ['divergence_recorded'] });
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
