import type { JsonObject } from '../../core/json/json-value.ts';
import { GOAL_BYTES_MAX } from '../../core/log/budgets.ts';
import type { WarningFact } from '../../core/prompt/reply-warnings.ts';
import type { RunFacts } from '../../core/run/step-place.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import type { TokenMint } from '../../core/token/node-token.ts';
import type { TokenTarget } from '../../core/token/token-scope.ts';
import { currentObservation } from '../../core/views/node-facts.ts';
import { driftOf } from '../../core/workflow/drift.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { ReadServices } from '../services.ts';
import { stateTokenOf } from './give-reply.ts';

export type DriftQuestion = {
  readonly session: LoadedSession;
  readonly target: TokenTarget;
  readonly mint: TokenMint;
  readonly facts: RunFacts;
  readonly workspace: string | undefined;
};

/** Whether the file of a run's workflow has changed. The run continues with its pinned version either way. */
export async function driftWarnings(services: ReadServices, question: DriftQuestion): Promise<readonly WarningFact[]> {
  const { session, target, facts } = question;
  const { view, sessionId } = session;
  const pinned = view.graph.runs.get(target.runId)?.pinned;
  if (pinned === undefined) return [];
  const { workflowId, workflowSourceKind } = pinned;
  if (workflowSourceKind === 'project' && !isSameProject(session, question.workspace)) return [];
  const { found } = await services.catalog.find(workflowId, question.workspace);
  // A broken file is listed as invalid. It is neither gone nor a new version.
  if (found.kind === 'invalid') return [];
  if (found.kind === 'found' && found.listed.file.kind !== workflowSourceKind) return [];
  const current = found.kind === 'found' ? found.listed.sourceHash() : undefined;
  const attachTo = stateTokenOf({ sessionId, nodeId: target.nodeId }, { view, mint: question.mint });
  const restart = { attachTo, ...restartWith(facts.context) };
  const drift = driftOf(pinned, current, restart);
  switch (drift.kind) {
    case 'changed':
      return [{ code: 'workflow_changed', workflowId, nextCall: drift.nextCall }];
    case 'gone':
      return [{ code: 'workflow_gone', workflowId }];
    default:
      return [];
  }
}

/**
 * Another workspace has other files, which say nothing about the run's own. A folder can have several paths, by links
 * or subfolders, so its name is compared.
 */
function isSameProject({ view }: LoadedSession, workspace: string | undefined): boolean {
  const root = currentObservation(view.observations, 'repo_root')?.data.value.value;
  const name = root?.split(SEPARATOR).findLast((part) => part !== '');
  return workspace !== undefined && name !== undefined && workspace.split(SEPARATOR).includes(name);
}

const SEPARATOR = /[\\/]/;

/** The goal and the context for a restart. A goal that has become too long stays in the context. */
function restartWith(context: JsonObject): { readonly goal?: string; readonly context: JsonObject } {
  const { goal, ...others } = context;
  return typeof goal === 'string' && utf8Length(goal) <= GOAL_BYTES_MAX ? { goal, context: others } : { context };
}
