import type { RunLineData, RunPageData, RunStepData } from '../wire/run-shapes.ts';
import { currentPath } from './run-lines.ts';

type Hung = NonNullable<RunStepData['hung']>[number];
type Skipped = NonNullable<RunStepData['skipped']>[number];

/** A row of the list of steps. `lane` is its place beside other lines, `level` its depth in the tree. */
export type LaneRow = {
  /** Stays the same while a run grows. A step where a line forks is on both lines, so the line is part of it. */
  readonly key: string;
  readonly line: string;
  /** The node where the step is due, or that of an attempt or checkpoint. */
  readonly nodeId: string;
  readonly lane: number;
  readonly level: number;
  /** What is below it can be folded; whether it is open. */
  readonly isOpen?: boolean;
} & LaneRowKind;

type LaneRowKind =
  | ({ readonly kind: 'step'; readonly idleMs: number } & StepOfRow)
  | { readonly kind: 'hung'; readonly hung: Hung; readonly nth: number; readonly of: StepOfRow }
  | { readonly kind: 'skipped'; readonly skipped: Skipped }
  | {
      readonly kind: 'round';
      readonly title: string;
      readonly round: number;
      readonly steps: number;
      readonly tookMs: number;
    }
  | {
      readonly kind: 'branch';
      readonly steps: number;
      readonly leftAt: number | undefined;
      readonly end: RunStepData['state'];
    }
  | { readonly kind: 'plan'; readonly title: string };

/** The step that an attempt or a checkpoint was made at. */
type StepOfRow = {
  readonly step: RunStepData;
  readonly doneBy: string | undefined;
  readonly endedAt: number | undefined;
};

/** A line between two rows. Between two lanes it is where a branch leaves. */
export type LaneEdge = {
  readonly from: number;
  readonly to: number;
  readonly fromLane: number;
  readonly toLane: number;
};

export type Lanes = { readonly rows: readonly LaneRow[]; readonly edges: readonly LaneEdge[]; readonly count: number };

/** What is open. Everything else is folded but the line where work goes on and the round of the step that is due. */
export type LaneChoice = {
  /** Keys of rows that are not as they are by default. */
  readonly toggled: ReadonlySet<string>;
  readonly isAll: boolean;
  readonly isPlanned: boolean;
  /** A row that must be seen, with everything around it open. */
  readonly chosen?: { readonly line: string; readonly nodeId: string } | undefined;
};

type Placed = StepOfRow & { readonly line: string };

/** A stretch of steps that is drawn in one lane. */
type Stretch = { readonly line: RunLineData; readonly placed: readonly Placed[]; readonly isCurrent: boolean };

/** What was laid out so far. */
type Drawing = {
  readonly page: RunPageData;
  readonly choice: LaneChoice;
  /** Stretches that have no place yet, by the node they leave at. */
  readonly branches: Map<string, readonly Stretch[]>;
  readonly rows: LaneRow[];
  readonly edges: LaneEdge[];
  lanes: number;
};

type At = { readonly lane: number; readonly level: number };

/**
 * The rows of a run. The line where work goes on comes first; every other line stands right under the step that it leaves,
 * so that a run with hundreds of branches needs as many lanes as they are nested, not as many as there are.
 */
export function lanesOf(page: RunPageData, choice: LaneChoice): Lanes {
  const { trunk, branches } = stretchesOf(page.lines);
  const drawing: Drawing = { page, choice, branches, rows: [], edges: [], lanes: 1 };
  if (trunk !== undefined) addStretch(drawing, trunk, { lane: 0, level: 1 });
  for (const [i, title] of (choice.isPlanned ? page.plan : []).entries()) {
    const line = trunk?.line.name ?? '';
    addRow(drawing, { key: `p:${i}`, line, nodeId: `plan-${i}`, lane: 0, level: 1, kind: 'plan', title });
  }
  const { rows, edges, lanes } = drawing;
  return { rows, edges, count: lanes };
}

/** Returns the index of the row. */
function addRow({ rows }: Drawing, row: LaneRow): number {
  return rows.push(row) - 1;
}

