import { assert } from '../assert.ts';
import { defined, isObject } from '../json/json-value.ts';
import type { Blocker, BlockerReport } from '../log/blockers.ts';
import { GOAL_SUMMARY_BYTES_MAX, SEARCHED_CHECKPOINTS_BYTES_MAX } from '../log/budgets.ts';
import type { ExecutionSnapshot } from '../log/execution-snapshot.ts';
import type { NodeId, RunId, SessionId, SnapshotRef, StepId, WorkflowHash, WorkflowId } from '../log/ids.ts';
import { stepsAhead } from '../run/walk/next-step.ts';
import { textTokens, wordCodes } from '../text/search-words.ts';
import { clip, truncate, utf8Length } from '../text/utf8.ts';
import { type Attestation, answerTo, unusedAnswers } from '../views/attestations.ts';
import { contextAt, contextValueAt } from '../views/lineage.ts';
import { authorIn, currentObservation, currentOutput, openGaps } from '../views/node-facts.ts';
import { checkpointNotes, type Note } from '../views/recap.ts';
import { nodeOf, type Run, type RunGraph, type RunNode } from '../views/run-graph.ts';
import {
  blockersAt,
  branchCount,
  preferredTip,
  type RunStatus,
  runStatus,
  type StatusSources,
} from '../views/run-status.ts';
import type { SessionView } from '../views/session-view.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';
import { indexWorkflow, usesPatterns } from '../workflow/compiled/workflow-index.ts';
import type { CompilePattern } from '../workflow/pattern.ts';
import { type DuePlace, duePlace } from './due-step.ts';
import { waitsForPerson } from './session-state.ts';

/** What a session is about, small enough to keep one for every session there is. */
export type SessionSummary = {
  readonly sessionId: SessionId;
  readonly lastEventIndex: number;
  /** When it was last written to, if its events have times. */
  readonly lastAt?: number;
  /** The identity in the git settings, as claimed. */
  readonly author?: string;
  /** What was last seen of the workspace. */
  readonly observed: { readonly [key in SummedObservation]?: string };
  /** In the order in which they were started. */
  readonly runs: readonly RunSummary[];
};

/** What tells one workspace from another. */
const SUMMED_OBSERVATIONS = ['git_branch', 'git_head_sha', 'repo_root', 'repo_remote'] as const;
type SummedObservation = (typeof SUMMED_OBSERVATIONS)[number];

export type RunSummary = {
  readonly runId: RunId;
  readonly workflowId: WorkflowId;
  readonly workflowHash: WorkflowHash;
  /** Absent if the workflow cannot be read; then the title of a step is its id. */
  readonly workflowName?: string;
  /** How many steps the workflow has, in loops too. */
  readonly stepsTotal?: number;
  readonly status: RunStatus;
  readonly goal?: string;
  readonly startedAt?: number;
  /** Who was signed in when it was started; only a team server knows. */
  readonly owner?: string;
  readonly tip: NodeId;
  readonly place: SummedPlace;
  /** The last event on the line of the preferred tip. */
  readonly lastActivityIndex: number;
  readonly branchCount: number;
  /** Checkpoints on all lines. */
  readonly checkpoints: number;
  /** Blocked attempts at the step that is due. */
  readonly attempts: number;
  /** The first thing that blocks the last of them. */
  readonly blocker?: Pick<Blocker, 'code' | 'message'>;
  /** Only a person can provide what blocks it, and none has answered. */
  readonly waitsForPerson: boolean;
  readonly openGaps: number;
  /** The first line of the newest note. */
  readonly note?: string;
  /** The words of the goal and of the notes that search looks at, as codes: a match must be checked against the texts. */
  readonly wordCodes: string;
};

/** What is due at the preferred tip. */
export type SummedPlace =
  | { readonly kind: 'step'; readonly stepId: StepId; readonly title: string; readonly position?: SummedPosition }
  | { readonly kind: Exclude<DuePlace['kind'], 'step'> };

/** Counted along the line of the run; `of` only once nothing ahead is undecided. */
type SummedPosition = { readonly index: number; readonly of?: number };

