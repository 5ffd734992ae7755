import { describe, expect, test } from 'vitest';
import { enforces } from '../../../test/enforces.ts';
import { deepFreeze } from '../../../test/simulation/deep-freeze.ts';
import { gapIdOf } from '../../../test/simulation/node-facts.ts';
import { type SessionWriter, sessionWriter, type WrittenNode } from '../../../test/simulation/session-writer.ts';
import { gapHistory, gapsOfRun, unresolvedGaps } from './gaps.ts';
import { foldEvents } from './session-view.ts';

describe('gaps', () => {
  test('gaps are those of the node’s own line', () => {
    enforces('view_gaps_by_ancestry');
    const writer = sessionWriter();
    const root = writer.startRun({ gaps: [{ name: 'shared' }] });
    const left = writer.advance(root, { gaps: [{ name: 'left' }] });
    const right = writer.advance(root, { gaps: [{ name: 'right' }] });
    expect(openAt(writer, left)).toEqual(['shared', 'left'].map(gapIdOf));
    expect(openAt(writer, right)).toEqual(['shared', 'right'].map(gapIdOf));
    expect(openAt(writer, root)).toEqual([gapIdOf('shared')]);
  });

  test('gaps are resolved by a later record of the same line and by no other', () => {
    enforces('view_gap_resolved_by_later_link');
    const writer = sessionWriter();
    const root = writer.startRun({ gaps: [{ name: 'g' }] });
    const left = writer.advance(root, { gaps: [{ name: 'link', resolves: 'g' }] });
    const below = writer.advance(left);
    const right = writer.advance(root);
    expect([root, left, below, right].map((node) => openAt(writer, node))).toEqual([
      [gapIdOf('g')],
      [],
      [],
      [gapIdOf('g')],
    ]);
  });

  test('gaps of a run are those of all its lines and of no other run', () => {
    const writer = sessionWriter();
    const root = writer.startRun({ gaps: [{ name: 'shared' }] });
    writer.advance(root, { gaps: [{ name: 'left' }] });
    const other = writer.startRun({ gaps: [{ name: 'other' }] });
    writer.advance(root, { gaps: [{ name: 'link', resolves: 'shared' }] });
    const { gaps } = foldEvents(writer.events);
    const idsOf = ({ runId }: WrittenNode) => gapsOfRun(gaps, runId).map(({ data }) => data.gapId);
    expect(idsOf(root)).toEqual(['shared', 'left', 'link'].map(gapIdOf));
    expect(idsOf(other)).toEqual([gapIdOf('other')]);
  });

  test('gaps are never changed: the record stays and the link is a record of its own', () => {
    enforces('gaps_never_mutated');
    const writer = sessionWriter();
    const root = writer.startRun({ gaps: [{ name: 'g' }] });
    const before = structuredClone(writer.events.at(-1));
    writer.record(root, { gaps: [{ name: 'link', resolves: 'g' }] });

    const { gaps } = foldEvents(deepFreeze(writer.events));
    expect(unresolvedGaps(gaps, root.nodeId)).toEqual([]);
    expect(gapHistory(gaps, root.nodeId)).toEqual([before, writer.events.at(-1)]);
  });
});

function openAt(writer: SessionWriter, { nodeId }: WrittenNode): readonly string[] {
  return unresolvedGaps(foldEvents(writer.events).gaps, nodeId).map(({ data }) => data.gapId);
}
