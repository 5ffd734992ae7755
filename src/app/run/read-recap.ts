import { err, ok, type Result, safeTry } from 'neverthrow';
import { assert } from '../../core/assert.ts';
import type { Flow } from '../../core/flow.ts';
import { PROMPT_ARTIFACTS_BYTES_MAX, RECAP_BYTES_MAX, SHOWN_COMMENT_BYTES_MAX } from '../../core/log/budgets.ts';
import { isComplete, pendingStep } from '../../core/log/execution-snapshot.ts';
import type { NodeId } from '../../core/log/ids.ts';
import { artifactText } from '../../core/prompt/artifact-text.ts';
import { recapPart } from '../../core/prompt/reply/reply-sections.ts';
import type {
  BranchPart,
  NotedStep,
  RecapPart,
  ReplyParts,
  ShownArtifact,
  ShownComment,
} from '../../core/prompt/reply-parts.ts';
import { titleWithoutValues } from '../../core/prompt/step/fill-values.ts';
import { truncate, utf8Length } from '../../core/text/utf8.ts';
import type { TokenMint } from '../../core/token/node-token.ts';
import { type AnswerComment, commentsAt, commentsBefore } from '../../core/views/line-checks.ts';
import { currentOutputs } from '../../core/views/node-facts.ts';
import {
  type ArtifactOutput,
  newestArtifacts,
  type Recap,
  type RecapEntry,
  recap,
  recapBelow,
} from '../../core/views/recap.ts';
import { nodeOf, type RunGraph, type RunNode } from '../../core/views/run-graph.ts';
import { preferredTipBelow } from '../../core/views/run-status.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import { capabilityObservation, loopControl } from '../../core/workflow/builtins/run-contracts.ts';
import { stepOf, type WorkflowIndex } from '../../core/workflow/compiled/workflow-index.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { ReadServices } from '../services.ts';
import { artifactKind } from './attempt-facts.ts';
import { stateTokenOf } from './give-reply.ts';

export type RecapRequest = {
  readonly session: LoadedSession;
  readonly mint: TokenMint;
  readonly nodeId: NodeId;
  readonly index: WorkflowIndex;
  /** A smaller limit than usual. */
  readonly recapBytesMax?: number | undefined;
};

/** The work above a node, and the work below it. Both recaps share one budget. */
export type Past = { readonly recap: RecapPart; readonly branch?: BranchPart };

/** What an agent that returns to a node needs to know about the work so far. */
export async function readRecap(services: ReadServices, from: RecapRequest): Promise<Result<Past, StoreFailure>> {
  const { view } = from.session;
  const { recapBytesMax = RECAP_BYTES_MAX } = from;
  const titles = titleReader(services, from);
  const left = leftNode(view.graph, from.nodeId);
  const said = await readComments(view, from.nodeId, { titles, bytesMax: recapBytesMax / 4 });
  if (said.isErr()) return err(said.error);
  const { comments } = said.value;
  const bytesLeft = recapBytesMax - said.value.bytes;
  if (left === undefined) {
    const shown = await readArtifacts(services, from, { titles, bytesMax: recapBytesMax / 4 });
    if (shown.isErr()) return err(shown.error);
    const bytesMax = bytesLeft - shown.value.bytes;
    const above = await titled(recap(view.notes, from.nodeId, bytesMax), { titles, bytesMax });
    const { artifacts } = shown.value;
    return above.map(({ part }) => ({ recap: { ...part, ...filled({ artifacts }), ...filled({ comments }) } }));
  }
  const below = await lookBelow(from, left, titles);
  if (below.isErr()) return err(below.error);
  const bytesMax = bytesLeft - below.value.bytes;
  const above = await titled(recap(view.notes, from.nodeId, bytesMax), { titles, bytesMax });
  return above.map(({ part }) => ({ recap: { ...part, ...filled({ comments }) }, branch: below.value.branch }));
}

/** A list that is only there if it is not empty. */
function filled<Name extends string, Item>(list: { readonly [name in Name]: readonly Item[] }): Partial<typeof list> {
  return Object.values<readonly Item[]>(list).some((items) => items.length > 0) ? list : {};
}

/** The newest comments of people on the line that fit, oldest first. */
async function readComments(
  view: SessionView,
  nodeId: NodeId,
  { titles, bytesMax }: Pick<Shown, 'titles' | 'bytesMax'>,
): Promise<Result<{ readonly comments: readonly ShownComment[]; readonly bytes: number }, StoreFailure>> {
  return safeTry(async function* (): Flow<{ comments: ShownComment[]; bytes: number }, StoreFailure> {
    const comments: ShownComment[] = [];
    let bytes = 0;
    // In most sessions nobody answered anything.
    let id: NodeId | null = view.attestations.size === 0 ? null : nodeId;
    for (; id !== null; id = nodeOf(view.graph, id).parentNodeId) {
      const found = commentsAt(view, id);
      if (found.length === 0) continue;
      const shown = shownComments(found, yield* await titles.noted(id));
      const taken = shown.reduce((sum, { title, text }) => sum + utf8Length(title) + utf8Length(text) + LEAD_BYTES, 0);
      if (bytes + taken > bytesMax) break;
      bytes += taken;
      comments.unshift(...shown);
    }
    return ok({ comments, bytes });
  });
}

