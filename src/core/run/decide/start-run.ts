import type { Sha256 } from '../../json/canonical-json.ts';
import type { EventOf } from '../../log/event.ts';
import { type ObservationData, observationSchema } from '../../log/events/run-events.ts';
import { executionSnapshot } from '../../log/execution-snapshot.ts';
import type { RunId } from '../../log/ids.ts';
import { observationDrafts } from '../../log/operation/changed-observations.ts';
import { rootNodeId } from '../../log/operation/operation-drafts.ts';
import type { GapRecord } from '../../views/node-facts.ts';
import type { WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { troubleUnmet } from '../requirements/loop-trouble.ts';
import type { Unmet } from '../requirements/requirement.ts';
import type { RunFacts } from '../step-place.ts';
import { nextStep } from '../walk/next-step.ts';
import type { UnsetSkip, Walk } from '../walk/walk.ts';
import {
  contextDrafts,
  type Decision,
  type DecisionNode,
  nodeDraft,
  type PreferenceChange,
  type PreferenceWarning,
  preferenceDrafts,
  preferenceWarnings,
  walkDrafts,
} from './drafts.ts';
import { gapChanges, gapDrafts } from './gap-drafts.ts';
import { attemptedStep } from './judge-attempt.ts';

export type RunStart = {
  readonly runId: RunId;
  /** Whether this is the first run of the session. */
  readonly isFirstRun: boolean;
  readonly index: WorkflowIndex;
  readonly pin: EventOf<'run_started'>['data'];
  readonly facts: RunFacts;
  /** Who chose the preferences, and how. */
  readonly chosenBy: Pick<PreferenceChange, 'source' | 'by'>;
  /** What is new about the workspace. */
  readonly observations: readonly ObservationData[];
  /** Where the run was started, where that is not the workspace of the session. */
  readonly folder?: string | undefined;
};

/** What came of a start: everything that its reply needs. */
export type StartOutcome = DecisionNode & {
  readonly gaps: readonly GapRecord['data'][];
  /** What keeps a run from starting its first step; until then it stays in its initial state. */
  readonly unmet: readonly Unmet[];
  readonly warnings: readonly PreferenceWarning[];
  /** Steps that were skipped because context does not have what their conditions ask for. */
  readonly unset: readonly UnsetSkip[];
  /** All steps that were skipped on the way to the first one. */
  readonly skipped: Walk['skipped'];
};

/** An observation, so that a passport without the workspace does not show it either. */
function folderOfRun({ runId, folder }: RunStart): readonly ObservationData[] {
  if (folder === undefined) return [];
  const seen = { key: 'repo_root', value: { type: 'path', value: folder }, confidence: 'high', ofRun: runId } as const;
  return observationSchema.safeParse(seen).success ? [seen] : [];
}

/** Starts a run at its first step. All of it is one append, so there is never half a run. */
export function startRun(start: RunStart, sha256: Sha256): Decision<StartOutcome> {
  const { runId, index, pin, facts } = start;
  const nodeId = rootNodeId(runId, sha256);
  const node = { runId, nodeId };
  const isNeverStop = facts.preferences.autonomy === 'full_auto_never_stop';
  const walk = nextStep({
    index,
    state: { kind: 'init' },
    facts,
    loopDecision: undefined,
    onTrouble: isNeverStop ? 'go_on' : 'halt',
  });
  const at = executionSnapshot(pin.workflowHash, { kind: 'init' });
  // A workflow without steps has no loops, and so no trouble.
  const troubles = walk.troubles.map((trouble) =>
    troubleUnmet(trouble, { index, step: attemptedStep({ index, at }), openLoops: [] }),
  );
  const snapshot = executionSnapshot(pin.workflowHash, walk.state);
  const hasContext = Object.keys(facts.context).length > 0;
  const unmet = isNeverStop ? troubles : [];
  const gaps = gapChanges({ nodeId, step: undefined, unmet, met: [], open: [], facts, room: 0 }, sha256);
  const warnings = preferenceWarnings(index.workflow, facts.preferences);
  const baseline = { before: undefined, effective: facts.preferences, ...start.chosenBy };
  return {
    outcome: {
      nodeId,
      snapshot,
      gaps: gaps.opened,
      unmet: walk.isHalted ? troubles : [],
      warnings,
      unset: walk.unset ?? [],
      skipped: walk.skipped,
    },
    drafts: [
      ...(start.isFirstRun ? [{ kind: 'session_created' as const, data: {} }] : []),
      { kind: 'run_started', scope: { runId }, data: pin },
      nodeDraft(node, { nodeKind: 'step', parentNodeId: null, snapshot }, sha256),
      // The preferences are recorded, so that a later change of defaults does not affect this run.
      ...preferenceDrafts(baseline, { ...node, warnings }, sha256),
      ...observationDrafts([...start.observations, ...folderOfRun(start)], nodeId, sha256),
      ...contextDrafts(node, hasContext ? facts.context : undefined, { source: 'initial', sha256 }),
      ...gapDrafts(gaps, node),
      ...walkDrafts(node, walk, sha256),
    ],
  };
}
