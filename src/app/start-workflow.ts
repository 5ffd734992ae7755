import { err, ok, type Result } from 'neverthrow';
import { unreachable } from '../core/assert.ts';
import type { GivenReply } from '../core/log/operation/stored-reply.ts';
import { PRESETS } from '../core/log/preferences.ts';
import { stepReply } from '../core/prompt/step-reply.ts';
import { startRun } from '../core/run/start-run.ts';
import { unsupportedParts } from '../core/run/unsupported-parts.ts';
import { FIRST_ATTEMPT } from '../core/token/attempt.ts';
import { sourceHash } from '../core/workflow/drift.ts';
import { appendStart } from './append-plan.ts';
import { type Catalog, findWorkflow, type InvalidFile, type ListedWorkflow } from './catalog/catalog.ts';
import { giveReply } from './give-reply.ts';
import { planOf } from './plan-of.ts';
import type { GateRefusal } from './ports/session-store.ts';
import type { StoreFailure } from './ports/store-failure.ts';
import type { Services } from './services.ts';

export type StartRefusal =
  | { readonly code: 'workflow_not_found'; readonly workflowId: string; readonly known: readonly string[] }
  | { readonly code: 'workflow_invalid'; readonly workflowId: string; readonly invalid: InvalidFile }
  | { readonly code: 'workflow_unsupported'; readonly workflowId: string; readonly parts: readonly string[] }
  | GateRefusal;

export type StartRequest = { readonly workflowId: string; readonly workspacePath?: string | undefined };

/** Opens a new session with one run of a workflow and gives its first step. */
export async function startWorkflow(
  services: Services,
  request: StartRequest,
): Promise<Result<GivenReply, StartRefusal>> {
  const found = await find(services, request);
  if (found.isErr()) return err(found.error);
  const { workflow, file, origin } = found.value;

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
    sourceHash: sourceHash(origin, services.hasher.sha256),
  };
  const decision = startRun({ runId, workflow, pin, preferences }, services.hasher.sha256);
  const placement = { sessionId, firstEventIndex: 0, at: services.clock.nowMs() };
  const plan = { ...planOf(decision, placement, services.hasher.sha256), pinned: [workflowHash] };
  const appended = await services.sessions.exclusively(sessionId, (_, permit) =>
    appendStart(services, permit, { plan, workflow }),
  );

  return appended.map(({ view }) => {
    const { state } = decision.snapshot.enginePayload;
    const reply = stepReply({ runId, workflow, state, preferences, warnings: [] });
    return giveReply(reply, { sessionId, nodeId: decision.nodeId, attemptId: FIRST_ATTEMPT }, { view, mint });
  });
}

async function find(services: Services, request: StartRequest): Promise<Result<ListedWorkflow, StartRefusal>> {
  const { workflowId } = request;
  const catalog = await services.catalog.list(request.workspacePath);
  const found = findWorkflow(catalog, workflowId);
  switch (found.kind) {
    case 'unknown':
      return err({ code: 'workflow_not_found', workflowId, known: runnableIds(catalog) });
    case 'invalid':
      return err({ code: 'workflow_invalid', workflowId, invalid: found.invalid });
    case 'found': {
      const parts = unsupportedParts(found.listed.workflow);
      return parts.length === 0 ? ok(found.listed) : err({ code: 'workflow_unsupported', workflowId, parts });
    }
    default:
      return unreachable(found);
  }
}

function runnableIds({ workflows }: Catalog): readonly string[] {
  return workflows.filter(({ workflow }) => unsupportedParts(workflow).length === 0).map(({ id }) => id);
}

async function prepare(services: Services, { workflow }: ListedWorkflow) {
  const keyring = await services.keyring.open();
  if (keyring.isErr()) return err<never, StoreFailure>(keyring.error);
  const mint = { keyring: keyring.value, hmac: services.hasher.hmacSha256, form: services.tokenForm };
  const pinned = await services.pinnedWorkflows.pin(workflow);
  return pinned.map((workflowHash) => ({ mint, workflowHash }));
}