export type SummarySources = StatusSources & {
  /** `undefined` if the workflow cannot be read. */
  readonly workflowOf: (hash: WorkflowHash) => CompiledWorkflow | undefined;
};

/** Summarises a session that has events, without reading its history again. */
export function summarise(sessionId: SessionId, view: SessionView, sources: SummarySources): SessionSummary {
  assert(view.nextEventIndex > 0, `${sessionId} has no events`);
  return {
    sessionId,
    lastEventIndex: view.nextEventIndex - 1,
    ...(view.lastAt === undefined ? {} : { lastAt: view.lastAt }),
    ...defined({ author: authorIn(view.observations) }),
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
    SUMMED_OBSERVATIONS.flatMap((key) => {
      const current = currentObservation(observations, key);
      return current === undefined ? [] : [[key, current.data.value.value]];
    }),
  );
}

/** These texts only have to be recognised. */
const LINE_BYTES_MAX = 80;

function summariseRun(view: SessionView, { run, tip }: RunAtTip, sources: SummarySources): RunSummary {
  const { runId, pinned } = run;
  const goal = run.rootNodeId === undefined ? undefined : contextValueAt(view.context, run.rootNodeId, 'goal');
  const shortGoal = typeof goal === 'string' ? truncate(goal, GOAL_SUMMARY_BYTES_MAX) : undefined;
  const workflow = sources.workflowOf(pinned.workflowHash);
  const { attempts, blockers, answer } = blockAbove(view, tip);
  const [blocker] = blockers;
  const status = runStatus(view, runId, sources);
  const notes = searchedNotes(view, tip);
  return {
    runId,
    workflowId: pinned.workflowId,
    workflowHash: pinned.workflowHash,
    ...defined({
      workflowName: workflow?.name,
      stepsTotal: workflow?.steps.length,
      goal: shortGoal,
      startedAt: run.startedAt,
      owner: run.owner,
    }),
    status,
    tip: tip.nodeId,
    place: placeAt(view, tip, { snapshot: sources.snapshotOf(tip.snapshotRef), workflow }),
    lastActivityIndex: lastActivityIndex(view.graph, run),
    branchCount: branchCount(view.graph, runId),
    checkpoints: run.checkpoints,
    attempts,
    ...defined({
      blocker: blocker && { code: blocker.code, message: clip(blocker.message, LINE_BYTES_MAX) },
      note: firstLine(newestOf(notes)),
    }),
    waitsForPerson: status === 'blocked' && waitsForPerson(blockers) && answer === undefined,
    openGaps: openGaps(view.gaps, tip.nodeId).length,
    wordCodes: wordCodes(textTokens([shortGoal ?? '', ...notes.map(textOf)].join('\n'))),
  };
}

type Standing = { readonly snapshot: ExecutionSnapshot; readonly workflow: CompiledWorkflow | undefined };

function placeAt(view: SessionView, tip: RunNode, { snapshot, workflow }: Standing): SummedPlace {
  const contextOf = () => contextAt(view.context, tip.nodeId);
  const due = duePlace(snapshot, { workflow, contextOf, stepNumber: tip.stepNumber });
  if (due.kind !== 'step') return { kind: due.kind };
  const { kind, stepId, title, position: index } = due;
  const of = workflow === undefined ? undefined : lineLength(tip, { snapshot, workflow, contextOf });
  const position = index === undefined ? undefined : { index, ...defined({ of }) };
  return { kind, stepId, title: clip(title, LINE_BYTES_MAX), ...defined({ position }) };
}

type Ahead = {
  readonly snapshot: ExecutionSnapshot;
  readonly workflow: CompiledWorkflow;
  readonly contextOf: () => ReturnType<typeof contextAt>;
};