function addStretch(drawing: Drawing, stretch: Stretch, { lane, level }: At): void {
  const { edges, branches, choice, page } = drawing;
  drawing.lanes = Math.max(drawing.lanes, lane + 1);
  let before: number | undefined;
  const join = (index: number) => {
    if (before !== undefined) edges.push({ from: before, to: index, fromLane: lane, toLane: lane });
    before = index;
  };
  for (const { head, placed } of roundsOf(stretch, page.loops)) {
    const isShown = head === undefined || isOpenRow(head.key, { stretch, placed, choice });
    const inside = { lane, level: head === undefined ? level : level + 1 };
    for (const [i, one] of placed.entries()) {
      // What was skipped on the way to a loop is not part of its round.
      const isBefore = i === 0 && head !== undefined;
      if (isShown || isBefore) for (const at of addSkipped(drawing, one, isBefore ? { lane, level } : inside)) join(at);
      if (isBefore) join(addRow(drawing, { ...head, lane, level, isOpen: isShown }));
      if (isShown) join(addStep(drawing, one, inside));
      const own = branches.get(one.step.nodeId) ?? [];
      if (!isHost(stretch, one, own)) continue;
      branches.delete(one.step.nodeId);
      const host = before;
      for (const branch of own) {
        const index = addBranch(drawing, branch, { lane: lane + 1, level: level + 1 });
        if (host !== undefined) edges.push({ from: host, to: index, fromLane: lane, toLane: lane + 1 });
      }
    }
  }
}

/** Adds what was skipped right before a step. */
function addSkipped(drawing: Drawing, { line, step: { nodeId, skipped = [] } }: Placed, at: At): readonly number[] {
  return skipped.map((one, i) => {
    const place = { line, nodeId: `skipped-${nodeId}-${i}`, ...at };
    return addRow(drawing, { key: `k:${line}:${nodeId}:${i}`, ...place, kind: 'skipped', skipped: one });
  });
}

/** Adds a step and what hangs on it. Returns the row of the step. */
function addStep(drawing: Drawing, { line, ...done }: Placed, at: At): number {
  const { choice } = drawing;
  const { nodeId, hung = [] } = done.step;
  const key = `s:${line}:${nodeId}`;
  const isChosen = choice.chosen?.line === line && hung.some((one) => one.nodeId === choice.chosen?.nodeId);
  const isOpen = choice.toggled.has(key) || isChosen;
  const folds = hung.length === 0 ? {} : { isOpen };
  const row = { key, line, nodeId, ...at, ...folds, kind: 'step', ...done, idleMs: idleMs(done) } as const;
  const index = addRow(drawing, row);
  for (const [i, one] of (isOpen ? hung : []).entries()) {
    const nth = hung.slice(0, i + 1).filter(({ kind }) => kind === one.kind).length;
    const place = { line, nodeId: one.nodeId, lane: at.lane, level: at.level + 1 };
    addRow(drawing, { key: `h:${line}:${one.nodeId}`, ...place, kind: 'hung', hung: one, nth, of: done });
  }
  return index;
}

/** Adds a branch, folded or with its steps. Returns the row of the branch. */
function addBranch(drawing: Drawing, stretch: Stretch, { lane, level }: At): number {
  const { choice, branches, edges, rows } = drawing;
  const { line, placed } = stretch;
  drawing.lanes = Math.max(drawing.lanes, lane + 1);
  const key = `b:${line.name}`;
  const isOpen = isOpenRow(key, { stretch, placed, choice }) || holdsChosen(placed, branches, choice);
  const end = placed.at(-1)?.step.state ?? 'due';
  const steps = placed.filter(({ step }) => step.state !== 'complete').length;
  const place = { line: line.name, nodeId: `branch-${line.name}`, lane, level };
  const index = addRow(drawing, { key, ...place, isOpen, kind: 'branch', steps, leftAt: line.leftAt, end });
  if (!isOpen) return index;
  const first = rows.length;
  addStretch(drawing, stretch, { lane, level: level + 1 });
  edges.push({ from: index, to: first, fromLane: lane, toLane: lane });
  return index;
}

/** Whether the branches that leave at a node belong under this row: the current line has them, else the line they leave. */
function isHost({ isCurrent }: Stretch, { line }: Placed, branches: readonly Stretch[]): boolean {
  return isCurrent || branches.some((branch) => branch.line.from === line);
}

type Foldable = { readonly stretch: Stretch; readonly placed: readonly Placed[]; readonly choice: LaneChoice };

function isOpenRow(key: string, { stretch, placed, choice }: Foldable): boolean {
  const { chosen } = choice;
  if (chosen !== undefined && placed.some((one) => isAt(one, chosen))) return true;
  const isBranch = key.startsWith('b:');
  const isDue = stretch.isCurrent && placed.some(({ step }) => step.state === 'due' || step.state === 'blocked');
  return (isBranch ? choice.isAll : isDue) !== choice.toggled.has(key);
}

