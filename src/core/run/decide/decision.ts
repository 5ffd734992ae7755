import type { EventDraft } from '../../log/event-draft.ts';
import type { ExecutionSnapshot } from '../../log/execution-snapshot.ts';
import type { NodeId } from '../../log/ids.ts';

/** What an operation adds to the log, and the node that its reply is about. */
export type Decision = {
  readonly drafts: readonly EventDraft[];
  readonly snapshot: ExecutionSnapshot;
  readonly nodeId: NodeId;
};
