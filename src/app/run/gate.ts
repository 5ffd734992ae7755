import type { JsonObject } from '../../core/json/json-value.ts';
import { pendingStep } from '../../core/log/execution-snapshot.ts';
import { type BoundWorkspace, type GateFacts, strongestAssurance } from '../../core/run/gate-facts.ts';
import type { TokenTarget } from '../../core/token/token-scope.ts';
import { unusedAnswers } from '../../core/views/attestations.ts';
import { contextAt, isKeyFromPerson } from '../../core/views/context.ts';
import type { Assurance, CompiledStep } from '../../core/workflow/compiled/compiled-step.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { AnswerServices } from '../services.ts';
import { triedStep } from './earlier-attempts.ts';
import { gatesOf, readPlace, rootOf } from './run-place.ts';

/** What a run's gates depend on besides the log, gathered before the lock is taken. */
export type GateSurroundings = {
  readonly minimum: Assurance;
  readonly accept: GateFacts['accept'];
  /** The user's settings say that nobody can answer here. */
  readonly isUnattended: boolean;
  readonly workspace: BoundWorkspace | undefined;
  /** The files as they are now, where a check of the step depends on them. */
  readonly tree: BoundWorkspace | undefined;
};

/** Looks at settings and files for the pending step of a node. The files matter only to a step that needs an answer. */
export async function gateSurroundings(
  services: AnswerServices,
  session: LoadedSession,
  target: TokenTarget,
): Promise<GateSurroundings> {
  const root = rootOf(session);
  const settings = await services.gateSettings(root);
  const { minimum, accept } = settings;
  const step = await pendingStepOf(services, session, target);
  const isBound = step !== undefined && gateOf(step, minimum) !== undefined && step.bindsTree !== false;
  const isFresh = step?.checks?.some(({ fresh }) => fresh !== undefined) === true;
  const tree = (isBound || isFresh) && root !== undefined ? await services.workspace.tree(root) : undefined;
  return { ...gatesOf(settings), accept, workspace: isBound ? tree : undefined, tree };
}

async function pendingStepOf(
  services: AnswerServices,
  session: LoadedSession,
  target: TokenTarget,
): Promise<CompiledStep | undefined> {
  const place = await readPlace(services, session, target);
  if (place.isErr()) return undefined;
  const pending = pendingStep(place.value.snapshot);
  return place.value.workflow.steps.find(({ stepId }) => stepId === pending?.stepId);
}

/** The gate of a step that only a person's answer on a channel of its own can open, and the key it sets. */
export function gateOf(
  { assurance, confirmation, userDependency }: CompiledStep,
  minimum: Assurance,
): { readonly contextKey?: string | undefined } | undefined {
  const isAsked = confirmation.kind !== 'none' || userDependency !== undefined;
  if (!isAsked) return undefined;
  const needed = [assurance, userDependency?.assurance].map((one) => strongestAssurance(one ?? 'stated', minimum));
  if (needed.every((one) => one === 'stated')) return undefined;
  const isKeyGated = strongestAssurance(userDependency?.assurance ?? 'stated', minimum) !== 'stated';
  return { contextKey: isKeyGated ? userDependency?.contextKey : undefined };
}

/** The context without a key that only a person may set: what the agent sends for it is ignored. */
export function withoutGateKey(context: JsonObject, step: CompiledStep | undefined, minimum: Assurance): JsonObject {
  const key = step === undefined ? undefined : gateOf(step, minimum)?.contextKey;
  if (key === undefined || !Object.hasOwn(context, key)) return context;
  const { [key]: _, ...rest } = context;
  return rest;
}

/** Everything about the gate at a node that the decision needs. */
export function gateFacts(
  services: Pick<AnswerServices, 'hasher'>,
  { view }: LoadedSession,
  at: {
    readonly target: TokenTarget;
    readonly step: CompiledStep;
    readonly surroundings: GateSurroundings;
    readonly loopPath: GateFacts['subject']['loopPath'];
  },
): GateFacts | undefined {
  const { target, step, surroundings, loopPath } = at;
  const gate = gateOf(step, surroundings.minimum);
  if (gate === undefined) return undefined;
  const { nodeId, runId } = target;
  const tried = triedStep(view, nodeId);
  return {
    minimum: surroundings.minimum,
    accept: surroundings.accept,
    attestations: unusedAnswers(view, tried.step.nodeId).map(({ data }) => data),
    personKeys:
      gate.contextKey !== undefined && isKeyFromPerson(view.context, nodeId, gate.contextKey) ? [gate.contextKey] : [],
    subject: {
      workflowHash: tried.step.workflowHash,
      runId,
      nodeId: tried.step.nodeId,
      stepId: step.stepId,
      loopPath,
      snapshotRef: tried.step.snapshotRef,
      contextBefore: contextAt(view.context, tried.step.nodeId),
      ...(surroundings.workspace === undefined ? {} : { workspace: surroundings.workspace }),
    },
    sha256: services.hasher.sha256,
  };
}
