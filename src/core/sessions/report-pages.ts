import type { JsonObject } from '../json/json-value.ts';
import type { NodeId, RunId } from '../log/ids.ts';
import type { ReportSource } from '../report/build/report-source.ts';
import { historyOf } from '../views/history.ts';
import { contextAt } from '../views/lineage.ts';
import { nodeOf, type RunNode } from '../views/run-graph.ts';
import type { LineNotesData, RunPageData, StepPageData } from '../wire/run-shapes.ts';
import { duePlace } from './due-step.ts';
import type { Picture } from './run-lines.ts';
import { hungOn, lineNotes, runPage } from './run-page.ts';
import { stepPage } from './step-page.ts';

/** What the page of a session asks for, answered from a session that is read as a whole. */
export type ReportPages = {
  readonly run: (runId: RunId) => RunPageData | undefined;
  readonly notes: (runId: RunId, window: Parameters<typeof lineNotes>[2]) => LineNotesData | undefined;
  readonly step: (nodeId: NodeId, asked: StepAsked) => StepPageData | undefined;
  readonly raw: (
    nodeId: NodeId,
    asked: Pick<StepAsked, 'by'>,
  ) => { readonly events: readonly JsonObject[] } | undefined;
};

type StepAsked = { readonly by?: NodeId | undefined; readonly line: string };

export function reportPages(source: ReportSource): ReportPages {
  const { view, snapshots, workflows } = source;
  const { graph } = view;
  const history = historyOf(source.events);
  const placeOf: Picture['placeOf'] = (nodeId) => {
    const { snapshotRef, workflowHash, stepNumber } = nodeOf(graph, nodeId);
    const snapshot = snapshots.get(snapshotRef);
    if (snapshot === undefined) return { kind: 'untold' };
    const contextOf = () => contextAt(view.context, nodeId);
    return duePlace(snapshot, { workflow: workflows.get(workflowHash), contextOf, stepNumber });
  };
  const page = { view, placeOf, history, workflowOf: (hash: RunNode['workflowHash']) => workflows.get(hash) };
  const found = (nodeId: NodeId, by: NodeId | undefined) => {
    const due = graph.nodes.get(nodeId);
    const doneBy = by === undefined ? undefined : graph.nodes.get(by);
    return due === undefined || (by !== undefined && doneBy?.runId !== due.runId) ? undefined : { due, doneBy };
  };
  return {
    run: (runId) => {
      const run = graph.runs.get(runId);
      return run && runPage(page, run);
    },
    notes: (runId, window) => lineNotes(page, runId, window),
    step: (nodeId, { by, line }) => {
      const at = found(nodeId, by);
      return at && stepPage({ ...source, placeOf, history }, { ...at, line });
    },
    raw: (nodeId, { by }) => {
      const at = found(nodeId, by);
      if (at === undefined) return undefined;
      const nodes = [at.due, ...hungOn(view, at.due, at.doneBy), ...(at.doneBy === undefined ? [] : [at.doneBy])];
      return { events: nodes.flatMap((node) => history.eventsAt(node.nodeId)) as readonly object[] as JsonObject[] };
    },
  };
}