/** How many steps the line will have; unknown where a pattern decides, because the engine for those is not loaded here. */
function lineLength({ stepNumber }: RunNode, { snapshot, workflow, contextOf }: Ahead): number | undefined {
  const { state } = snapshot.enginePayload;
  if (state.kind !== 'running' || usesPatterns(workflow)) return undefined;
  const { entries } = workflow;
  if (isStraight(workflow)) return stepNumber + entries.length - state.cursor - 1;
  const facts = { context: contextOf(), compilePattern: noPatterns };
  const ahead = stepsAhead(indexWorkflow(workflow), state, facts);
  return ahead === undefined ? undefined : stepNumber + ahead;
}

const straight = new WeakMap<CompiledWorkflow, boolean>();

/** Whether a workflow is a list of steps that are all done. Looking ahead in it would only count them. */
function isStraight(workflow: CompiledWorkflow): boolean {
  const known = straight.get(workflow);
  if (known !== undefined) return known;
  const isPlain =
    workflow.entries.every(({ kind, guards = [] }) => kind === 'step' && guards.length === 0) &&
    workflow.steps.every(({ runCondition }) => runCondition === undefined);
  straight.set(workflow, isPlain);
  return isPlain;
}

const noPatterns: CompilePattern = (pattern) => {
  assert(false, `a workflow without patterns asks for "${pattern}"`);
};

/** The blocked attempts right above a tip, the blockers of the last one, and what a person answered about it. */
export function blockAbove(
  view: SessionView,
  tip: RunNode,
): {
  readonly attempts: number;
  readonly blockers: BlockerReport;
  /** The step that is due, and the last attempt at it. */
  readonly step: RunNode;
  readonly last: RunNode | undefined;
  /** The agent has not continued since. */
  readonly answer: Attestation['data'] | undefined;
} {
  let attempts = 0;
  let last: RunNode | undefined;
  let at = tip;
  for (; at.kind !== 'step' && at.parentNodeId !== null; at = nodeOf(view.graph, at.parentNodeId)) {
    if (at.kind !== 'blocked_attempt') continue;
    attempts += 1;
    last ??= at;
  }
  const blockers = last === undefined ? [] : blockersAt(view, last.nodeId);
  return { attempts, blockers, step: at, last, answer: answerOf(view, at, blockers) };
}

function answerOf(view: SessionView, step: RunNode, blockers: BlockerReport): Attestation['data'] | undefined {
  const approval = blockers.map(({ details }) => details?.['approval']).find(isObject) as
    | { digest?: string }
    | undefined;
  if (approval?.digest === undefined) return undefined;
  return answerTo(unusedAnswers(view, step.nodeId), approval.digest)?.data;
}

function newestOf(notes: readonly Note[]): Note | undefined {
  return notes.reduce<Note | undefined>((a, b) => (a === undefined || b.eventIndex > a.eventIndex ? b : a), undefined);
}

function firstLine(note: Note | undefined): string | undefined {
  const line = note && textOf(note).trimStart().split('\n', 1)[0]?.trim();
  return line === undefined || line === '' ? undefined : clip(line, LINE_BYTES_MAX);
}

/** The preferred tip is at or below the node with the latest activity, so that activity is the last on its line. */
export function lastActivityIndex(graph: RunGraph, { lastTouchedNodeId, startedIndex }: Run): number {
  return lastTouchedNodeId === undefined ? startedIndex : nodeOf(graph, lastTouchedNodeId).touchedIndex;
}

/** The current note of the tip's step, then the newest notes of checkpoints on its line. */
export function searchedText(view: SessionView, tip: RunNode): string {
  return searchedNotes(view, tip).map(textOf).join('\n');
}

function searchedNotes(view: SessionView, tip: RunNode): readonly Note[] {
  const ofStep = currentOutput(view.outputs, stepOf(view.graph, tip).nodeId, 'recap');
  const notes = ofStep?.data.outputChannel === 'recap' ? [ofStep as Note] : [];
  let bytesLeft = SEARCHED_CHECKPOINTS_BYTES_MAX;
  const ofCheckpoints = checkpointNotes(view.notes, tip.nodeId, (note) => {
    bytesLeft -= utf8Length(textOf(note));
    return bytesLeft >= 0;
  });
  return [...notes, ...ofCheckpoints];
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
