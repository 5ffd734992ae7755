import { assert } from '../../assert.ts';
import { defined } from '../../json/json-value.ts';
import { PRESETS } from '../../log/autonomy.ts';
import { type GapId, type RunId, runTag } from '../../log/ids.ts';
import { shownOrigin } from '../../log/origin.ts';
import { isFalselyBundled } from '../../prompt/reply-parts.ts';
import { lastActivityIndex } from '../../sessions/session-summary.ts';
import { historyOf, type NodeHistory } from '../../views/history.ts';
import { contextValueAt } from '../../views/lineage.ts';
import {
  authorIn,
  autonomySetterAt,
  gapsOfRun,
  observationsInOrder,
  openGaps,
  preferencesAt,
} from '../../views/node-facts.ts';
import { nodeOf, type Run } from '../../views/run-graph.ts';
import { isClosed, runStatus } from '../../views/run-status.ts';
import { withoutForgedMarkers } from '../redact/secret-kinds.ts';
import { REPORT_VERSION, type Report, type ReportGap, type ReportRun, type ReportSession } from '../report.ts';
import { type Branches, branchesOf } from './report-branches.ts';
import { entriesOf } from './report-entries.ts';
import { type ReportSource, stepBefore, timeText } from './report-source.ts';
import { timelineOf } from './report-timeline.ts';

/** The report of sessions, with nothing hidden yet. */
export function buildReport(sources: readonly ReportSource[]): Report {
  return {
    reportSchemaVersion: REPORT_VERSION,
    isRedacted: false,
    hidden: [],
    sessions: sources.map((source) => mapTexts(sessionOf(source), withoutForgedMarkers)),
  };
}

function sessionOf(source: ReportSource): ReportSession {
  const { sessionId, salvage, origin, events, view } = source;
  const history = historyOf(events);
  return defined({
    sessionId,
    salvage,
    origin: origin && shownOrigin(origin),
    signature: source.signature && { ...source.signature, approvals: approvalsOf(view) },
    events: events.length,
    author: authorName(authorIn(view.observations)),
    ...timesOf(events),
    // What was seen last of a key is what the report shows, so the folders of runs come before the workspace.
    workspace: [
      ...[...view.graph.runs.values()].flatMap(({ folder, startedAt }) =>
        folder === undefined ? [] : [defined({ key: 'repo_root' as const, value: folder, at: timeText(startedAt) })],
      ),
      ...observationsInOrder(view.observations).map(({ data: { key, value }, at }) =>
        defined({ key, value: value.value, at: timeText(at) }),
      ),
    ],
    runs: [...view.graph.runs.values()].map((run) => runOf(source, run, history)),
    timeline: timelineOf(source),
  });
}

/** Only the name: a report is read by others, who need no address. */
function authorName(author: string | undefined): string | undefined {
  const name = author?.replace(/ ?<.*>$/, '');
  return name === undefined || name === '' || name.includes('@') ? undefined : name;
}

/** What people answered, with the name of each approver who signed. */
function approvalsOf({ attestations }: ReportSource['view']) {
  const answers = [...attestations.values()].flat().filter(({ data }) => data.subject.kind === 'attempt');
  return answers
    .sort((a, b) => a.eventIndex - b.eventIndex)
    .map(({ eventIndex, data: { statement, signature } }) => {
      const signedBy = signature && `${signature.name} (${signature.fingerprint})`;
      return defined({ eventIndex: eventIndex as number, statement: statement.kind as string, signedBy });
    });
}

/** The first and the last time in log order: clocks may go back, the order of the log does not. */
function timesOf(events: ReportSource['events']) {
  const hasTime = ({ at }: ReportSource['events'][number]) => at !== undefined;
  return { firstAt: timeText(events.find(hasTime)?.at), lastAt: timeText(events.findLast(hasTime)?.at) };
}

