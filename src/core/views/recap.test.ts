import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { randomHistory } from '../../../test/simulation/random-history.ts';
import { type SessionWriter, sessionWriter, type WrittenNode } from '../../../test/simulation/session-writer.ts';
import { RECAP_BYTES_MAX, RECAP_ENTRY_BYTES_MAX } from '../log/budgets.ts';
import type { NodeId } from '../log/ids.ts';
import { TRUNCATION_MARKER, utf8Length } from '../text/utf8.ts';
import { heldAt, oldestFirst } from './lineage.ts';
import { recap, recapBelow, recapSources } from './recap.ts';
import { preferredTipBelow } from './run-status.ts';
import { foldEvents } from './session-view.ts';

describe('recap', () => {
  test('a recap has the notes of a line in order, with those of its checkpoints', () => {
    enforces('view_checkpoint_outputs_included');
    const writer = sessionWriter();
    const root = writer.startRun();
    writer.checkpoint(root, note('1 halfway'));
    const first = writer.advance(root, note('2 root done'));
    const checkpoint = writer.checkpoint(first, note('3 thinking'));
    writer.checkpoint(checkpoint, note('4 still thinking'));
    const second = writer.advance(first, note('5 first done'));

    const told = ['1 halfway', '2 root done', '3 thinking', '4 still thinking', '5 first done'];
    expect(notesAt(writer, second)).toEqual(told);
    expect(notesAt(writer, first)).toEqual(told.slice(0, 4));
    expect(notesAt(writer, checkpoint)).toEqual(told.slice(0, 4));
  });

  test('a recap leaves out drafts of blocked attempts, also on the line that continues them', () => {
    enforces('view_blocked_drafts_left_out');
    const writer = sessionWriter();
    const root = writer.startRun(note('accepted'));
    const blocked = writer.block(root, note('rejected'));
    const blockedAgain = writer.block(blocked, note('rejected again'));
    const retried = writer.advance(blockedAgain, note('corrected'));
    expect(notesAt(writer, retried)).toEqual(['accepted', 'corrected']);
    expect(notesAt(writer, blockedAgain)).toEqual(['accepted']);
  });

  test('a recap keeps a checkpoint at a blocked attempt for the line that continues it', () => {
    const writer = sessionWriter();
    const root = writer.startRun();
    const blocked = writer.block(root, note('rejected'));
    writer.checkpoint(blocked, note('meant to be kept'));
    const retried = writer.advance(blocked);
    expect(notesAt(writer, retried)).toEqual(['meant to be kept']);
    expect(notesAt(writer, root)).toEqual([]);
  });

  test('a recap of a step leaves out notes that its parent got later', () => {
    const writer = sessionWriter();
    const root = writer.startRun(note('first try'));
    const step = writer.advance(root);
    writer.checkpoint(root, note('back here again'));
    expect(notesAt(writer, step)).toEqual(['first try']);
    expect(notesAt(writer, root)).toEqual(['first try', 'back here again']);
  });

  test('a recap shows a corrected note once, in its corrected form', () => {
    const writer = sessionWriter();
    const root = writer.startRun(note('wrong'));
    writer.record(root, { note: { name: 'right', text: 'right', supersedes: 'wrong' } });
    writer.record(root, { note: { name: 'better', text: 'better', supersedes: 'wrong' } });
    const { notes } = foldEvents(writer.events);
    expect(notesAt(writer, root)).toEqual(['right', 'better']);
    expect(recap(notes, root.nodeId, RECAP_BYTES_MAX).olderLeftOut).toBe(0);
  });

  test('a recap keeps the newest notes that fit and counts the older ones', () => {
    enforces('views_are_bounded');
    const writer = sessionWriter();
    const root = writer.startRun(note('a'.repeat(2_000)));
    const first = writer.advance(root, note('b'.repeat(1_500)));
    const second = writer.advance(first, note('c'.repeat(10_000)));

    const { notes } = foldEvents(writer.events);
    const { entries, olderLeftOut } = recap(notes, second.nodeId, RECAP_BYTES_MAX);
    expect(entries.map(({ nodeId, isCut }) => [nodeId, isCut])).toEqual([
      [first.nodeId, false],
      [second.nodeId, true],
    ]);
    expect(olderLeftOut).toBe(1);
    expect(utf8Length(entries[1]?.text ?? '')).toBe(RECAP_ENTRY_BYTES_MAX);
    expect(entries[1]?.text.endsWith(TRUNCATION_MARKER)).toBe(true);
  });

  test('a recap with a small budget cuts a long note before a short one, and keeps both', () => {
    const writer = sessionWriter();
    const last = writer.advance(writer.startRun(note('a'.repeat(5_000))), note('Saved.'));
    const { entries, olderLeftOut } = recap(foldEvents(writer.events).notes, last.nodeId, 1_024);
    expect([entries.map(({ isCut }) => isCut), olderLeftOut]).toEqual([[true, false], 0]);
  });

  test('a recap without room for a cut note shows none, and counts what it left out', () => {
    enforces('views_are_bounded');
    const writer = sessionWriter();
    const root = writer.startRun(note('a longer note'));
    const { notes } = foldEvents(writer.events);
    for (const bytesMax of [0, 1, TRUNCATION_MARKER.length - 1]) {
      expect(recap(notes, root.nodeId, bytesMax)).toEqual({ entries: [], olderLeftOut: 1 });
    }
    expect(recap(notes, root.nodeId, TRUNCATION_MARKER.length).entries).toHaveLength(1);
  });

  test('a recap never exceeds its budget and never miscounts', () => {
    enforces('views_are_bounded');
    const lengths = fc.array(fc.integer({ min: 1, max: 6_000 }), { maxLength: 8 });
    const budgets = fc.integer({ min: TRUNCATION_MARKER.length, max: RECAP_BYTES_MAX });
    fc.assert(
      fc.property(lengths, budgets, (textLengths, bytesMax) => {
        const writer = sessionWriter();
        const root = writer.startRun();
        const tip = textLengths.reduce((at, n, i) => writer.advance(at, note('é'.repeat(n), `n${i}`)), root);
        const { notes } = foldEvents(writer.events);
        const { entries, olderLeftOut } = recap(notes, tip.nodeId, bytesMax);
        const bytes = entries.reduce((sum, { text }) => sum + utf8Length(text), 0);
        expect(bytes).toBeLessThanOrEqual(bytesMax);
        expect(entries.every(({ text }) => utf8Length(text) <= RECAP_ENTRY_BYTES_MAX)).toBe(true);
        expect(entries.length + olderLeftOut).toBe(recapSources(notes, tip.nodeId).length);
        expect(entries.length > 0).toBe(textLengths.length > 0);
      }),
      { numRuns: 200 },
    );
  });
});

