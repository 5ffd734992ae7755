import { assert } from '../assert.ts';
import { GOAL_SUMMARY_BYTES_MAX, SEARCHED_CHECKPOINTS_BYTES_MAX } from '../log/budgets.ts';
import { OBSERVATION_KEYS, type ObservationKey } from '../log/events/run-events.ts';
import type { NodeId, RunId, SessionId, SnapshotRef, WorkflowHash, WorkflowId } from '../log/ids.ts';
import { textTokens } from '../text/search-words.ts';
import { truncate, utf8Length } from '../text/utf8.ts';
import { contextValueAt } from './lineage.ts';
import { currentObservation, currentOutput } from './node-facts.ts';
import { checkpointNotes, type Note } from './recap.ts';
import { nodeOf, type Run, type RunGraph, type RunNode } from './run-graph.ts';
import { branchCount, preferredTip, type RunStatus, runStatus, type StatusSources } from './run-status.ts';
import type { SessionView } from './session-view.ts';

/** What a session is about, small enough to keep one for every session there is. */
export type SessionSummary = {
  readonly sessionId: SessionId;
  readonly lastEventIndex: number;
  /** When it was last written to, if its events have times. */
  readonly lastAt?: number;
  /** What was last seen of the workspace. */
  readonly observed: { readonly [key in ObservationKey]?: string };
  /** In the order in which they were started. */
  readonly runs: readonly RunSummary[];
};

export type RunSummary = {
  readonly runId: RunId;
  readonly workflowId: WorkflowId;
  /** Used to look up the name of the workflow. */
  readonly workflowHash: WorkflowHash;
  readonly status: RunStatus;
  readonly goal?: string;
  readonly tip: { readonly nodeId: NodeId; readonly createdIndex: number };
  /** The last event on the line of the preferred tip. */
  readonly lastActivityIndex: number;
  readonly branchCount: number;
  /** The words of the notes that search looks at, each once, sorted. */
  readonly recapTokens: readonly string[];
};

/** Summarises a session that has events, without reading its history again. */
export function summarise(sessionId: SessionId, view: SessionView, sources: StatusSources): SessionSummary {
  assert(view.nextEventIndex > 0, `${sessionId} has no events`);
  return {
    sessionId,
    lastEventIndex: view.nextEventIndex - 1,
    ...(view.lastAt === undefined ? {} : { lastAt: view.lastAt }),
    observed: observedOf(view),
    runs: runsWithTip(view.graph).map(({ run, tip }) => summariseRun(view, { run, tip }, sources)),
  };
}

/** The snapshots that a summary needs: those of the preferred tips. */
export function tipSnapshots(view: SessionView): readonly SnapshotRef[] {
  return runsWithTip(view.graph).map(({ tip }) => tip.snapshotRef);
}

type RunAtTip = { readonly run: Run; readonly tip: RunNode };

function runsWithTip(graph: RunGraph): readonly RunAtTip[] {
  return [...graph.runs.values()].flatMap((run) => {
    const tip = preferredTip(graph, run.runId);
    return tip === undefined ? [] : [{ run, tip }];
  });
}

function observedOf({ observations }: SessionView): SessionSummary['observed'] {
  return Object.fromEntries(
    OBSERVATION_KEYS.flatMap((key) => {
      const current = currentObservation(observations, key);
      return current === undefined ? [] : [[key, current.data.value.value]];
    }),
  );
}

function summariseRun(view: SessionView, { run, tip }: RunAtTip, sources: StatusSources): RunSummary {
  const goal = run.rootNodeId === undefined ? undefined : contextValueAt(view.context, run.rootNodeId, 'goal');
  return {
    runId: run.runId,
    workflowId: run.pinned.workflowId,
    workflowHash: run.pinned.workflowHash,
    status: runStatus(view, run.runId, sources),
    ...(typeof goal === 'string' ? { goal: truncate(goal, GOAL_SUMMARY_BYTES_MAX) } : {}),
    tip: { nodeId: tip.nodeId, createdIndex: tip.createdIndex },
    lastActivityIndex: lastActivityIndex(view.graph, run),
    branchCount: branchCount(view.graph, run.runId),
    recapTokens: textTokens(searchedText(view, tip)),
  };
}

/** The preferred tip is at or below the node with the latest activity, so that activity is the last on its line. */
export function lastActivityIndex(graph: RunGraph, { lastTouchedNodeId, startedIndex }: Run): number {
  return lastTouchedNodeId === undefined ? startedIndex : nodeOf(graph, lastTouchedNodeId).touchedIndex;
}

/** The current note of the tip's step, then the newest notes of checkpoints on its line. */
export function searchedText(view: SessionView, tip: RunNode): string {
  const ofStep = currentOutput(view.outputs, stepOf(view.graph, tip).nodeId, 'recap');
  const texts = ofStep?.data.outputChannel === 'recap' ? [ofStep.data.payload.notesMarkdown] : [];
  let bytesLeft = SEARCHED_CHECKPOINTS_BYTES_MAX;
  const ofCheckpoints = checkpointNotes(view.notes, tip.nodeId, (note) => {
    bytesLeft -= utf8Length(textOf(note));
    return bytesLeft >= 0;
  });
  return [...texts, ...ofCheckpoints.map(textOf)].join('\n');
}

function textOf({ data }: Note): string {
  return data.payload.notesMarkdown;
}

/** A blocked attempt holds only a draft and a checkpoint only extra notes, so the step above counts. */
function stepOf(graph: RunGraph, tip: RunNode): RunNode {
  let at = tip;
  while (at.kind !== 'step' && at.parentNodeId !== null) at = nodeOf(graph, at.parentNodeId);
  return at;
}
