import { defined, isList, isObject, type JsonValue } from '../json/json-value.ts';
import type { EventOf } from '../log/event.ts';
import { type ArtifactDigest, artifactDigestSchema, type NodeId, type SnapshotRef } from '../log/ids.ts';
import { entryOf } from '../report/build/report-entries.ts';
import { type StepSource, stepBefore, timeText } from '../report/build/report-source.ts';
import type { ReportEntry, ReportGap } from '../report/report.ts';
import { contextAt, heldAt } from '../views/lineage.ts';
import { currentObservation, gapsOfRun, observationHistory, openGaps, outputHistory } from '../views/node-facts.ts';
import { nodeOf, type RunNode, stepAbove } from '../views/run-graph.ts';
import type { SessionView } from '../views/session-view.ts';
import type { StepPageData } from '../wire/run-shapes.ts';
import { contracts } from '../workflow/builtins/contracts.ts';
import { namedLines } from './run-lines.ts';
import { hungOn, placeTitle, type RunPageSource } from './run-page.ts';

/** A step of a line: where it is due, and the node that was made by doing it. */
export type StepPlaceOnLine = {
  readonly due: RunNode;
  readonly doneBy: RunNode | undefined;
  /** The name of the line. */
  readonly line: string;
};

export type StepPageSource = StepSource & Pick<RunPageSource, 'placeOf' | 'history'>;

/** Everything about one step. Its own snapshots and artifacts must be in the source; others are not asked for. */
export function stepPage(source: StepPageSource, place: StepPlaceOnLine): StepPageData {
  const { view } = source;
  const { due, doneBy } = place;
  const entry = doneBy && shownEntry(source, doneBy, place.line);
  const hung = hungOn(view, due, doneBy).flatMap((node) => shownEntry(source, node, place.line) ?? []);
  return {
    ...defined({
      entry,
      start: due.parentNodeId === null ? shownEntry(source, due, place.line) : undefined,
      commit: commitBefore(view, due.createdIndex),
    }),
    hung,
    context: contextData(source, place),
    gaps: gapsAt(source, place),
    renderers: renderersOf([...(entry === undefined ? [] : [entry]), ...hung]),
  };
}

/** The stored content that the page of a step needs. */
export function stepContent(
  view: SessionView,
  { due, doneBy }: Pick<StepPlaceOnLine, 'due' | 'doneBy'>,
): { readonly snapshots: ReadonlySet<SnapshotRef>; readonly artifacts: ReadonlySet<ArtifactDigest> } {
  const nodes = [due, ...hungOn(view, due, doneBy), ...(doneBy === undefined ? [] : [doneBy])];
  const digests = nodes.flatMap(({ nodeId }) =>
    outputHistory(view.outputs, nodeId).flatMap(({ output: { data } }) =>
      data.outputChannel === 'artifact' ? [artifactDigestSchema.parse(data.payload.sha256)] : [],
    ),
  );
  const parent = due.parentNodeId === null ? [] : [nodeOf(view.graph, due.parentNodeId)];
  return {
    snapshots: new Set([...parent, ...nodes].map(({ snapshotRef }) => snapshotRef)),
    artifacts: new Set(digests),
  };
}

function shownEntry(source: StepPageSource, node: RunNode, branch: string): ReportEntry | undefined {
  const record = source.history.at(node.nodeId);
  return record && entryOf(source, node, { record, branch });
}

/** The commit that was seen last before an event. */
function commitBefore({ observations }: SessionView, eventIndex: number): string | undefined {
  const seen = observationHistory(observations, 'git_head_sha');
  const found =
    seen.findLast((one) => one.eventIndex <= eventIndex) ?? currentObservation(observations, 'git_head_sha');
  return found?.data.value.value;
}

type ContextSet = EventOf<'context_set'>;

/** The context after a step, or where it is due; each value with the event that set it. */
function contextData({ view, placeOf }: StepPageSource, { due, doneBy }: StepPlaceOnLine): StepPageData['context'] {
  const { nodeId } = doneBy ?? due;
  const setBy = new Map<string, ContextSet>();
  for (let at = heldAt(view.context, nodeId); at !== undefined; at = at.older) {
    for (const key of Object.keys(at.newest.data.context)) if (!setBy.has(key)) setBy.set(key, at.newest);
  }
  return Object.entries(contextAt(view.context, nodeId)).map(([key, value]: [string, JsonValue]) => {
    const set = setBy.get(key);
    const node = set && nodeOf(view.graph, set.scope.nodeId);
    // What an advance sets is recorded at the node that it made: the step was due one node above.
    const above = node?.kind === 'step' && set?.data.source === 'agent_delta' ? node.parentNodeId : null;
    const from = above === null ? node : nodeOf(view.graph, above);
    const dueAt = from && stepAbove(view.graph, from).nodeId;
    return {
      key,
      value,
      by: set === undefined ? 'agent' : SOURCES[set.data.source],
      ...defined({
        at: dueAt === undefined || set?.data.source === 'initial' ? undefined : numbered(placeOf, dueAt),
      }),
      isHere: set?.scope.nodeId === nodeId,
    };
  });
}

const SOURCES = { initial: 'start', agent_delta: 'agent', person: 'person' } as const;

function numbered(placeOf: StepPageSource['placeOf'], nodeId: NodeId) {
  const { title, number } = placeTitle(placeOf(nodeId));
  return { title, ...defined({ number }) };
}

/** The gaps that a step opened, and those of earlier steps that it resolved. */
function gapsAt(source: StepPageSource, { due, doneBy, line }: StepPlaceOnLine): ReportGap[] {
  const { view } = source;
  const nodes = new Set(
    [...hungOn(view, due, doneBy), ...(doneBy === undefined ? [] : [doneBy])].map((one) => one.nodeId),
  );
  const records = gapsOfRun(view.gaps, due.runId);
  const resolved = new Set(
    records.flatMap(({ data: { resolution }, scope }) =>
      resolution.kind === 'resolves' && nodes.has(scope.nodeId) ? [resolution.resolvesGapId] : [],
    ),
  );
  const tip = namedLines(view.graph, due.runId).find(({ name }) => name === line)?.tip ?? doneBy ?? due;
  const open = new Set(openGaps(view.gaps, tip.nodeId).map(({ data }) => data.gapId));
  return records.flatMap(({ data, scope, at }): ReportGap[] => {
    const { gapId, severity, reason, summary, resolution } = data;
    if (resolution.kind === 'resolves' || !(nodes.has(scope.nodeId) || resolved.has(gapId))) return [];
    return [
      defined({
        gapId,
        nodeId: scope.nodeId,
        branch: line,
        at: timeText(at),
        severity,
        category: reason.category,
        detail: reason.detail,
        summary,
        step: stepBefore(source, nodeOf(view.graph, scope.nodeId)),
        isOpen: open.has(gapId),
        resolvedOn: open.has(gapId) ? [] : [line],
      }),
    ];
  });
}

function renderersOf(entries: readonly ReportEntry[]): StepPageData['renderers'] {
  const kinds = new Set(entries.flatMap(({ artifacts }) => artifacts.flatMap(({ kind }) => kind ?? [])));
  return Object.fromEntries(
    contracts.all.flatMap(({ artifactKind, rendererHint: hint, example }) =>
      kinds.has(artifactKind) ? [[artifactKind, { hint, order: fieldNames(example) }]] : [],
    ),
  );
}

/** Stored JSON has its keys in alphabetical order; people read them as the contract writes them. */
function fieldNames(value: JsonValue): string[] {
  if (isList(value)) return value.flatMap(fieldNames);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, one]) => [name, ...fieldNames(one)]);
}
