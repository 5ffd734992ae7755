import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { OTHER_RUN, RUN } from '../../../test/examples/ids.ts';
import { type SessionWriter, sessionWriter, type WrittenNode } from '../../../test/simulation/session-writer.ts';
import { type Autonomy, PRESETS } from '../log/autonomy.ts';
import type { ExecutionSnapshot } from '../log/execution-snapshot.ts';
import { isClosed, RUN_STATUSES, runStatus } from './run-status.ts';
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
