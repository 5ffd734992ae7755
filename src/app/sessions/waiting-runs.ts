import { ok, type Result } from 'neverthrow';
import { type ShownOrigin, shownOrigin } from '../../core/log/origin.ts';
import { nodeOf } from '../../core/views/run-graph.ts';
import { preferredTip } from '../../core/views/run-status.ts';
import type { StoreFailure } from '../ports/store-failure.ts';
import { findWaitingDraft, type WaitingDraft, withPatience } from '../run/answer-gate.ts';
import type { AnswerServices } from '../services.ts';
import { type ListServices, sessionBoard } from './session-board.ts';

/** A draft that waits for a person, with what a person needs to recognise the run. */
export type WaitingRun = {
  readonly waiting: WaitingDraft;
  readonly goal: string | undefined;
  readonly workspace: string | undefined;
  /** When something last happened in its session. */
  readonly at: number | undefined;
  /** Absent for a session that was started here. What a draft of another machine says was written elsewhere. */
  readonly origin: ShownOrigin | undefined;
};

/**
 * Every draft that a person can answer, latest activity first, those that were answered and not used yet too. Only
 * blocked sessions are read.
 */
export async function waitingRuns(
  services: AnswerServices & ListServices,
): Promise<Result<readonly WaitingRun[], StoreFailure>> {
  const board = await sessionBoard(services);
  if (board.isErr()) return board.map(() => []);
  const found: WaitingRun[] = [];
  // A list of many runs does not wait long for each.
  const brief = withPatience(services, 'short');
  for (const { sessionId, state, closed, marks } of board.value.rows) {
    if (state !== 'blocked') continue;
    const loaded = await services.sessions.load(sessionId);
    if (loaded.isErr()) continue;
    const session = loaded.value;
    const { graph, lastAt } = session.view;
    for (const runId of graph.runs.keys()) {
      const tip = preferredTip(graph, runId);
      if (tip === undefined || closed.has(runId)) continue;
      const host = nodeOf(graph, tip.hostNodeId);
      if (host.kind !== 'blocked_attempt') continue;
      const waiting = await findWaitingDraft(brief, session, host.nodeId);
      if (waiting.isErr()) continue;
      const { goal, root } = waiting.value;
      const origin = marks.origin && shownOrigin(marks.origin);
      found.push({ waiting: waiting.value, goal, workspace: root, at: lastAt, origin });
    }
  }
  return ok(found);
}
