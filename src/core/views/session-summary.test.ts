import { expect, test } from 'vitest';
import { digest, sha256 } from '../../../test/examples/sha256.ts';
import { countOperations } from '../../../test/simulation/count-operations.ts';
import { randomHistory } from '../../../test/simulation/random-history.ts';
import { type SessionWriter, sessionWriter } from '../../../test/simulation/session-writer.ts';
import { PRESETS } from '../log/autonomy.ts';
import type { ExecutionSnapshot } from '../log/execution-snapshot.ts';
import { derivedBits, SessionId } from '../log/ids.ts';
import { preferredTip } from './run-status.ts';
import { type RunSummary, summarise, tipSnapshots } from './session-summary.ts';
import { foldEvents } from './session-view.ts';

const sessionId = SessionId.of(derivedBits(['session'], sha256));

function summaryOf({ events, snapshots }: Pick<SessionWriter, 'events' | 'snapshots'>) {
  const snapshotOf = (ref: string) => snapshots.get(ref as never) as ExecutionSnapshot;
  return summarise(sessionId, foldEvents(events), { snapshotOf, defaults: PRESETS.guided });
}

function tokensOf(writer: SessionWriter): RunSummary['recapTokens'] | undefined {
  return summaryOf(writer).runs[0]?.recapTokens;
}

test('a summary says what a session is about, where it took place and the status of each run', () => {
  let at = 1_000;
  const writer = sessionWriter({ at: () => at++ });
  const root = writer.startRun({
    context: { goal: 'Fix the login' },
    observed: { git_branch: 'main', repo_root: '/work' },
  });
  const step = writer.advance(root, {
    note: { name: 'note', text: 'Found the bug.' },
    observed: { git_branch: 'fix' },
  });
  const other = writer.startRun();
  writer.advance(root);
  const last = writer.advance(root, { note: { name: 'fork', text: 'Done: done.' } }, 'complete');

  expect(step.runId).toBe(root.runId);
  expect(summaryOf(writer)).toEqual({
    sessionId,
    lastEventIndex: writer.events.length - 1,
    lastAt: at - 1,
    observed: { git_branch: 'fix', repo_root: '/work' },
    runs: [
      {
        runId: root.runId,
        workflowId: 'wr.small',
        workflowHash: digest('bundled'),
        status: 'complete',
        goal: 'Fix the login',
        tip: { nodeId: last.nodeId, createdIndex: createdIndex(writer, last.nodeId) },
        lastActivityIndex: writer.events.length - 1,
        branchCount: 3,
        recapTokens: ['done'],
      },
      {
        runId: other.runId,
        workflowId: 'wr.small',
        workflowHash: digest('bundled'),
        status: 'in_progress',
        tip: { nodeId: other.nodeId, createdIndex: createdIndex(writer, other.nodeId) },
        lastActivityIndex: createdIndex(writer, other.nodeId),
        branchCount: 1,
        recapTokens: [],
      },
    ],
  });
});

test('a summary is found by the note of the step it stands at, not by those before', () => {
  const writer = sessionWriter();
  const first = writer.advance(writer.startRun(), { note: { name: 'one', text: 'parser' } });
  const second = writer.advance(first, { note: { name: 'two', text: 'lexer wrong' } });
  writer.record(second, { note: { name: 'three', text: 'lexer right', supersedes: 'two' } });
  expect(tokensOf(writer)).toEqual(['lexer', 'right']);
});

test('checkpoints on the way are found too, drafts of blocked attempts are not', () => {
  const writer = sessionWriter();
  const root = writer.startRun();
  writer.checkpoint(root, { note: { name: 'saved', text: 'measured' } });
  const step = writer.advance(root, { note: { name: 'note', text: 'built' } });
  writer.block(step, { note: { name: 'draft', text: 'rejected' } });
  expect(tokensOf(writer)).toEqual(['built', 'measured']);
});

test('a goal is cut to what is needed to recognise it', () => {
  const writer = sessionWriter();
  writer.startRun({ context: { goal: 'long '.repeat(200) } });
  writer.startRun({ context: { goal: 42 } });
  const [first, second] = summaryOf(writer).runs;
  expect(Buffer.byteLength(first?.goal ?? '')).toBe(256);
  expect(first?.goal?.endsWith('[TRUNCATED]')).toBe(true);
  expect(second).not.toHaveProperty('goal');
});

test('a summary names the preferred tip of every run, whatever happened', () => {
  for (const seed of [1, 2, 3, 4, 5]) {
    const { events, snapshots } = randomHistory({ seed, eventsMin: 150 });
    const view = foldEvents(events);
    const summary = summaryOf({ events, snapshots });
    expect(summary.runs.map(({ tip }) => tip.nodeId)).toEqual(
      [...view.graph.runs.keys()].map((runId) => preferredTip(view.graph, runId)?.nodeId),
    );
    expect(tipSnapshots(view).every((ref) => snapshots.has(ref))).toBe(true);
    for (const { recapTokens } of summary.runs) expect(recapTokens).toEqual([...new Set(recapTokens)].sort());
  }
});

test('summing up a long line of steps takes no more work than summing up a short one', () => {
  const work = [10, 1_000].map((steps) => {
    const writer = sessionWriter();
    let node = writer.startRun({ context: { goal: 'go' } });
    for (let i = 0; i < steps; i++) node = writer.advance(node, { note: { name: `note ${i}`, text: 'same words' } });
    const view = foldEvents(writer.events);
    const sources = {
      snapshotOf: (ref: string) => writer.snapshots.get(ref as never) as ExecutionSnapshot,
      defaults: PRESETS.guided,
    };
    return countOperations(() => summarise(sessionId, view, sources));
  });
  expect(work[1]).toBe(work[0]);
});

function createdIndex({ events }: SessionWriter, nodeId: string): number | undefined {
  return events.find((event) => event.kind === 'node_created' && event.scope.nodeId === nodeId)?.eventIndex;
}