function runOf(source: ReportSource, run: Run, history: NodeHistory): ReportRun {
  const { runId, pinned, rootNodeId } = run;
  const { view, workflows } = source;
  const workflow = workflows.get(pinned.workflowHash);
  const branches = branchesOf(source, runId);
  const { firstAt, lastAt } = timesOf(source.events.filter(({ scope }) => scope?.runId === runId));
  const goal = rootNodeId === undefined ? undefined : contextValueAt(view.context, rootNodeId, 'goal');
  const tip = branches.branches.find(({ isCurrent }) => isCurrent)?.tipNodeId;
  const { autonomy, riskPolicy } =
    (tip === undefined ? undefined : preferencesAt(view.preferences, tip)) ?? PRESETS.guided;
  return defined({
    runId,
    tag: runTag(runId),
    workflow: defined({
      workflowId: pinned.workflowId,
      name: workflow?.name ?? pinned.workflowId,
      hash: pinned.workflowHash,
      source: { kind: pinned.workflowSourceKind, ref: pinned.workflowSourceRef },
      isFalselyBundled: source.origin !== undefined && isFalselyBundled(pinned) ? (true as const) : undefined,
      steps: workflow?.steps.length,
    }),
    goal: typeof goal === 'string' ? goal : undefined,
    status: runStatus(view, runId, { snapshotOf: snapshotIn(source), defaults: PRESETS.guided }),
    isClosed: isClosed(source.closed, { runId, lastActivityIndex: lastActivityIndex(view.graph, run) }),
    startedAt: firstAt,
    lastAt,
    preferences: { autonomy, riskPolicy },
    setBy: tip === undefined ? undefined : autonomySetterAt(view.preferences, tip),
    branches: [...branches.branches],
    entries: entriesOf(source, runId, { history, branchOf: branches.branchOf }),
    gaps: gapsOf(source, runId, branches),
  });
}

function snapshotIn({ snapshots }: ReportSource) {
  return (ref: Parameters<typeof snapshots.get>[0]) => {
    const snapshot = snapshots.get(ref);
    assert(snapshot !== undefined, `${ref} was not read`);
    return snapshot;
  };
}

/** A gap may be open on one branch and resolved on another. The current branch decides, else the gap's own. */
function gapsOf(source: ReportSource, runId: RunId, { branches, branchOf }: Branches): ReportGap[] {
  const { view } = source;
  const records = gapsOfRun(view.gaps, runId);
  const openOn = new Map<string, ReadonlySet<GapId>>(
    branches.map(({ name, tipNodeId }) => [
      name,
      new Set(openGaps(view.gaps, tipNodeId).map(({ data }) => data.gapId)),
    ]),
  );
  const current = branches.find(({ isCurrent }) => isCurrent);
  const seen = new Set(current?.line);
  const resolvedOn = new Map<GapId, Set<string>>();
  for (const { data, scope } of records) {
    if (data.resolution.kind !== 'resolves') continue;
    const { resolvesGapId } = data.resolution;
    const names = resolvedOn.get(resolvesGapId) ?? new Set();
    resolvedOn.set(resolvesGapId, names.add(branchOf.get(scope.nodeId) ?? 'main'));
  }
  return records.flatMap(({ data, scope, at }) => {
    if (data.resolution.kind === 'resolves') return [];
    const branch = branchOf.get(scope.nodeId) ?? 'main';
    return [
      defined({
        gapId: data.gapId,
        nodeId: scope.nodeId,
        branch,
        at: timeText(at),
        severity: data.severity,
        category: data.reason.category,
        detail: data.reason.detail,
        summary: data.summary,
        step: stepBefore(source, nodeOf(view.graph, scope.nodeId)),
        isOpen: openOn.get((seen.has(scope.nodeId) ? current?.name : branch) ?? branch)?.has(data.gapId) ?? true,
        resolvedOn: [...(resolvedOn.get(data.gapId) ?? [])],
      }),
    ];
  });
}

/** The same value with each of its texts replaced, including the names of fields. */
function mapTexts<Value>(value: Value, replace: (text: string) => string): Value {
  return mapped(value, replace) as Value;
}

function mapped(value: unknown, replace: (text: string) => string): unknown {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapped(item, replace));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [replace(key), mapped(item, replace)]));
}
