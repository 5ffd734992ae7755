import type { EventOf } from '../log/event.ts';
import type { NodeId, RunId } from '../log/ids.ts';
import type { AppliedEvent } from './session-view.ts';

/** A step that a run passed by. */
export type SkippedStep = EventOf<'step_skipped'>['data'];

/**
 * When things happened and what was passed by. No decision reads any of it, so the views do without; people who look
 * back want to know.
 */
export type Chronicle = {
  readonly startedAt: Map<RunId, number>;
  readonly createdAt: Map<NodeId, number>;
  /** The last event of each run that tells its time. */
  readonly activeAt: Map<RunId, number>;
  /** Steps that were passed by on the way to a node. */
  readonly skipped: Map<NodeId, SkippedStep[]>;
};

export function emptyChronicle(): Chronicle {
  return { startedAt: new Map(), createdAt: new Map(), activeAt: new Map(), skipped: new Map() };
}

/** Takes one more event into the chronicle it is given. */
export function chronicleEvent(chronicle: Chronicle, event: AppliedEvent): void {
  const { at } = event;
  if (event.scope !== undefined && at !== undefined) chronicle.activeAt.set(event.scope.runId, at);
  if (event.kind === 'run_started' && at !== undefined) chronicle.startedAt.set(event.scope.runId, at);
  if (event.kind === 'node_created' && at !== undefined) chronicle.createdAt.set(event.scope.nodeId, at);
  if (event.kind !== 'step_skipped') return;
  const ofNode = chronicle.skipped.get(event.scope.nodeId) ?? [];
  chronicle.skipped.set(event.scope.nodeId, ofNode);
  ofNode.push(event.data);
}
