import type { SessionEvent } from '../event.ts';
import type { ArtifactDigest, SnapshotRef, WorkflowHash } from '../ids.ts';
import type { SnapshotPinned } from '../manifest.ts';

/** Content that events refer to and that must exist as long as they do. */
export type ContentRefs = {
  readonly snapshots: Set<SnapshotRef>;
  /** With the length from the event. */
  readonly artifacts: Map<ArtifactDigest, number>;
  readonly workflows: Set<WorkflowHash>;
};

export function noContentRefs(): ContentRefs {
  return { snapshots: new Set(), artifacts: new Map(), workflows: new Set() };
}

/** Adds the content that an event refers to. */
export function addContentRefs(refs: ContentRefs, event: SessionEvent): void {
  switch (event.kind) {
    case 'run_started':
      refs.workflows.add(event.data.workflowHash);
      break;
    case 'node_created':
      refs.workflows.add(event.data.workflowHash);
      refs.snapshots.add(event.data.snapshotRef);
      break;
    case 'node_output_appended':
      if (event.data.outputChannel === 'artifact') {
        refs.artifacts.set(event.data.payload.sha256, event.data.payload.byteLength);
      }
      break;
    default:
  }
}

/** Whether an append has the pins that its events require: one for each node, in order. */
export function hasItsPins(events: readonly SessionEvent[], pins: readonly SnapshotPinned[]): boolean {
  const nodes = events.filter((event) => event.kind === 'node_created');
  return (
    nodes.length === pins.length &&
    nodes.every(({ eventIndex, eventId, data }, i) => {
      const pin = pins[i];
      return pin?.eventIndex === eventIndex && pin.createdByEventId === eventId && pin.snapshotRef === data.snapshotRef;
    })
  );
}
