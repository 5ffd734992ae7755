import type { WorkspaceObservation } from '../../core/log/events/observation-recorded.ts';

/** Looks where the work takes place. */
export type WorkspaceObserver = {
  /** What is known of a workspace within a bounded time; what cannot be found out in it is left out. */
  observe(workspace: string | undefined): Promise<readonly WorkspaceObservation[]>;
};
