import { assert } from '../assert.ts';
import type { NodeId, RunId } from '../log/ids.ts';
import { openGaps } from '../views/node-facts.ts';
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
  readonly placeOf: (nodeId: NodeId) => DuePlace;
};

/** A path through a run, from its root or from where it leaves another line, to its tip. */
export type RunLine = {
  /** `main` for the first line, and A, B, C for the later ones in the order they began. A line keeps its name. */
  readonly name: string;
  /** The line that it leaves, at the node of its own first step. */
  readonly from: string | undefined;
  /** Whether work goes on here. */
  readonly isCurrent: boolean;
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
  /** Also those that an earlier line made at the step where this line begins. */
  readonly checkpoints: number;
  /** Gaps that it opened and that are still open. */
  readonly gaps: number;
  /** Steps that were skipped right before it. */
  readonly skipped: readonly SkippedStep[];
  readonly startedAt: number | undefined;
  readonly endedAt: number | undefined;
};

/** The nodes of a line that no other line has. */
export type NamedLine = {
  readonly name: string;
  readonly from: string | undefined;
  /** The step that it leaves another line at, and does again. */
  readonly leaves: RunNode | undefined;
  readonly steps: readonly RunNode[];
  /** Attempts and checkpoints, by the step they were made at. */
  readonly hung: ReadonlyMap<RunNode, readonly RunNode[]>;
  /** Checkpoints that other lines made at the step that it leaves them at, before it began. */
  readonly seen: readonly RunNode[];
  readonly tip: RunNode;
  readonly isCurrent: boolean;
};

type Growing = Pick<NamedLine, 'name' | 'from' | 'leaves' | 'seen'> & {
  readonly steps: RunNode[];
  readonly hung: Map<RunNode, RunNode[]>;
};

/**
 * The lines of a run in the order they began. A step, or an attempt at one, continues the line that is open at the step
 * above it; where that line went on before, it begins another. So a later node never changes the name of an earlier one.
 */
export function namedLines(graph: RunGraph, runId: RunId): readonly NamedLine[] {
  const lines: Growing[] = [];
  const lineOf = new Map<RunNode, Growing>();
  const open = new Map<RunNode, Growing>();
  const savedAt = new Map<RunNode, RunNode[]>();
  const begin = (leaves?: RunNode): Growing => {
    const name = lines.length === 0 ? MAIN_LINE : branchName(lines.length - 1);
    const seen = [...((leaves && savedAt.get(leaves)) ?? [])];
    const line = { name, from: leaves && lineOf.get(leaves)?.name, leaves, steps: [], hung: new Map(), seen };
    lines.push(line);
    return line;
  };
  const stepAt = new Map<NodeId | null, RunNode>();
  for (const node of graph.nodes.values()) {
    if (node.runId !== runId) continue;
    const above = stepAt.get(node.parentNodeId);
    stepAt.set(node.nodeId, node.kind === 'step' ? node : (above ?? node));
    const line = (above && open.get(above)) ?? begin(above);
    lineOf.set(node, line);
    if (node.kind === 'step') {
      if (above !== undefined) open.delete(above);
      open.set(node, line);
      line.steps.push(node);
    } else if (above !== undefined) {
      open.set(above, line);
      line.hung.set(above, [...(line.hung.get(above) ?? []), node]);
      if (node.kind === 'checkpoint') savedAt.set(above, [...(savedAt.get(above) ?? []), node]);
    }
  }
  const tip = preferredTip(graph, runId);
  const current = tip && lineOf.get(tip);
  return lines.map((line) => ({ ...line, tip: tipOf(graph, line), isCurrent: line === current }));
}

/** Nothing but attempts and checkpoints of this line is below its last step. */
function tipOf(graph: RunGraph, { leaves, steps, hung }: Growing): RunNode {
  const last = steps.at(-1);
  const saved = leaves === undefined ? undefined : hung.get(leaves)?.at(-1);
  const isLast = last === undefined || !hung.has(last);
  const tip = isLast ? (last ?? saved) : preferredTipBelow(graph, last.nodeId);
  assert(tip !== undefined, 'a line begins with a node');
  return tip;
}