describe('a recap below a node', () => {
  test('a recap below a node has what was noted since, and not what the node already saw', () => {
    const writer = sessionWriter();
    const root = writer.startRun(note('before'));
    const first = writer.advance(root, note('the first of them'));
    const second = writer.advance(first, note('second'));
    writer.checkpoint(root, note('came back'));
    const { notes } = foldEvents(writer.events);
    const below = (nodeId: NodeId, bytesMax = RECAP_BYTES_MAX) => {
      const { entries, olderLeftOut } = recapBelow(notes, { nodeId, tip: second.nodeId, bytesMax });
      return [entries.map(({ text }) => text), olderLeftOut];
    };
    expect(below(root.nodeId)).toEqual([['the first of them', 'second'], 0]);
    expect(below(first.nodeId)).toEqual([['second'], 0]);
    expect(below(second.nodeId)).toEqual([[], 0]);
    expect(below(root.nodeId, 20)).toEqual([['second'], 1]);
    expect(below(root.nodeId, 0)).toEqual([[], 2]);
  });

  test('a recap below a node is exactly what the tip sees and the node does not, in any history', () => {
    let compared = 0;
    for (const seed of [1, 2, 3]) {
      const { graph, notes } = foldEvents(randomHistory({ seed, eventsMin: 600 }).events);
      for (const { nodeId } of graph.nodes.values()) {
        const tip = preferredTipBelow(graph, nodeId).nodeId;
        const seen = new Set(oldestFirst(heldAt(notes, nodeId).list).map(({ eventIndex }) => eventIndex));
        const expected = recapSources(notes, tip).filter(({ eventIndex }) => !seen.has(eventIndex));
        const { entries, olderLeftOut } = recapBelow(notes, { nodeId, tip, bytesMax: 1_000_000 });
        expect(olderLeftOut).toBe(0);
        expect(entries.map(({ eventIndex }) => eventIndex)).toEqual(expected.map(({ eventIndex }) => eventIndex));
        compared += expected.length;
      }
    }
    expect(compared).toBeGreaterThan(100);
  });
});

function note(text: string, name = text) {
  return { note: { name, text } };
}

function notesAt(writer: SessionWriter, { nodeId }: WrittenNode): readonly string[] {
  return recapSources(foldEvents(writer.events).notes, nodeId).map(({ data }) => data.payload.notesMarkdown);
}
