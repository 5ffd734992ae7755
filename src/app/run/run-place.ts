import { err, ok, type Result } from 'neverthrow';
import { assert } from '../../core/assert.ts';
import { PRESETS, type Preferences } from '../../core/log/autonomy.ts';
import type { ExecutionSnapshot } from '../../core/log/execution-snapshot.ts';
import type { NodeId, WorkflowHash } from '../../core/log/ids.ts';
import type { KnownCapabilities, RunFacts } from '../../core/run/step-place.ts';
import type { TokenRefusal } from '../../core/token/token-refusal.ts';
import { storedWorkflowMismatch, type TokenTarget } from '../../core/token/token-scope.ts';
import { contextAt } from '../../core/views/context.ts';
import { type GapRecord, unresolvedGaps } from '../../core/views/gaps.ts';
import { capabilityAt } from '../../core/views/known-capabilities.ts';
import { preferencesAt } from '../../core/views/preferences-in-force.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { hasSoundPatterns, usesPatterns } from '../../core/workflow/compiled/uses-patterns.ts';
import { indexWorkflow, type WorkflowIndex } from '../../core/workflow/compiled/workflow-index.ts';
import type { CompilePattern } from '../../core/workflow/pattern.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { ReadServices } from '../services.ts';

/** The workflow, state and facts at a node. */
export type RunPlace = {
  readonly index: WorkflowIndex;
  readonly snapshot: ExecutionSnapshot;
  readonly facts: RunFacts;
  readonly openGaps: readonly GapRecord[];
};

export async function runPlace(
  services: ReadServices,
  session: LoadedSession,
  target: TokenTarget,
): Promise<Result<RunPlace, TokenRefusal | StoreFailure>> {
  const read = await readPlace(services, session, target);
  if (read.isErr()) return err(read.error);
  const { workflow, snapshot, preferences } = read.value;
  const compilePattern = await patternsFor(services, workflow);
  if (!hasSoundPatterns(workflow, compilePattern)) return err(brokenWorkflow(snapshot.workflowHash));
  const { view } = session;
  return ok({
    index: indexWorkflow(workflow),
    snapshot,
    facts: {
      context: contextAt(view.context, target.nodeId),
      preferences,
      capabilities: capabilitiesAt(view, target.nodeId),
      compilePattern,
    },
    openGaps: unresolvedGaps(view.gaps, target.nodeId),
  });
}

/** A pinned workflow may come from anywhere. That it matches its hash does not make it valid. */
function brokenWorkflow(hash: WorkflowHash): StoreFailure {
  return { code: 'damaged', damage: { reason: 'content_wrong_shape', place: `workflows/pinned/${hash}`, offset: 0 } };
}

/** The pattern engine for a workflow. It is loaded only if the workflow has patterns. */
export async function patternsFor(
  { patterns }: Pick<ReadServices, 'patterns'>,
  workflow: CompiledWorkflow,
): Promise<CompilePattern> {
  return usesPatterns(workflow) ? patterns.load() : noPatterns;
}

const noPatterns: CompilePattern = (pattern) => {
  assert(false, `a workflow without patterns asks for "${pattern}"`);
};

function capabilitiesAt({ capabilities }: SessionView, nodeId: NodeId): KnownCapabilities {
  const delegation = capabilityAt(capabilities, nodeId, 'delegation');
  const browsing = capabilityAt(capabilities, nodeId, 'web_browsing');
  return {
    ...(delegation === undefined ? {} : { delegation: { status: delegation.status, grade: delegation.grade } }),
    ...(browsing === undefined ? {} : { web_browsing: { status: browsing.status, grade: browsing.grade } }),
  };
}

/** The workflow, state and facts at a node. */
export type PlaceContent = {
  readonly workflow: CompiledWorkflow;
  readonly snapshot: ExecutionSnapshot;
  readonly preferences: Preferences;
};

export async function readPlace(
  services: ReadServices,
  { view }: LoadedSession,
  target: TokenTarget,
): Promise<Result<PlaceContent, TokenRefusal | StoreFailure>> {
  const { nodeId, snapshotRef, workflowHash: pinned } = nodeOf(view.graph, target.nodeId);
  const snapshot = await services.snapshots.get(snapshotRef);
  if (snapshot.isErr()) return err(snapshot.error);
  const workflow = await services.pinnedWorkflows.get(pinned);
  if (workflow.isErr()) {
    const refusal = workflow.error;
    if (refusal.code !== 'other_workflow_stored') return err(refusal);
    return err(storedWorkflowMismatch(target, { pinned, found: refusal.found }));
  }
  const preferences = preferencesAt(view.preferences, nodeId) ?? PRESETS.guided;
  return ok({ workflow: workflow.value, snapshot: snapshot.value, preferences });
}