function isAt({ line, step }: Placed, chosen: NonNullable<LaneChoice['chosen']>): boolean {
  if (line !== chosen.line) return false;
  return step.nodeId === chosen.nodeId || (step.hung ?? []).some(({ nodeId }) => nodeId === chosen.nodeId);
}

/** Whether a branch of a branch has the chosen row. */
function holdsChosen(
  placed: readonly Placed[],
  branches: ReadonlyMap<string, readonly Stretch[]>,
  choice: LaneChoice,
): boolean {
  const { chosen } = choice;
  if (chosen === undefined) return false;
  return placed.some(({ step, line }) =>
    (branches.get(step.nodeId) ?? []).some(
      (branch) =>
        branch.line.from === line &&
        (branch.placed.some((one) => isAt(one, chosen)) || holdsChosen(branch.placed, branches, choice)),
    ),
  );
}

/** The line where work goes on from the start of the run, and what is left of the others, by the node they leave at. */
function stretchesOf(lines: readonly RunLineData[]): {
  readonly trunk: Stretch | undefined;
  readonly branches: Map<string, readonly Stretch[]>;
} {
  const next = new Map<RunStepData, RunStepData | undefined>();
  for (const { steps } of lines) for (const [i, step] of steps.entries()) next.set(step, steps[i + 1]);
  const path = currentPath(lines);
  const onTrunk = new Set(path.map(({ step }) => step));
  const placed = (line: string, step: RunStepData): Placed => {
    const after = next.get(step);
    return { line, step, doneBy: after?.nodeId, endedAt: after?.startedAt };
  };
  const current = lines.find(({ isCurrent }) => isCurrent) ?? lines[0];
  const branches = new Map<string, readonly Stretch[]>();
  for (const line of lines) {
    const rest = line.steps.filter((step) => !onTrunk.has(step)).map((step) => placed(line.name, step));
    const [first] = rest;
    if (first === undefined) continue;
    const stretch = { line, placed: rest, isCurrent: false };
    branches.set(first.step.nodeId, [...(branches.get(first.step.nodeId) ?? []), stretch]);
  }
  const trunk = current && {
    line: current,
    placed: path.map(({ line, step }) => placed(line, step)),
    isCurrent: true,
  };
  return { trunk, branches };
}

type Group = {
  /** A row for the whole round; absent for steps outside of loops. */
  readonly head?: Extract<LaneRow, { kind: 'round' }>;
  readonly placed: readonly Placed[];
};

/** Steps that belong to one round of a loop are folded together, if the loop has more than one round. */
function roundsOf({ placed }: Stretch, loops: RunPageData['loops']): readonly Group[] {
  const groups: Placed[][] = [];
  const loopOf = ({ step }: Placed) => step.rounds?.[0];
  const name = (one: Placed | undefined) => {
    const at = one && loopOf(one);
    return at === undefined ? '' : `${one?.line} ${at.loopId} ${at.round}`;
  };
  for (const one of placed) {
    const last = groups.at(-1);
    if (last !== undefined && name(last.at(-1)) === name(one)) last.push(one);
    else groups.push([one]);
  }
  const rounds = new Map<string, Set<number>>();
  for (const one of placed) {
    const at = loopOf(one);
    if (at !== undefined) rounds.set(at.loopId, (rounds.get(at.loopId) ?? new Set()).add(at.round));
  }
  return groups.map((group): Group => {
    const [first] = group;
    const at = first && loopOf(first);
    if (first === undefined || at === undefined || (rounds.get(at.loopId)?.size ?? 0) < 2) return { placed: group };
    const { line } = first;
    const times = group.flatMap(({ step, endedAt }) => [step.startedAt, endedAt]).flatMap((time) => time ?? []);
    const head = {
      key: `r:${line}:${first.step.nodeId}`,
      line,
      nodeId: `round-${first.step.nodeId}`,
      lane: 0,
      level: 1,
      kind: 'round' as const,
      title: loops[at.loopId] ?? at.loopId,
      round: at.round,
      steps: group.length,
      tookMs: times.length === 0 ? 0 : Math.max(...times) - Math.min(...times),
    };
    return { head, placed: group };
  });
}

const PAUSE_MS = 30 * 60_000;

/** The longest time within a step in which nothing happened, if that is more than half an hour. */
function idleMs({ step: { startedAt, hung = [] }, endedAt }: StepOfRow): number {
  const times = [startedAt, ...hung.map(({ at }) => at), endedAt].flatMap((time) => time ?? []).sort((a, b) => a - b);
  const longest = Math.max(0, ...times.map((time, i) => time - (times[i - 1] ?? time)));
  return longest >= PAUSE_MS ? longest : 0;
}
