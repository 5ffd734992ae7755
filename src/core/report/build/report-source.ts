import type { JsonValue } from '../../json/json-value.ts';
import type { SessionEvent } from '../../log/event.ts';
import type { ExecutionSnapshot } from '../../log/execution-snapshot.ts';
import type { Salvage } from '../../log/health.ts';
import type { ArtifactDigest, SessionId, SnapshotRef, WorkflowHash } from '../../log/ids.ts';
import type { ClosedRuns } from '../../run/closed-runs.ts';
import type { SessionView } from '../../views/session-view.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';

/** A session as it was read, up to where it can be trusted, with all that its events name. */
export type ReportSource = {
  readonly sessionId: SessionId;
  readonly salvage: Salvage | undefined;
  /** What people said beside the log. */
  readonly closed: ClosedRuns;
  readonly events: readonly SessionEvent[];
  readonly view: SessionView;
  readonly snapshots: ReadonlyMap<SnapshotRef, ExecutionSnapshot>;
  readonly workflows: ReadonlyMap<WorkflowHash, CompiledWorkflow>;
  /** What artifacts hold, where that is JSON. */
  readonly artifacts: ReadonlyMap<ArtifactDigest, JsonValue>;
};
