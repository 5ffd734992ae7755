import { expect, test } from 'vitest';
import { digest, sha256 } from '../../../test/examples/sha256.ts';
import { countOperations } from '../../../test/simulation/count-operations.ts';
import { randomHistory } from '../../../test/simulation/random-history.ts';
import { type SessionWriter, sessionWriter } from '../../../test/simulation/session-writer.ts';
import { PRESETS } from '../log/autonomy.ts';
import type { ExecutionSnapshot } from '../log/execution-snapshot.ts';
import { derivedBits, SessionId } from '../log/ids.ts';
import { hasWordCode, wordCode, wordCodes } from '../text/search-words.ts';
import { preferredTip } from '../views/run-status.ts';
import { foldEvents } from '../views/session-view.ts';
import { summarise, tipSnapshots } from './session-summary.ts';

const sessionId = SessionId.of(derivedBits(['session'], sha256));

function summaryOf({ events, snapshots }: Pick<SessionWriter, 'events' | 'snapshots'>) {
  const snapshotOf = (ref: string) => snapshots.get(ref as never) as ExecutionSnapshot;
  return summarise(sessionId, foldEvents(events), {
    snapshotOf,
    workflowOf: () => undefined,
    defaults: PRESETS.guided,
  });
}

/** Which of these words the summary of the first run has. */
function found(writer: SessionWriter, words: readonly string[]): readonly string[] {
  const codes = summaryOf(writer).runs[0]?.wordCodes ?? '';
  return words.filter((word) => hasWordCode(codes, wordCode(word)));
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
        startedAt: 1_000,
        tip: last.nodeId,
        place: { kind: 'complete' },
        lastActivityIndex: writer.events.length - 1,
        branchCount: 3,
        checkpoints: 0,
        attempts: 0,
        waitsForPerson: false,
        openGaps: 0,
        note: 'Done: done.',
        wordCodes: wordCodes(['done', 'fix', 'login', 'the']),
      },
      {
        runId: other.runId,
        workflowId: 'wr.small',
        workflowHash: digest('bundled'),
        status: 'in_progress',
        startedAt: expect.any(Number),
        tip: other.nodeId,
        place: { kind: 'step', stepId: 'step', title: 'step' },
        lastActivityIndex: createdIndex(writer, other.nodeId),
        branchCount: 1,
        checkpoints: 0,
        attempts: 0,
        waitsForPerson: false,
        openGaps: 0,
        wordCodes: '',
      },
    ],
  });
});

test('a summary is found by the note of the step it stands at, not by those before', () => {
  const writer = sessionWriter();
  const first = writer.advance(writer.startRun(), { note: { name: 'one', text: 'parser' } });
  const second = writer.advance(first, { note: { name: 'two', text: 'lexer wrong' } });
  writer.record(second, { note: { name: 'three', text: 'lexer right', supersedes: 'two' } });
  expect(found(writer, ['lexer', 'right', 'wrong', 'parser'])).toEqual(['lexer', 'right']);
  expect(summaryOf(writer).runs[0]?.note).toBe('lexer right');
});

test('checkpoints on the way are found too, drafts of blocked attempts are not', () => {
  const writer = sessionWriter();
  const root = writer.startRun();
  writer.checkpoint(root, { note: { name: 'saved', text: 'measured' } });
  const step = writer.advance(root, { note: { name: 'note', text: 'built' } });
  writer.block(step, { note: { name: 'draft', text: 'rejected' } });
  expect(found(writer, ['built', 'measured', 'rejected'])).toEqual(['built', 'measured']);
  expect(summaryOf(writer).runs[0]).toMatchObject({ checkpoints: 1, attempts: 1, note: 'built' });
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
    expect(summary.runs.map(({ tip }) => tip)).toEqual(
      [...view.graph.runs.keys()].map((runId) => preferredTip(view.graph, runId)?.nodeId),
    );
    expect(tipSnapshots(view).every((ref) => snapshots.has(ref))).toBe(true);
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
      workflowOf: () => undefined,
      defaults: PRESETS.guided,
    };
    return countOperations(() => summarise(sessionId, view, sources));
  });
  expect(work[1]).toBe(work[0]);
});

function createdIndex({ events }: SessionWriter, nodeId: string): number | undefined {
  return events.find((event) => event.kind === 'node_created' && event.scope.nodeId === nodeId)?.eventIndex;
}
