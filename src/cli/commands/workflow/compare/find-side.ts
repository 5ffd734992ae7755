import { err, ok, type Result } from 'neverthrow';
import type { AuthorServices } from '../../../../app/author/author-services.ts';
import { findTargetWorkflow, type WorkflowRefusal } from '../../../../app/bench/files/find-workflow.ts';
import type { CompiledWorkflow } from '../../../../core/workflow/compiled/compiled-workflow.ts';
import { benchProblem, wrongUse } from '../../../author/workflow-words.ts';
import type { CommandContext, CommandProblem } from '../../../command.ts';
import { exitCodeOf } from '../../../exit-codes.ts';
import { findSessions } from '../../../ids.ts';
import { type CommandRefusal, explainRefusal } from '../../../words/explain.ts';

/** One side of a comparison: a workflow as it is now, or as the last run of a session was pinned to it. */
export type Side = { readonly label: string; readonly workflow: CompiledWorkflow; readonly isPinned: boolean };

/** What a word stands for: a file, a workflow, or else a session. */
export async function findSide(
  context: CommandContext,
  bench: AuthorServices,
  asked: string,
): Promise<Result<Side, CommandProblem>> {
  const found = await findTargetWorkflow(bench, asked);
  if (found.isOk()) return ok({ label: asked, workflow: found.value.listed.workflow, isPinned: false });
  if (found.error.code !== 'target_unknown') return err(benchProblem(found.error));
  return pinnedSide(context, asked, found.error);
}

async function pinnedSide(
  { program }: CommandContext,
  asked: string,
  unknown: WorkflowRefusal,
): Promise<Result<Side, CommandProblem>> {
  const dataDir = await program.dataDir();
  const refused = (refusal: CommandRefusal): CommandProblem => {
    const error = explainRefusal(refusal, dataDir);
    return { error, exitCode: exitCodeOf(error.code) };
  };
  const { sessions, sessionIndex } = await program.store();
  const matched = await findSessions({ sessions, sessionIndex }, [asked]);
  const [sessionId] = matched.unwrapOr([]);
  if (matched.isErr() && matched.error.code !== 'session_unmatched') return err(refused(matched.error));
  if (sessionId === undefined) return err(benchProblem(unknown));
  const session = await sessions.loadValidPrefix(sessionId);
  if (session.isErr()) return err(refused(session.error));
  const run = [...session.value.view.graph.runs.values()].at(-1);
  if (run === undefined) return err(wrongUse(`${sessionId} has no run.`, 'Name another session.'));
  const { services } = await program.exchange();
  const pinned = await services.pinnedWorkflows.get(run.pinned.workflowHash);
  if (pinned.isErr()) {
    const { error } = pinned;
    return err(error.code === 'other_workflow_stored' ? OTHER_STORED : refused(error));
  }
  return ok({ label: `${run.pinned.workflowId} as pinned by ${asked}`, workflow: pinned.value, isPinned: true });
}

const OTHER_STORED = wrongUse(
  'The workflow that this run is pinned to is stored under a wrong name.',
  'Type "workrail session verify" to see what is damaged.',
);
