import { defined } from '../json/json-value.ts';
import { PRESETS } from '../log/autonomy.ts';
import type { NodeId, RunId, WorkflowHash } from '../log/ids.ts';
import { skipReason } from '../prompt/reply/run-result.ts';
import { titleWithoutValues } from '../prompt/step/fill-values.ts';
import { capabilitiesAt, type NodeHistory } from '../views/history.ts';
import { checksAt, type RecordedCheck } from '../views/line-checks.ts';
import { heldAt } from '../views/lineage.ts';
import { autonomySetterAt, isChangedFromOutside, unresolvedGaps } from '../views/node-facts.ts';
import { nodeOf, type Run, type RunNode, stepAbove } from '../views/run-graph.ts';
import { preferredTip } from '../views/run-status.ts';
import type { SessionView, SkippedStep } from '../views/session-view.ts';
import type { LineNotesData, RunLineData, RunPageData, RunStepData, StepBadge } from '../wire/run-shapes.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { indexWorkflow } from '../workflow/compiled/workflow-index.ts';
import { type DuePlace, skippedTitle } from './due-step.ts';
import { lineOutputs } from './line-outputs.ts';
import { type LineStep, type NamedLine, namedLines, type Picture, runLines } from './run-lines.ts';

/** What the page of a run is made from: a session of the store, or one from a file. */
export type RunPageSource = Picture & {
  readonly workflowOf: (hash: WorkflowHash) => CompiledWorkflow | undefined;
  readonly history: Pick<NodeHistory, 'at'>;
};

/** The steps of a run in their lines, with nothing of what was handed in. */
export function runPage(source: RunPageSource, run: Run): RunPageData {
  const { view, placeOf } = source;
  const { runId } = run;
  const workflow = source.workflowOf(run.pinned.workflowHash);
  const named = namedLines(view.graph, runId);
  const skipWords = skipReasons(workflow);
  const lines = runLines(source, runId, named).map((line, i): RunLineData => {
    const own = named[i];
    return {
      name: line.name,
      ...defined({ from: line.from, leftAt: line.leftAt }),
      isCurrent: line.isCurrent,
      steps: line.steps.map((step, at) => stepData(source, { step, own, isFirst: at === 0, workflow, skipWords })),
    };
  });
  const tip = preferredTip(view.graph, runId);
  return {
    runId,
    lines,
    loops: Object.fromEntries((workflow?.loops ?? []).map(({ loopId, title }) => [loopId, title ?? loopId])),
    plan: tip === undefined ? [] : planAfter(placeOf(stepAbove(view.graph, tip).nodeId), workflow),
    lacking: tip === undefined ? [] : lackingAt(source, tip),
    preferences: preferencesData(source, tip, workflow),
  };
}

type StepParts = {
  readonly step: LineStep;
  readonly own: NamedLine | undefined;
  /** Whether a line that leaves another one begins with it. */
  readonly isFirst: boolean;
  readonly workflow: CompiledWorkflow | undefined;
  readonly skipWords: (skipped: SkippedStep) => string | undefined;
};

function stepData(source: RunPageSource, { step, own, isFirst, workflow, skipWords }: StepParts): RunStepData {
  const { view } = source;
  const { nodeId, place, doneBy, state, startedAt } = step;
  const node = nodeOf(view.graph, nodeId);
  const hung = [...(isFirst ? (own?.seen ?? []) : []), ...(own?.hung.get(node) ?? [])];
  const badges = badgesOf(view, { node, doneBy, hung });
  return {
    nodeId,
    ...placeTitle(place),
    state,
    ...defined({ startedAt }),
    ...listed(
      'hung',
      hung.map((one) => hungData(source, one)),
    ),
    ...listed(
      'skipped',
      step.skipped.map((skipped) => ({
        title: skippedTitle(skipped, workflow),
        ...defined({ why: skipWords(skipped) }),
      })),
    ),
    ...listed('badges', badges),
    ...(step.gaps > 0 ? { openGaps: step.gaps } : {}),
  };
}