/** The size of the heading of a comment besides its title. */
const LEAD_BYTES = 48;
/** More than two people rarely sign one draft. */
const COMMENTS_SHOWN = 2;

function shownComments(comments: readonly AnswerComment[], step: NotedStep): readonly ShownComment[] {
  const title = titleWithoutValues(step.title);
  return comments
    .slice(-COMMENTS_SHOWN)
    .map(({ statement, text }) => ({ title, statement, text: truncate(text, SHOWN_COMMENT_BYTES_MAX) }));
}

type ShownArtifacts = { readonly artifacts: readonly ShownArtifact[]; readonly bytes: number };

/** Short renderings of the newest artifacts on the line that fit, oldest first. */
async function readArtifacts(
  services: ReadServices,
  { session, nodeId }: Pick<RecapRequest, 'session' | 'nodeId'>,
  { titles, bytesMax, isWanted = () => true }: Shown,
): Promise<Result<ShownArtifacts, StoreFailure>> {
  return safeTry(async function* (): Flow<ShownArtifacts, StoreFailure> {
    const artifacts: ShownArtifact[] = [];
    let bytes = 0;
    for (const output of newestArtifacts(session.view.artifacts, nodeId)) {
      const shown = yield* await shownArtifact(services, session.view, { output, titles });
      if (!isWanted(shown)) continue;
      bytes += shownBytes(shown);
      if (bytes > bytesMax) return ok({ artifacts, bytes: Math.min(bytes, bytesMax) });
      artifacts.unshift(shown);
    }
    return ok({ artifacts, bytes });
  });
}

type Shown = {
  readonly titles: TitleReader;
  readonly bytesMax: number;
  readonly isWanted?: (shown: ShownArtifact) => boolean;
};

function shownBytes({ title, kind, text }: ShownArtifact): number {
  return utf8Length(text) + utf8Length(title) + utf8Length(kind) + HEADING_BYTES;
}

/** What was rendered once is not read again: every later reply of a run may show it. */
const rendered = new WeakMap<SessionView, Map<string, ShownArtifact>>();

async function shownArtifact(
  services: ReadServices,
  view: SessionView,
  { output, titles }: { readonly output: ArtifactOutput; readonly titles: TitleReader },
): Promise<Result<ShownArtifact, StoreFailure>> {
  return safeTry(async function* (): Flow<ShownArtifact, StoreFailure> {
    const { outputId, payload } = output.data;
    const known = rendered.get(view) ?? new Map<string, ShownArtifact>();
    rendered.set(view, known);
    const before = known.get(outputId);
    if (before !== undefined) return ok(before);
    const { value } = yield* await services.artifacts.getJson(payload.sha256);
    const { stepId: _, ...step } = yield* await titles.noted(output.scope.nodeId);
    const kind = artifactKind(value) ?? 'unknown';
    const shown = { ...step, title: titleWithoutValues(step.title), kind, text: artifactText(value) };
    known.set(outputId, shown);
    return ok(shown);
  });
}

/** What the run itself acts on is not repeated: its effect is the step that follows. */
const ACTED_ON: readonly string[] = [loopControl.artifactKind, capabilityObservation.artifactKind];

function isResult({ kind }: ShownArtifact): boolean {
  return !ACTED_ON.includes(kind);
}

/**
 * What the prompt after an attempt shows: earlier results, and what a person wrote with the answer that was used. What
 * the attempt itself handed in is not repeated in its reply.
 */
export async function pastForPrompt(
  services: ReadServices,
  from: Pick<RecapRequest, 'session' | 'nodeId' | 'index'> & {
    /** Whether the step was done without the answer that it asks for. */
    readonly isPassed: boolean;
  },
): Promise<Result<Pick<ReplyParts, 'artifacts' | 'comments'>, StoreFailure>> {
  return safeTry(async function* (): Flow<Pick<ReplyParts, 'artifacts' | 'comments'>, StoreFailure> {
    const { view } = from.session;
    const titles = titleReader(services, from);
    const how = { titles, bytesMax: PROMPT_ARTIFACTS_BYTES_MAX, isWanted: isResult };
    const { artifacts } = yield* await readArtifacts(services, from, how);
    const said = from.isPassed ? [] : commentsBefore(view, from.nodeId);
    if (said.length === 0) return ok({ artifacts });
    const step = (yield* await titles.pending(nodeOf(view.graph, from.nodeId))) ?? AFTERWARDS;
    return ok({ artifacts, comments: shownComments(said, step) });
  });
}

/** The node whose step was already done: the node itself, or the one its checkpoint belongs to. */
export function leftNode(graph: RunGraph, nodeId: NodeId): RunNode | undefined {
  const node = nodeOf(graph, nodeId);
  return [node, nodeOf(graph, node.hostNodeId)].find(({ hasStepBelow }) => hasStepBelow);
}