const MAIN_LINE = 'main';

/** All lines of a run in the order they began. */
export function runLines(
  picture: Picture,
  runId: RunId,
  lines: readonly NamedLine[] = namedLines(picture.view.graph, runId),
): readonly RunLine[] {
  return lines.map((line) => ({
    name: line.name,
    from: line.from,
    isCurrent: line.isCurrent,
    steps: lineSteps(picture, line),
    tip: line.tip.nodeId,
    leftAt: line.tip.createdAt,
  }));
}

function lineSteps({ view, placeOf }: Picture, { leaves, steps, hung, seen, tip }: NamedLine): LineStep[] {
  const gapCounts = gapsByNode(view, tip.nodeId);
  const nodes = leaves === undefined ? steps : [leaves, ...steps];
  return nodes.map((node, i): LineStep => {
    const next = nodes[i + 1];
    const place = placeOf(node.nodeId);
    const here = hung.get(node) ?? [];
    const count = (wanted: RunNode['kind']) => here.filter(({ kind }) => kind === wanted).length;
    return {
      nodeId: node.nodeId,
      doneBy: next?.nodeId,
      place,
      state: next !== undefined ? 'done' : endState(view.graph, place, tip),
      blocked: count('blocked_attempt'),
      checkpoints: count('checkpoint') + (node === leaves ? seen.length : 0),
      gaps: next === undefined ? 0 : (gapCounts.get(next.nodeId) ?? 0),
      skipped: node === leaves ? [] : (view.skipped.get(node.nodeId) ?? []),
      startedAt: node.createdAt,
      endedAt: next?.createdAt,
    };
  });
}

type Traced<Step> = {
  readonly name: string;
  readonly from?: string | undefined;
  readonly isCurrent?: boolean | undefined;
  readonly steps: readonly Step[];
};

/** The steps from the start of a run to where work goes on, each with the line that it is on. */
export function currentPath<Step extends { readonly nodeId: NodeId }>(
  lines: readonly Traced<Step>[],
): readonly { readonly line: string; readonly step: Step }[] {
  const path: { readonly line: string; readonly step: Step }[] = [];
  let line = lines.find(({ isCurrent }) => isCurrent === true) ?? lines[0];
  let steps = line?.steps ?? [];
  while (line !== undefined) {
    const { name, from } = line;
    path.unshift(...steps.map((step) => ({ line: name, step })));
    const fork = line.steps[0]?.nodeId;
    line = lines.find((one) => one.name === from);
    steps =
      line?.steps.slice(
        0,
        line.steps.findIndex(({ nodeId }) => nodeId === fork),
      ) ?? [];
  }
  return path;
}

/** The line where work goes on, with all steps from the start of the run; none of a run that cannot be read. */
export function currentLine(lines: readonly RunLine[]): readonly RunLine[] {
  const line = lines.find(({ isCurrent }) => isCurrent);
  return line === undefined ? [] : [{ ...line, from: undefined, steps: currentPath(lines).map(({ step }) => step) }];
}

/** A checkpoint after a blocked attempt does not unblock the step. */
function endState(graph: RunGraph, place: DuePlace, tip: RunNode): LineStep['state'] {
  if (place.kind === 'complete') return 'complete';
  return nodeOf(graph, tip.hostNodeId).kind === 'blocked_attempt' ? 'blocked' : 'due';
}

/** The nodes from the root down to a node; both included. */
export function pathTo(graph: RunGraph, tip: RunNode): readonly RunNode[] {
  const path = [tip];
  for (let at = tip; at.parentNodeId !== null; ) {
    at = nodeOf(graph, at.parentNodeId);
    path.push(at);
  }
  return path.reverse();
}

function gapsByNode(view: SessionView, tip: NodeId): ReadonlyMap<NodeId, number> {
  const counts = new Map<NodeId, number>();
  for (const { scope } of openGaps(view.gaps, tip)) counts.set(scope.nodeId, (counts.get(scope.nodeId) ?? 0) + 1);
  return counts;
}
