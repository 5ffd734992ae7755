import { assert } from '../../assert.ts';
import { PRESETS } from '../../log/autonomy.ts';
import { type GapId, type RunId, runTag } from '../../log/ids.ts';
import { isoTime } from '../../text/utc-time.ts';
import { contextValueAt } from '../../views/context.ts';
import { gapsOfRun, unresolvedGaps } from '../../views/gaps.ts';
import { nodeRecords } from '../../views/history.ts';
import { preferencesAt } from '../../views/preferences-in-force.ts';
import { nodeOf, type Run } from '../../views/run-graph.ts';
import { isClosed, runStatus } from '../../views/run-status.ts';
import { lastActivityIndex } from '../../views/session-summary.ts';
import { observationsInOrder } from '../../views/workspace-observations.ts';
import { withoutForgedMarkers } from '../redact/secret-kinds.ts';
import { REPORT_VERSION, type Report, type ReportGap, type ReportRun, type ReportSession } from '../report.ts';
import { type Branches, branchesOf } from './report-branches.ts';
import { entriesOf, type NodeRecords } from './report-entries.ts';
import { attemptedStep, type ReportSource } from './report-source.ts';
import { timelineOf } from './report-timeline.ts';

/** Tells sessions as they stand in their logs, with nothing hidden yet. */
export function buildReport(sources: readonly ReportSource[]): Report {
  return {
    reportSchemaVersion: REPORT_VERSION,
    isRedacted: false,
    hidden: [],
    sessions: sources.map((source) => mapTexts(sessionOf(source), withoutForgedMarkers)),
  };
}

function sessionOf(source: ReportSource): ReportSession {
  const { sessionId, salvage, events, view } = source;
  const records = nodeRecords(events);
  return {
    sessionId,
    ...(salvage === undefined ? {} : { salvage }),
    events: events.length,
    ...timesOf(events),
    workspace: observationsInOrder(view.observations).map(({ data: { key, value }, at }) => ({
      key,
      value: value.value,
      ...(at === undefined ? {} : { at: isoTime(at) }),
    })),
    runs: [...view.graph.runs.values()].map((run) => runOf(source, run, records)),
    timeline: timelineOf(source),
  };
}

/** The first and the last that tell one; clocks go back, but the order of the log is the order of what happened. */
function timesOf(events: ReportSource['events']): Pick<ReportSession, 'firstAt' | 'lastAt'> {
  const first = events.find(({ at }) => at !== undefined)?.at;
  const last = events.findLast(({ at }) => at !== undefined)?.at;
  return first === undefined || last === undefined ? {} : { firstAt: isoTime(first), lastAt: isoTime(last) };
}

function runOf(source: ReportSource, run: Run, records: NodeRecords): ReportRun {
  const { runId, pinned, rootNodeId } = run;
  const { view, workflows } = source;
  const workflow = workflows.get(pinned.workflowHash);
  const branches = branchesOf(source, runId);
  const { firstAt, lastAt } = timesOf(source.events.filter(({ scope }) => scope?.runId === runId));
  const goal = rootNodeId === undefined ? undefined : contextValueAt(view.context, rootNodeId, 'goal');
  const tip = branches.branches[0]?.tipNodeId;
  const { autonomy, riskPolicy } =
    (tip === undefined ? undefined : preferencesAt(view.preferences, tip)) ?? PRESETS.guided;
  return {
    runId,
    tag: runTag(runId),
    workflow: {
      workflowId: pinned.workflowId,
      name: workflow?.name ?? pinned.workflowId,
      hash: pinned.workflowHash,
      source: { kind: pinned.workflowSourceKind, ref: pinned.workflowSourceRef },
      ...(workflow === undefined ? {} : { steps: workflow.steps.length }),
    },
    ...(typeof goal === 'string' ? { goal } : {}),
    status: runStatus(view, runId, { snapshotOf: snapshotIn(source), defaults: PRESETS.guided }),
    isClosed: isClosed(source.closed, { runId, lastActivityIndex: lastActivityIndex(view.graph, run) }),
    ...(firstAt === undefined ? {} : { startedAt: firstAt }),
    ...(lastAt === undefined ? {} : { lastAt }),
    preferences: { autonomy, riskPolicy },
    branches: [...branches.branches],
    entries: entriesOf(source, runId, { records, branchOf: branches.branchOf }),
    gaps: gapsOf(source, runId, branches),
  };
}

function snapshotIn({ snapshots }: ReportSource) {
  return (ref: Parameters<typeof snapshots.get>[0]) => {
    const snapshot = snapshots.get(ref);
    assert(snapshot !== undefined, `${ref} was not read`);
    return snapshot;
  };
}

/** Whether a gap is open is a matter of the line it is looked at from: its own counts. */
function gapsOf(source: ReportSource, runId: RunId, { branches, branchOf }: Branches): ReportGap[] {
  const { view } = source;
  const records = gapsOfRun(view.gaps, runId);
  const openOn = new Map<string, ReadonlySet<GapId>>(
    branches.map(({ name, tipNodeId }) => [
      name,
      new Set(unresolvedGaps(view.gaps, tipNodeId).map(({ data }) => data.gapId)),
    ]),
  );
  const resolvedOn = new Map<GapId, Set<string>>();
  for (const { data, scope } of records) {
    if (data.resolution.kind !== 'resolves') continue;
    const { resolvesGapId } = data.resolution;
    const lines = resolvedOn.get(resolvesGapId) ?? new Set();
    resolvedOn.set(resolvesGapId, lines.add(branchOf.get(scope.nodeId) ?? 'main'));
  }
  return records.flatMap(({ data, scope, at }) => {
    if (data.resolution.kind === 'resolves') return [];
    const branch = branchOf.get(scope.nodeId) ?? 'main';
    return [
      {
        gapId: data.gapId,
        nodeId: scope.nodeId,
        branch,
        ...(at === undefined ? {} : { at: isoTime(at) }),
        severity: data.severity,
        category: data.reason.category,
        detail: data.reason.detail,
        summary: data.summary,
        step: attemptedStep(source, nodeOf(view.graph, scope.nodeId)),
        isOpen: openOn.get(branch)?.has(data.gapId) ?? true,
        resolvedOn: [...(resolvedOn.get(data.gapId) ?? [])],
      },
    ];
  });
}

/** The same value with each of its texts replaced, the names in it too. */
function mapTexts<Value>(value: Value, replace: (text: string) => string): Value {
  return mapped(value, replace) as Value;
}

function mapped(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapped(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [replace(key), mapped(item, replace)]));
}
