import { err, ok, type Result } from 'neverthrow';
import { assert } from '../core/assert.ts';
import type { Sha256Digest } from '../core/json/canonical-bytes.ts';
import { NOTE_BYTES_MAX } from '../core/log/budgets.ts';
import { isComplete } from '../core/log/execution-snapshot.ts';
import { requestDigest } from '../core/log/operation/request-digest.ts';
import type { GivenReply } from '../core/log/operation/stored-reply.ts';
import { type ReplyWarning, stepReply } from '../core/prompt/step-reply.ts';
import { advanceRun } from '../core/run/advance-run.ts';
import type { TokenRefusal } from '../core/token/token-refusal.ts';
import { checkTokenPair, type TokenTarget } from '../core/token/token-scope.ts';
import { type AdvanceRecord, advanceOutcome } from '../core/views/advance-outcomes.ts';
import { nodeOf } from '../core/views/run-graph.ts';
import { appendPlan } from './append-plan.ts';
import { findNode, sessionGone } from './find-node.ts';
import { planOf } from './plan-of.ts';
import type { AppendPermit, GateRefusal, LoadedSession } from './ports/session-store.ts';
import type { StoreFailure } from './ports/store-failure.ts';
import { readPlace } from './read-place.ts';
import { replay } from './replay.ts';
import type { Services } from './services.ts';

export type AdvanceRequest = {
  readonly ackToken: string;
  /** Not needed; when it is sent it must name the same node. */
  readonly stateToken?: string | undefined;
  readonly notesMarkdown?: string | undefined;
};

export type AdvanceRefusal =
  | { readonly code: 'run_complete'; readonly tag: string; readonly workflowId: string }
  | TokenRefusal
  | GateRefusal;

/** Takes the step of a node as done, once: the same token again gives the same reply and changes nothing. */
export async function advance(
  services: Services,
  request: AdvanceRequest,
): Promise<Result<GivenReply, AdvanceRefusal>> {
  const found = await findNode(services, { text: request.ackToken, slot: 'ackToken' });
  if (found.isErr()) return err(found.error);
  const { target, keys } = found.value;
  const pair = await checkPair(services, target, request.stateToken);
  if (pair.isErr()) return err(pair.error);
  const mint = { ...keys, form: services.tokenForm };
  // What is recorded never changes, so a replay found here needs no lock, unless the record may yet be lost.
  const known = recordOf(found.value.session, target);
  if (known !== undefined && services.sessions.isDurable(target.sessionId, known.eventIndex)) {
    return replay(services, { session: found.value.session, record: known, mint });
  }

  const recorded = await services.sessions.exclusively(
    target.sessionId,
    async (current, permit) => {
      if (current === undefined) return err(sessionGone(target.sessionId));
      return recordOf(current, target) === undefined
        ? record(services, { request, target, current, permit })
        : ok(current);
    },
    { mustExist: true },
  );
  if (recorded.isErr()) return err(recorded.error);
  const made = recordOf(recorded.value, target);
  assert(made !== undefined, 'what was appended is recorded');
  return replay(services, { session: recorded.value, record: made, mint });
}

async function checkPair(
  services: Services,
  target: TokenTarget,
  stateToken: string | undefined,
): Promise<Result<void, TokenRefusal | StoreFailure>> {
  if (stateToken === undefined) return ok(undefined);
  const state = await findNode(services, { text: stateToken, slot: 'stateToken' });
  if (state.isErr()) return err(state.error);
  return checkTokenPair(state.value.target, target).map(() => undefined);
}

const NOTE_CUT: ReplyWarning = {
  code: 'note_cut',
  message: `Your notes were longer than ${NOTE_BYTES_MAX} bytes; only the beginning is kept. Write less, or hand in the rest with the next step.`,
};

type Recording = {
  readonly request: AdvanceRequest;
  readonly target: TokenTarget;
  readonly current: LoadedSession;
  readonly permit: AppendPermit;
};

async function record(services: Services, work: Recording): Promise<Result<LoadedSession, AdvanceRefusal>> {
  const { target, current, permit } = work;
  assert(target.kind === 'ack', 'only an ack token advances');
  const place = await readPlace(services, current, target);
  if (place.isErr()) return err(place.error);
  const { workflow, snapshot, preferences } = place.value;
  if (isComplete(snapshot)) return err({ code: 'run_complete', tag: target.tag, workflowId: target.workflowId });

  const { sha256 } = services.hasher;
  const { graph, nextEventIndex } = current.view;
  const decision = advanceRun(
    {
      runId: target.runId,
      attempt: { nodeId: target.nodeId, attemptId: target.attemptId, operation: 'advance' },
      workflow,
      at: snapshot,
      hasStepBelow: nodeOf(graph, target.nodeId).hasStepBelow,
      output: { notesMarkdown: work.request.notesMarkdown, artifacts: [] },
      requestDigest: digestOf(services, work.request),
      reply: ({ enginePayload }, { isNoteCut }) =>
        stepReply({
          runId: target.runId,
          workflow,
          state: enginePayload.state,
          preferences,
          warnings: isNoteCut ? [NOTE_CUT] : [],
        }),
    },
    sha256,
  );
  const placement = { sessionId: target.sessionId, firstEventIndex: nextEventIndex, at: services.clock.nowMs() };
  return appendPlan(services.sessions, permit, planOf(decision, placement, sha256));
}

function recordOf({ view }: LoadedSession, target: TokenTarget): AdvanceRecord | undefined {
  assert(target.kind === 'ack', 'only an ack token advances');
  return advanceOutcome(view.advances, target.nodeId, target.attemptId);
}

/** Tells an honest replay from one with something new in it. */
function digestOf(services: Services, { notesMarkdown }: AdvanceRequest): Sha256Digest {
  const output = notesMarkdown === undefined ? {} : { notesMarkdown: notesMarkdown.toWellFormed() };
  const digest = requestDigest({ output }, services.hasher.sha256);
  assert(digest.isOk(), 'a parsed request is JSON');
  return digest.value;
}
