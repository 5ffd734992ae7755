import { err, ok, type Result } from 'neverthrow';
import type { Sha256 } from '../../core/json/canonical-json.ts';
import { placeEvents } from '../../core/log/event.ts';
import type { NodeId, OutputId } from '../../core/log/ids.ts';
import { type Attempt, outputDrafts, outputId } from '../../core/log/operation/operation-drafts.ts';
import { checkAttempt } from '../../core/run/decide/judge-attempt.ts';
import type { TokenTarget } from '../../core/token/node-token.ts';
import type { TokenRefusal } from '../../core/token/token-refusal.ts';
import { wasAnswered } from '../../core/views/line-checks.ts';
import { currentOutput, type NodeOutput, outputHistory } from '../../core/views/node-facts.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import type { SessionView } from '../../core/views/session-view.ts';
import type { AppendPermit, LoadedSession } from '../ports/session-store.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import type { Services } from '../services.ts';
import { appendPlan } from './give-reply.ts';
import { type FoundNode, runPlace, targetOf } from './run-place.ts';

/**
 * There is no note to replace, the step that has it was not accepted yet, the run continued from it, so that later steps
 * rest on it, a person's answer is about it, or the new notes lack what the step required of them.
 */
export type NotesNotReplaceable = {
  readonly code: 'notes_not_replaceable';
  readonly reason: 'no_notes' | 'still_a_draft' | 'run_continued' | 'answered' | 'notes_lacking';
  /** What the new notes lack. */
  readonly lacking?: readonly string[];
  readonly tag: string;
  readonly workflowId: string;
};

/** A checkpoint whose notes may correct those of a finished step. */
export type Correction = {
  readonly found: FoundNode;
  readonly attempt: Attempt;
  readonly notesMarkdown: string | undefined;
};

/**
 * Appends the corrected note to the node of the note that it replaces: only there can it supersede it. It comes before
 * the checkpoint's own node, so that a call that was cut off in between is completed by sending it again.
 */
export async function correctNotes(
  services: Services,
  kept: Correction,
  { current, permit }: { readonly current: LoadedSession; readonly permit: AppendPermit },
): Promise<Result<LoadedSession, NotesNotReplaceable | TokenRefusal | StoreFailure>> {
  const { view, sessionId } = current;
  const { sha256 } = services.hasher;
  const { target } = kept.found;
  if (correctionOf(view, kept, sha256) !== undefined) return ok(current);
  const replaced = replacedNote(view, target);
  if (replaced.isErr()) return err(replaced.error);
  const { nodeId, outputId: supersedesOutputId } = replaced.value;
  const lacking = await lackingIn(services, kept, { current, nodeId });
  if (lacking.isErr()) return err(lacking.error);
  const place = { attempt: kept.attempt, created: { runId: target.runId, nodeId } };
  const { drafts } = outputDrafts({ notesMarkdown: kept.notesMarkdown, artifacts: [] }, place, sha256);
  const superseding = drafts.map(({ data, ...draft }) => ({ ...draft, data: { ...data, supersedesOutputId } }));
  const when = { at: services.clock.nowMs(), by: services.by };
  const events = placeEvents(superseding, { sessionId, firstEventIndex: view.nextEventIndex, ...when }, sha256);
  return appendPlan(services.sessions, permit, { sessionId, events, snapshots: new Map(), artifacts: new Map() });
}

/**
 * Refuses notes that lack what the finished step required of its notes and what they replace has. What the step was done
 * without, with a gap, may stay away.
 */
async function lackingIn(
  services: Services,
  { notesMarkdown, found: { target } }: Correction,
  { current, nodeId }: { readonly current: LoadedSession; readonly nodeId: NodeId },
): Promise<Result<void, NotesNotReplaceable | TokenRefusal | StoreFailure>> {
  const { kind, parentNodeId } = nodeOf(current.view.graph, nodeId);
  if (kind !== 'step' || parentNodeId === null) return ok(undefined);
  const before = await runPlace(services, current, targetOf(current, parentNodeId));
  const after = await runPlace(services, current, targetOf(current, nodeId));
  if (before.isErr()) return err(before.error);
  if (after.isErr()) return err(after.error);
  const { index, snapshot, facts } = before.value;
  // The step may have set the values that its rules read.
  const withOwn = { ...facts, context: after.value.facts.context };
  const lackingOf = (text: string | undefined) => {
    const handedIn = { notesMarkdown: text, artifacts: [] };
    const { unmet } = checkAttempt({ index, at: snapshot, facts: withOwn, handedIn, drafts: [], isRetry: false });
    return unmet.filter(({ requirement }) => /^(?:criteria|accounts):/.test(requirement));
  };
  const replaced = currentOutput(current.view.outputs, nodeId, 'recap')?.data.payload;
  const text = replaced?.payloadKind === 'notes' ? replaced.notesMarkdown : undefined;
  const lackedBefore = lackingOf(text).map(({ requirement }) => requirement);
  const lacking = lackingOf(notesMarkdown).filter(({ requirement }) => !lackedBefore.includes(requirement));
  if (lacking.length === 0) return ok(undefined);
  const { tag, workflowId } = target;
  const messages = lacking.map(({ message }) => message);
  return err({ code: 'notes_not_replaceable', reason: 'notes_lacking', lacking: messages, tag, workflowId });
}

/** The correction that a checkpoint recorded. It hangs on the node whose note it replaced. */
export function correctionOf(
  { outputs }: SessionView,
  { attempt }: Correction,
  sha256: Sha256,
): NodeOutput | undefined {
  const id = outputId(attempt, { payloadKind: 'notes', place: 0 }, sha256);
  const at = outputs.known.get(id)?.nodeId;
  const found = at && outputHistory(outputs, at).find(({ output }) => output.data.outputId === id)?.output;
  return found?.data.supersedesOutputId === undefined ? undefined : found;
}

/** The note that a correction replaces: that of this checkpoint, or else of the step that was done last. */
function replacedNote(
  view: SessionView,
  { nodeId, tag, workflowId }: TokenTarget,
): Result<{ readonly nodeId: NodeId; readonly outputId: OutputId }, NotesNotReplaceable> {
  const refused = (reason: NotesNotReplaceable['reason']) =>
    err<never, NotesNotReplaceable>({ code: 'notes_not_replaceable', reason, tag, workflowId });
  const { graph, outputs } = view;
  for (let node = nodeOf(graph, nodeId); ; node = nodeOf(graph, node.parentNodeId)) {
    if (node.kind === 'blocked_attempt') return refused('still_a_draft');
    const note = currentOutput(outputs, node.nodeId, 'recap');
    if (note !== undefined) {
      if (node.hasStepBelow) return refused('run_continued');
      if (wasAnswered(view, node.nodeId)) return refused('answered');
      return ok({ nodeId: node.nodeId, outputId: note.data.outputId });
    }
    if (node.kind === 'step' || node.parentNodeId === null) return refused('no_notes');
  }
}
