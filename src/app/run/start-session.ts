import { err, ok, type Result, safeTry } from 'neverthrow';
import type { Flow } from '../../core/flow.ts';
import { defined } from '../../core/json/json-value.ts';
import { GOAL_BYTES_MAX } from '../../core/log/budgets.ts';
import { changedObservations } from '../../core/log/operation/changed-observations.ts';
import type { GivenReply } from '../../core/log/operation/stored-reply.ts';
import { stepReply } from '../../core/prompt/reply/step-reply.ts';
import { startRun } from '../../core/run/decide/start-run.ts';
import { type FormUnfilled, refuseBlanks } from '../../core/run/form/unfilled.ts';
import { startPreferences } from '../../core/settings/settings-in-effect.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { withAuthor } from '../../core/views/node-facts.ts';
import { SESSION_NOTES } from '../../core/workflow/builtins/builtin-workflows.ts';
import { indexWorkflow } from '../../core/workflow/compiled/workflow-index.ts';
import type { GateRefusal } from '../ports/session-store.ts';
import type { ConfigRefusal, Services } from '../services.ts';
import { appendStart, decisionPlan, giveReply, newNode } from './give-reply.ts';
import { patternsFor } from './run-place.ts';
import { folderBeside, foldersOf, observeStart, rootIn } from './start-place.ts';
import type { StartRefusal } from './start-workflow.ts';

export type StartSessionRequest = { readonly goal: string; readonly workspace?: string | undefined };

export type StartSessionRefusal =
  | Extract<StartRefusal, { code: 'goal_too_large' }>
  | FormUnfilled
  | ConfigRefusal
  | GateRefusal;

/** Starts a session for notes only: a run that is complete from the start, with a token to save notes. */
export async function startSession(
  services: Services,
  request: StartSessionRequest,
): Promise<Result<GivenReply, StartSessionRefusal>> {
  return safeTry(async function* (): Flow<GivenReply, StartSessionRefusal> {
    const goal = request.goal.toWellFormed().trim();
    yield* refuseBlanks({ goal });
    const bytes = utf8Length(goal);
    if (bytes > GOAL_BYTES_MAX) return err({ code: 'goal_too_large', bytes, bytesMax: GOAL_BYTES_MAX });
    const keyring = yield* await services.keyring.open();
    const [{ observed, author }, compilePattern, pinning, defaults] = await Promise.all([
      observeStart(services, request.workspace),
      patternsFor(services, SESSION_NOTES),
      services.pinnedWorkflows.pin(SESSION_NOTES),
      services.defaults(foldersOf(request.workspace)),
    ]);
    const pinned = yield* pinning;
    const preferences = yield* defaults;
    const { sha256, hmacSha256: hmac } = services.hasher;
    const chosen = startPreferences(preferences, { recommended: {}, kind: 'bundled' });
    const facts = {
      context: { goal },
      preferences: chosen.preferences,
      capabilities: {},
      compilePattern,
      source: 'bundled',
    };
    const [sessionId, runId] = [services.ids.session(), services.ids.run()];
    const index = indexWorkflow(SESSION_NOTES);
    const decision = startRun(
      {
        runId,
        isFirstRun: true,
        index,
        pin: pinOf(pinned),
        facts,
        chosenBy: chosen,
        observations: changedObservations({ get: () => undefined }, observed),
        ...defined({ folder: folderBeside(services, request.workspace, rootIn(observed)) }),
      },
      sha256,
    );
    const placement = { sessionId, firstEventIndex: 0, at: services.clock.nowMs(), by: services.by };
    const plan = { ...withAuthor(decisionPlan(decision, placement, sha256), author), pinned: [pinned] };
    return services.sessions.exclusively<GivenReply, StartSessionRefusal>(sessionId, async (current, permit) => {
      // The same call may have been carried out before, without an answer.
      const isStarted = current?.view.graph.runs.has(runId) === true;
      const appended = isStarted ? ok(current) : await appendStart(services, permit, { plan, workflow: SESSION_NOTES });
      if (appended.isErr()) return err(appended.error);
      const { state } = decision.outcome.snapshot.enginePayload;
      const stored = stepReply({ runId, index, state, facts, line: FIRST, lifecycle: 'start', warnings: [], gaps: [] });
      const mint = { keyring, hmac, form: services.tokenForm };
      const reply = giveReply(stored, newNode(sessionId, decision.outcome.nodeId), { view: appended.value.view, mint });
      return ok(withSessionToken(reply));
    });
  });
}

function pinOf(workflowHash: Parameters<typeof startRun>[0]['pin']['workflowHash']) {
  const { workflowId } = SESSION_NOTES;
  return { workflowId, workflowHash, workflowSourceKind: 'bundled', workflowSourceRef: workflowId } as const;
}

/** The root's state token names the whole session. */
function withSessionToken({ structured, ...reply }: GivenReply): GivenReply {
  return { ...reply, structured: { ...structured, sessionToken: structured['stateToken'] ?? null } };
}

const FIRST = { stepNumber: 1, skipped: [] };
