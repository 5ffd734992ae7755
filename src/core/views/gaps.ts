import type { EventOf } from '../log/event.ts';
import type { GapId, NodeId, RunId } from '../log/ids.ts';
import { addFact, emptyLineage, heldAt, type Lineage, oldestFirst, type SharedList, withNewest } from './lineage.ts';

/** A gap as it was recorded; never changed, only linked to by a later record. */
export type GapRecord = EventOf<'gap_recorded'>;

type GapList = SharedList<GapRecord> | undefined;

export type GapsView = {
  /** In the order in which they were recorded. */
  readonly known: Map<GapId, GapRecord>;
  readonly lines: Lineage<GapList, GapRecord>;
};

export function emptyGaps(): GapsView {
  return { known: new Map(), lines: emptyLineage<GapList, GapRecord>(undefined, withNewest) };
}

export function applyGapRecorded(gaps: GapsView, event: GapRecord): void {
  gaps.known.set(event.data.gapId, event);
  addFact(gaps.lines, event.scope.nodeId, event);
}

/** All gap records of a run on whatever line, resolving ones included, oldest first. */
export function gapsOfRun(gaps: GapsView, runId: RunId): readonly GapRecord[] {
  return [...gaps.known.values()].filter(({ scope }) => scope.runId === runId);
}

/** All gap records that a node sees, resolving ones included, oldest first. */
export function gapHistory(gaps: GapsView, nodeId: NodeId): readonly GapRecord[] {
  return oldestFirst(heldAt(gaps.lines, nodeId));
}

/** Gaps on a node's line that no later record of that same line resolves, oldest first. */
export function unresolvedGaps(gaps: GapsView, nodeId: NodeId): readonly GapRecord[] {
  const resolved = new Set<GapId>();
  const open: GapRecord[] = [];
  for (let at = heldAt(gaps.lines, nodeId); at !== undefined; at = at.older) {
    const { gapId, resolution } = at.newest.data;
    if (resolution.kind === 'resolves') resolved.add(resolution.resolvesGapId);
    else if (!resolved.has(gapId)) open.push(at.newest);
  }
  return open.reverse();
}
