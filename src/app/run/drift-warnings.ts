import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { GOAL_BYTES_MAX } from '../../core/log/budgets.ts';
import type { RunId } from '../../core/log/ids.ts';
import type { WarningFact } from '../../core/prompt/warning-facts.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import { currentObservation } from '../../core/views/node-facts.ts';
import { driftOf } from '../../core/workflow/drift.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { ReadServices } from '../services.ts';

export type DriftQuestion = {
  readonly session: LoadedSession;
  readonly runId: RunId;
  /** A token of the session, or a hole for one. */
  readonly attachTo: JsonValue;
  readonly context: JsonObject;
  readonly workspace: string | undefined;
};

/** Whether the file of a run's workflow has changed. The run continues with its pinned version either way. */
export async function driftWarnings(
  services: Pick<ReadServices, 'catalog'>,
  question: DriftQuestion,
): Promise<readonly WarningFact[]> {
  const { session, attachTo, context } = question;
  const pinned = session.view.graph.runs.get(question.runId)?.pinned;
  if (pinned === undefined) return [];
  const { workflowId, workflowSourceKind } = pinned;
  if (workflowSourceKind === 'project' && !isSameProject(session, question.workspace)) return [];
  if (await services.catalog.isUnchanged(workflowId, pinned.sourceHash, question.workspace)) return [];
  const { found } = await services.catalog.find(workflowId, question.workspace);
  // A broken file is listed as invalid. It is neither gone nor a new version.
  if (found.kind === 'invalid') return [];
  if (found.kind === 'found' && found.listed.file.kind !== workflowSourceKind) return [];
  const current = found.kind === 'found' ? found.listed.sourceHash() : undefined;
  const drift = driftOf(pinned, current, { attachTo, ...restartWith(context) });
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
