import type { WorkflowHash } from '../../core/log/ids.ts';
import type { WorkflowNames } from '../../core/resume/rank-runs.ts';
import type { SessionSummary } from '../../core/views/session-summary.ts';
import type { ReadServices } from '../services.ts';

type Pinned = ReadServices['pinnedWorkflows'];

/** The name under a hash never changes, and a search asks for the names of all workflows that ever ran. */
const known = new WeakMap<Pinned, Map<WorkflowHash, string>>();

/** What the workflows of these sessions are called; one that cannot be read has no name. */
export async function workflowNames(pinned: Pinned, summaries: Iterable<SessionSummary>): Promise<WorkflowNames> {
  const names = known.get(pinned) ?? new Map<WorkflowHash, string>();
  known.set(pinned, names);
  for (const { runs } of summaries) {
    for (const { workflowHash } of runs) {
      if (names.has(workflowHash)) continue;
      const workflow = await pinned.get(workflowHash);
      if (workflow.isOk()) names.set(workflowHash, workflow.value.name);
    }
  }
  return names;
}