async function lookBelow(
  { session, mint, nodeId, recapBytesMax = RECAP_BYTES_MAX }: RecapRequest,
  left: RunNode,
  titles: TitleReader,
): Promise<Result<{ readonly branch: BranchPart; readonly bytes: number }, StoreFailure>> {
  return safeTry(async function* (): Flow<{ readonly branch: BranchPart; readonly bytes: number }, StoreFailure> {
    const { view, sessionId } = session;
    const { graph, outputs } = view;
    const tip = preferredTipBelow(graph, left.nodeId);
    // The work above comes later in the reply and needs room too.
    const bytesMax = recapBytesMax / 2;
    const below = yield* await titled(recapBelow(view.notes, { tip: tip.nodeId, nodeId, bytesMax }), {
      titles,
      bytesMax,
    });
    const standing = yield* await titles.pending(tip);
    const children = stepsBelow(graph, left).map((child) => {
      const note = currentOutputs(outputs, child.nodeId).find(({ data }) => data.outputChannel === 'recap');
      return { kind: child.kind, summary: firstLine(note?.data) };
    });
    const preferred = {
      stateToken: stateTokenOf({ sessionId, nodeId: tip.nodeId }, { view, mint }),
      stepTitle: standing?.title ?? 'the end',
      isComplete: standing === undefined,
      recap: below.part,
    };
    return ok({ branch: { children, childrenOmitted: 0, preferred }, bytes: below.bytes });
  });
}

/** The steps after a node, newest first, found through blocked attempts and checkpoints. */
function stepsBelow(graph: RunGraph, node: RunNode): readonly RunNode[] {
  const steps: RunNode[] = [];
  const leading = [node];
  // The list grows while it is iterated: attempts and checkpoints add their children.
  for (const { children } of leading) {
    for (const child of children.map((childId) => nodeOf(graph, childId))) {
      (child.kind === 'step' ? steps : leading).push(child);
    }
  }
  return steps.sort((a, b) => b.createdIndex - a.createdIndex);
}

type TitleReader = {
  /** The pending step of a node. */
  readonly pending: (node: RunNode) => Promise<Result<NotedStep | undefined, StoreFailure>>;
  /** The step that the notes of a node were written for: the step that was pending before. */
  readonly noted: (nodeId: NodeId) => Promise<Result<NotedStep, StoreFailure>>;
};

function titleReader(services: ReadServices, { session, index }: Pick<RecapRequest, 'session' | 'index'>): TitleReader {
  const { graph } = session.view;
  const pending: TitleReader['pending'] = async (node) => {
    const snapshot = await services.snapshots.get(node.snapshotRef);
    return snapshot.map((found) => {
      if (isComplete(found)) return undefined;
      const stepId = pendingStep(found)?.stepId;
      return stepId === undefined ? BEGINNING : { stepId, title: stepOf(index, stepId).title };
    });
  };
  return {
    pending,
    noted: async (nodeId) => {
      const node = nodeOf(graph, nodeId);
      const before = node.parentNodeId === null ? node : nodeOf(graph, node.parentNodeId);
      return (await pending(before)).map((step = AFTERWARDS) =>
        node.kind === 'checkpoint' && step.stepId !== undefined ? { ...step, isSaved: true as const } : step,
      );
    },
  };
}

/** Titles for notes before the first step and after the last. */
const BEGINNING: NotedStep = { title: 'Before the first step' };
const AFTERWARDS: NotedStep = { title: 'After the last step' };

/** As many of the newest entries as fit with their headings, and their size. */
async function titled(
  { entries, olderLeftOut }: Recap,
  { titles, bytesMax }: { readonly titles: TitleReader; readonly bytesMax: number },
): Promise<Result<{ readonly part: RecapPart; readonly bytes: number }, StoreFailure>> {
  const kept: RecapEntry[] = [];
  const steps = new Map<NodeId, NotedStep>();
  let bytes = 0;
  for (const entry of entries.toReversed()) {
    const step = await titles.noted(entry.nodeId);
    if (step.isErr()) return err(step.error);
    const taken = utf8Length(entry.text) + utf8Length(step.value.title) + HEADING_BYTES;
    // A single entry was already cut to the budget, so its heading must not remove it.
    if (bytes + taken > bytesMax && kept.length > 0) break;
    bytes += taken;
    steps.set(entry.nodeId, step.value);
    kept.unshift(entry);
  }
  const fitting = { entries: kept, olderLeftOut: olderLeftOut + entries.length - kept.length };
  const part = recapPart(fitting, (nodeId) => {
    const step = steps.get(nodeId);
    assert(step !== undefined, 'every note of a recap was looked up');
    return step;
  });
  return ok({ part, bytes: Math.min(bytes, bytesMax) });
}

/** The size of a heading besides its title: its words, its mark and the empty line before it. */
const HEADING_BYTES = 8;

function firstLine(data: ReturnType<typeof currentOutputs>[number]['data'] | undefined): string {
  if (data?.outputChannel !== 'recap') return 'without notes';
  return data.payload.notesMarkdown.trim().split('\n')[0] ?? '';
}
