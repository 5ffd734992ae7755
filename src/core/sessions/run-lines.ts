import type { NodeId, RunId } from '../log/ids.ts';
import type { Chronicle } from '../views/history.ts';
import { unresolvedGaps } from '../views/node-facts.ts';
import { nodeOf, type RunGraph, type RunNode } from '../views/run-graph.ts';
import { preferredTip, preferredTipBelow } from '../views/run-status.ts';
import type { SessionView, SkippedStep } from '../views/session-view.ts';
import type { DuePlace } from './due-step.ts';

const LETTERS = 26;

/** A, B, …, Z, AA, AB, …: short enough to type. */
export function branchName(index: number): string {
  const last = String.fromCharCode('A'.charCodeAt(0) + (index % LETTERS));
  return index < LETTERS ? last : `${branchName(Math.floor(index / LETTERS) - 1)}${last}`;
}

/** What is needed to show a session. */
export type Picture = {
  readonly view: SessionView;
  readonly chronicle: Chronicle;
  readonly placeOf: (nodeId: NodeId) => DuePlace;
};

/** A path through a run, from its root or from where it leaves another line, to its tip. */
export type RunLine = {
  /** `main` for the line that continues; A, B, C for the branches that were left, oldest first. */
  readonly name: string;
  /** The line that it leaves, at the node of its own first step. */
  readonly from: string | undefined;
  readonly steps: readonly LineStep[];
  readonly tip: NodeId;
  /** When its last node was created. */
  readonly leftAt: number | undefined;
};

/** A step of a line. The end of a complete run is the last one. */
export type LineStep = {
  /** The node where the step is due. */
  readonly nodeId: NodeId;
  /** The node that was created when the step was done. */
  readonly doneBy: NodeId | undefined;
  readonly place: DuePlace;
  readonly state: 'done' | 'due' | 'blocked' | 'complete';
  /** How often an attempt at it was blocked. */
  readonly blocked: number;
  readonly checkpoints: number;
  /** Gaps that it opened and that are still open. */
  readonly gaps: number;
  /** Steps that were skipped right before it. */
  readonly skipped: readonly SkippedStep[];
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
};

/** Where a line leaves another: the last node they share, and the first node of its own. */
type Fork = { readonly at: RunNode; readonly first: RunNode; readonly parted: Draft['begunBy'] };
/** `begunBy` is the first node of its own; it identifies the line until it has a name. */
type Draft = Omit<RunLine, 'name' | 'from'> & {
  readonly begunBy: RunNode | undefined;
  readonly parted: RunNode | undefined;
};

/** All lines of a run: first the preferred one, then the others in the order they were started. */
export function runLines(picture: Picture, runId: RunId): readonly RunLine[] {
  const { graph } = picture.view;
  const tip = preferredTip(graph, runId);
  if (tip === undefined) return [];
  const main = draftLine(picture, tip, undefined);
  const drafts = [main.line];
  const forks = [...main.forks];
  // The list grows during the loop: every line adds those that leave it.
  for (const fork of forks) {
    const { line, forks: further } = draftLine(picture, preferredTipBelow(graph, fork.first.nodeId), fork);
    drafts.push(line);
    forks.push(...further);
  }
  return named(drafts);
}

function named(drafts: readonly Draft[]): readonly RunLine[] {
  const sorted = drafts.toSorted((a, b) => (a.begunBy?.createdIndex ?? -1) - (b.begunBy?.createdIndex ?? -1));
  const names = new Map(sorted.map(({ begunBy }, i) => [begunBy, i === 0 ? MAIN_LINE : branchName(i - 1)]));
  return sorted.map(({ begunBy, parted, ...line }) => ({
    name: names.get(begunBy) ?? MAIN_LINE,
    from: begunBy === undefined ? undefined : names.get(parted),
    ...line,
  }));
}

const MAIN_LINE = 'main';

type Drafted = { readonly line: Draft; readonly forks: readonly Fork[] };

function draftLine(picture: Picture, tip: RunNode, fork: Fork | undefined): Drafted {
  const { view, chronicle } = picture;
  const path = pathTo(view.graph, tip, fork?.at);
  const onPath = new Set(path.map(({ nodeId }) => nodeId));
  const stepNodes = path.filter(({ kind }) => kind === 'step');
  const openGaps = gapsByNode(view, tip.nodeId);
  const forks: Fork[] = [];
  const begunBy = fork?.first;
  const steps = stepNodes.map((node, i): LineStep => {
    const next = stepNodes[i + 1];
    const isShared = node === fork?.at;
    const { hung, first } = around(view.graph, node);
    if (!isShared)
      forks.push(...first.filter((one) => one !== next).map((one) => ({ at: node, first: one, parted: begunBy })));
    // Attempts and checkpoints that were not continued count for the line of their node.
    const counted = hung.filter(({ nodeId, hasStepBelow }) => onPath.has(nodeId) || (!isShared && !hasStepBelow));
    const place = picture.placeOf(node.nodeId);
    const count = (kind: RunNode['kind']) => counted.filter((one) => one.kind === kind).length;
    return {
      nodeId: node.nodeId,
      doneBy: next?.nodeId,
      place,
      state: next !== undefined ? 'done' : endState(view.graph, place, tip),
      blocked: count('blocked_attempt'),
      checkpoints: count('checkpoint'),
      gaps: next === undefined ? 0 : (openGaps.get(next.nodeId) ?? 0),
      skipped: isShared ? [] : (chronicle.skipped.get(node.nodeId) ?? []),
      startedAt: chronicle.createdAt.get(node.nodeId),
      endedAt: next === undefined ? undefined : chronicle.createdAt.get(next.nodeId),
    };
  });
  const leftAt = chronicle.createdAt.get(tip.nodeId);
  return { line: { begunBy, parted: fork?.parted, steps, tip: tip.nodeId, leftAt }, forks };
}

/** A checkpoint after a blocked attempt does not unblock the step. */
function endState(graph: RunGraph, place: DuePlace, tip: RunNode): LineStep['state'] {
  if (place.kind === 'complete') return 'complete';
  return nodeOf(graph, tip.hostNodeId).kind === 'blocked_attempt' ? 'blocked' : 'due';
}

/** The nodes from the root, or from a given ancestor, down to a node; both included. */
export function pathTo(graph: RunGraph, tip: RunNode, top?: RunNode): readonly RunNode[] {
  const path = [tip];
  for (let at = tip; at !== top && at.parentNodeId !== null; ) {
    at = nodeOf(graph, at.parentNodeId);
    path.push(at);
  }
  return path.reverse();
}

/** The attempts and checkpoints between a step and the next ones, and those next steps. */
export function around(graph: RunGraph, node: RunNode): { readonly hung: RunNode[]; readonly first: RunNode[] } {
  const hung: RunNode[] = [];
  const first: RunNode[] = [];
  const take = ({ children }: RunNode) => {
    for (const child of children) {
      const below = nodeOf(graph, child);
      (below.kind === 'step' ? first : hung).push(below);
    }
  };
  take(node);
  for (const one of hung) take(one);
  return { hung, first };
}

function gapsByNode(view: SessionView, tip: NodeId): ReadonlyMap<NodeId, number> {
  const counts = new Map<NodeId, number>();
  for (const { scope } of unresolvedGaps(view.gaps, tip)) counts.set(scope.nodeId, (counts.get(scope.nodeId) ?? 0) + 1);
  return counts;
}