/** A field that is only there if its list is not empty. */
function listed<Name extends string, Item>(name: Name, items: readonly Item[]): { readonly [name in Name]?: Item[] } {
  return items.length === 0 ? {} : ({ [name]: [...items] } as { readonly [name in Name]?: Item[] });
}

/** A place as people read it. */
export function placeTitle(place: DuePlace): Pick<RunStepData, 'stepId' | 'title' | 'number' | 'rounds'> {
  if (place.kind !== 'step') return { title: OTHER_PLACES[place.kind] };
  const { stepId, title, position, loopPath } = place;
  return {
    stepId,
    title,
    ...defined({ number: position }),
    ...listed(
      'rounds',
      loopPath.map(({ loopId, iteration }) => ({ loopId, round: iteration + 1 })),
    ),
  };
}

const OTHER_PLACES: { readonly [kind in Exclude<DuePlace['kind'], 'step'>]: string } = {
  start: 'Start',
  complete: 'The run is complete',
  untold: 'A step that cannot be read',
};

function hungData({ history }: RunPageSource, { nodeId, kind, createdAt }: RunNode) {
  const codes = history.at(nodeId)?.block?.blockers.map(({ code }) => code);
  const at = defined({ at: createdAt });
  return kind === 'checkpoint'
    ? { nodeId, kind, ...at }
    : { nodeId, kind: 'blocked_attempt' as const, ...at, ...defined({ codes }) };
}

/** Straight from the view: a page may have thousands of steps, and their whole records are not needed for this. */
function badgesOf(
  view: SessionView,
  at: { readonly node: RunNode; readonly doneBy: NodeId | undefined; readonly hung: readonly RunNode[] },
): readonly StepBadge[] {
  const { node, doneBy } = at;
  const changes = view.preferenceChanges.get(node.nodeId)?.length ?? 0;
  const capabilities = doneBy === undefined ? [] : capabilitiesAt(view, doneBy);
  const checks = doneBy === undefined ? [] : checksAt(view, doneBy);
  const nodes = [doneBy, ...at.hung.map(({ nodeId }) => nodeId)].flatMap((nodeId) => nodeId ?? []);
  const found: { readonly [badge in StepBadge]: boolean } = {
    again: doneBy !== undefined && nodeOf(view.graph, doneBy).edge?.cause.kind === 'non_tip_advance',
    departed: nodes.some((nodeId) => view.divergences.has(nodeId)),
    // Every run starts with a mode; only a change is worth a mark.
    mode: changes > (node.parentNodeId === null ? 1 : 0),
    capability: capabilities.some(({ status }) => status === 'unavailable'),
    answered: at.hung.some(({ nodeId }) => isAnswered(view, nodeId)),
    proven: checks.length > 0 && checks.every(({ grade }) => grade === 'verified' || grade === 'observed'),
    unproven: !checks.every(isProven),
  };
  return (Object.keys(found) as StepBadge[]).filter((badge) => found[badge]);
}

function isAnswered({ attestations }: SessionView, nodeId: NodeId): boolean {
  return attestations.get(nodeId)?.some(({ data }) => data.subject.kind === 'attempt') ?? false;
}

/** Whether a check is known as well as its step asks for. */
function isProven({ grade, minimum }: RecordedCheck): boolean {
  return grade === 'verified' || grade === 'observed' || (grade !== undefined && grade === minimum);
}

/** A run may skip hundreds of steps, but its workflow has only so many conditions. */
function skipReasons(workflow: CompiledWorkflow | undefined): StepParts['skipWords'] {
  const known = new Map<string, string | undefined>();
  return (skipped) => {
    if (workflow === undefined) return undefined;
    const { stepId } = skipped;
    if (!known.has(stepId)) known.set(stepId, skipReason(indexWorkflow(workflow), skipped));
    return known.get(stepId);
  };
}

function planAfter(place: DuePlace, workflow: CompiledWorkflow | undefined): string[] {
  if (workflow === undefined || place.kind !== 'step') return [];
  const at = workflow.steps.findIndex(({ stepId }) => stepId === place.stepId);
  return at < 0 ? [] : workflow.steps.slice(at + 1).map(({ title }) => titleWithoutValues(title));
}

