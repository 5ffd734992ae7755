import { err, ok, type Result } from 'neverthrow';
import type { WorkflowId } from '../core/log/ids.ts';
import type { GivenReply } from '../core/log/operation/stored-reply.ts';
import { PRESETS } from '../core/log/preferences.ts';
import { stepReply } from '../core/prompt/step-reply.ts';
import { startRun } from '../core/run/start-run.ts';
import { FIRST_ATTEMPT } from '../core/token/attempt.ts';
import { appendPlan } from './append-plan.ts';
import { giveReply } from './give-reply.ts';
import { type BrokenWorkflow, type FoundWorkflow, listWorkflows } from './list-workflows.ts';
import { planOf } from './plan-of.ts';
import type { GateRefusal } from './ports/session-store.ts';
import type { StoreFailure } from './ports/store-failure.ts';
import type { Services } from './services.ts';

export type StartRefusal =
  | { readonly code: 'workflow_not_found'; readonly workflowId: string; readonly known: readonly WorkflowId[] }
  | { readonly code: 'workflow_invalid'; readonly workflowId: string; readonly broken: BrokenWorkflow }
  | GateRefusal;

/** Opens a new session with one run of a workflow and gives its first step. */
export async function startWorkflow(
  services: Services,
  request: { readonly workflowId: string },
): Promise<Result<GivenReply, StartRefusal>> {
  const found = await findWorkflow(services, request.workflowId);
  if (found.isErr()) return err(found.error);
  const { workflow, file } = found.value;

  const prepared = await prepare(services, found.value);
  if (prepared.isErr()) return err(prepared.error);
  const { mint, workflowHash } = prepared.value;

  const sessionId = services.ids.session();
  const runId = services.ids.run();
  const preferences = PRESETS.guided;
  const pin = {
    workflowId: workflow.workflowId,
    workflowHash,
    workflowSourceKind: file.kind,
    workflowSourceRef: file.ref,
  };
  const decision = startRun({ runId, workflow, pin, preferences }, services.hasher.sha256);
  const placement = { sessionId, firstEventIndex: 0, at: services.clock.nowMs() };
  const plan = planOf(decision, placement, services.hasher.sha256);
  const appended = await services.sessions.exclusively(sessionId, (_, permit) =>
    appendPlan(services.sessions, permit, plan),
  );

  return appended.map(({ view }) => {
    const { state } = decision.snapshot.enginePayload;
    const reply = stepReply({ runId, workflow, state, preferences, warnings: [] });
    return giveReply(reply, { sessionId, nodeId: decision.nodeId, attemptId: FIRST_ATTEMPT }, { view, mint });
  });
}

async function findWorkflow(services: Services, workflowId: string): Promise<Result<FoundWorkflow, StartRefusal>> {
  const { workflows, broken } = await listWorkflows(services.workflows);
  const found = workflows.find(({ workflow }) => workflow.workflowId === workflowId);
  if (found !== undefined) return ok(found);
  const brokenFile = broken.find(({ file }) => claimedId(file.content) === workflowId);
  if (brokenFile !== undefined) return err({ code: 'workflow_invalid', workflowId, broken: brokenFile });
  const known = workflows.map(({ workflow }) => workflow.workflowId);
  return err({ code: 'workflow_not_found', workflowId, known });
}

/** The id that a file which cannot be compiled would have had. */
function claimedId(content: unknown): unknown {
  return typeof content === 'object' && content !== null && 'id' in content ? content.id : undefined;
}

async function prepare(services: Services, { workflow }: FoundWorkflow) {
  const keyring = await services.keyring.open();
  if (keyring.isErr()) return err<never, StoreFailure>(keyring.error);
  const mint = { keyring: keyring.value, hmac: services.hasher.hmacSha256, form: services.tokenForm };
  const pinned = await services.pinnedWorkflows.pin(workflow);
  return pinned.map((workflowHash) => ({ mint, workflowHash }));
}
