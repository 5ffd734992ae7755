import type { JsonObject, JsonValue } from '../../core/json/json-value.ts';
import { GOAL_BYTES_MAX } from '../../core/log/budgets.ts';
import type { RunId } from '../../core/log/ids.ts';
import type { WarningFact } from '../../core/prompt/warning-facts.ts';
import { utf8Length } from '../../core/text/utf8.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { type Drift, driftOf, type PinnedOrigin, type Restart } from '../../core/workflow/drift.ts';
import type { LoadedSession } from '../ports/session-store.ts';
import type { ReadServices } from '../services.ts';
import { rootOf } from './run-place.ts';

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
  const restart = { attachTo, ...restartWith(context) };
  const { drift } = await findDrift(services, { pinned, workspace: question.workspace, restart });
  switch (drift.kind) {
    case 'changed':
      return [{ code: 'workflow_changed', workflowId, nextCall: drift.nextCall }];
    case 'gone':
      return [{ code: 'workflow_gone', workflowId }];
    default:
      return [];
  }
}

type PinnedSource = PinnedOrigin & { readonly workflowSourceKind: string };

/** Compares what a run was started from with what is there now. */
export async function findDrift(
  { catalog }: Pick<ReadServices, 'catalog'>,
  sought: { readonly pinned: PinnedSource; readonly workspace: string | undefined; readonly restart: Restart },
): Promise<{ readonly drift: Drift; readonly now?: CompiledWorkflow }> {
  const { pinned, workspace, restart } = sought;
  const { found } = await catalog.find(pinned.workflowId, workspace);
  // A broken file is listed as invalid. It is neither gone nor a new version.
  if (found.kind === 'invalid') return { drift: { kind: 'unknown' } };
  if (found.kind !== 'found') return { drift: driftOf(pinned, undefined, restart) };
  const { listed } = found;
  if (listed.file.kind !== pinned.workflowSourceKind) return { drift: { kind: 'unknown' } };
  return { drift: driftOf(pinned, listed.sourceHash(), restart), now: listed.workflow };
}

/**
 * Another workspace has other files, which say nothing about the run's own. A folder can have several paths, by links
 * or subfolders, so its name is compared.
 */
function isSameProject(session: LoadedSession, workspace: string | undefined): boolean {
  const root = rootOf(session);
  const name = root?.split(SEPARATOR).findLast((part) => part !== '');
  return workspace !== undefined && name !== undefined && workspace.split(SEPARATOR).includes(name);
}

const SEPARATOR = /[\\/]/;

/** The goal and the context for a restart. A goal that has become too long stays in the context. */
function restartWith(context: JsonObject): { readonly goal?: string; readonly context: JsonObject } {
  const { goal, ...others } = context;
  return typeof goal === 'string' && utf8Length(goal) <= GOAL_BYTES_MAX ? { goal, context: others } : { context };
}