function lackingAt({ view, placeOf }: RunPageSource, tip: RunNode): RunPageData['lacking'] {
  return unresolvedGaps(view.gaps, tip.nodeId)
    .filter(({ data }) => data.reason.category === 'capability_missing')
    .map(({ data, scope }) => {
      const { parentNodeId } = nodeOf(view.graph, scope.nodeId);
      // The step may have been tried before, so that an attempt is between.
      const { nodeId } = stepAbove(view.graph, nodeOf(view.graph, parentNodeId ?? scope.nodeId));
      return { nodeId, title: placeTitle(placeOf(nodeId)).title, summary: data.summary };
    });
}

function preferencesData(
  { view, placeOf }: RunPageSource,
  tip: RunNode | undefined,
  workflow: CompiledWorkflow | undefined,
): RunPageData['preferences'] {
  const latest = tip && heldAt(view.preferences, tip.nodeId)?.latest;
  const step = tip && stepAbove(view.graph, tip);
  const { autonomy, riskPolicy } = latest?.data.effective ?? PRESETS.guided;
  const place = latest && placeTitle(placeOf(stepAbove(view.graph, nodeOf(view.graph, latest.scope.nodeId)).nodeId));
  return {
    autonomy,
    riskPolicy,
    ...defined({
      setBy: tip && autonomySetterAt(view.preferences, tip.nodeId),
      since: place && { title: place.title, ...defined({ number: place.number }) },
    }),
    isPending:
      tip !== undefined &&
      step !== undefined &&
      latest !== undefined &&
      isChangedFromOutside(view.preferences, tip.nodeId, step.nodeId) &&
      tip.createdIndex < latest.eventIndex,
    recommended: { ...workflow?.recommended },
  };
}

/** Attempts and checkpoints of the step that is due at a node, oldest first, up to the node that was made by doing it. */
export function hungOn({ graph }: Pick<SessionView, 'graph'>, due: RunNode, doneBy: RunNode | undefined): RunNode[] {
  const found = [due];
  // The list grows while it is walked: attempts hang on each other.
  for (const { children } of found) {
    for (const child of children) {
      const node = nodeOf(graph, child);
      const isBefore = doneBy === undefined || node.createdIndex < doneBy.createdIndex;
      if (node.kind !== 'step' && isBefore) found.push(node);
    }
  }
  return found.slice(1).sort((a, b) => a.createdIndex - b.createdIndex);
}

/** The notes of a line from the start of its run, as a window: from a number on, or around a step. */
export function lineNotes(
  { view, placeOf }: Picture,
  runId: RunId,
  { line, from: asked, count }: { readonly line: string; readonly from: number | NodeId; readonly count: number },
): LineNotesData | undefined {
  const found = namedLines(view.graph, runId).find(({ name }) => name === line);
  if (found === undefined) return undefined;
  const places = lineOutputs(view, { nodeId: found.tip.nodeId, isAll: true }).flatMap((place) => {
    const notes = place.outputs.flatMap(({ data }) =>
      data.outputChannel === 'recap'
        ? [{ markdown: data.payload.notesMarkdown, isSuperseded: place.superseded.has(data.outputId) }]
        : [],
    );
    const at = place.outputs[0]?.at;
    return notes.length === 0 ? [] : [{ place, notes, at }];
  });
  const from = typeof asked === 'number' ? asked : windowAround(places.findIndex(({ place }) => place.dueAt === asked));
  return {
    total: places.length,
    from,
    notes: places.slice(from, from + count).map(({ place: { dueAt, kind }, notes, at }) => {
      const { title, number } = placeTitle(placeOf(dueAt));
      return { nodeId: dueAt, kind, title, ...defined({ number, at }), notes };
    }),
  };
}

const NOTES_BEFORE = 10;

/** A few notes before the one that is asked for, so that one can read on upwards. */
function windowAround(index: number): number {
  return Math.max(0, index - NOTES_BEFORE);
}
