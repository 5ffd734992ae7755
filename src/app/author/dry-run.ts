import { err, ok, type Result } from 'neverthrow';
import { type DocumentProblem, readDocument } from '../../core/author/read-document.ts';
import { type Script, scriptSchema } from '../../core/author/scenario.ts';
import { defined } from '../../core/json/json-value.ts';
import type { FileFailure } from '../ports/author-files.ts';
import type { StartRefusal } from '../run/start-workflow.ts';
import type { AuthorServices } from './author-services.ts';
import type { TargetWorkflow } from './find-targets.ts';
import { type Answer, listedAnswers, type PlayedRun, playRun } from './play-run.ts';
import { rehearsal, type Turn } from './rehearsal.ts';

export type DryRunRequest = {
  readonly script: Script;
  /** Answers for the agent. Default: the script, then the examples. */
  readonly answer?: Answer;
  readonly watch?: (turn: Turn) => void;
};

/** A run that stores nothing, and the steps of the script that were never reached. */
export type DryRun = { readonly run: PlayedRun; readonly unsent: readonly string[] };

/** Runs a workflow through the real engine, on a store in memory. */
export async function dryRun(
  author: AuthorServices,
  { listed, catalog }: TargetWorkflow,
  { script, answer, watch }: DryRunRequest,
): Promise<Result<DryRun, StartRefusal>> {
  const stage = rehearsal(await author.services(catalog));
  const scripted = listedAnswers(script.steps ?? []);
  const { goal, context, modeSetBy, mode = 'guided' } = script;
  const player = {
    stage,
    send: stage.send,
    yieldNow: author.yieldNow,
    answer: answer ?? scripted.answer,
    ...defined({ watch }),
  };
  const request = { workflowId: listed.id, workspace: author.workspace, mode, modeSetBy, goal, context };
  const played = await playRun(player, request);
  return played.map((run) => ({ run, unsent: answer === undefined ? scripted.left.map(({ at }) => at) : [] }));
}

export type ScriptRefusal =
  | FileFailure
  | { readonly code: 'script_invalid'; readonly path: string; readonly problems: readonly DocumentProblem[] };

export function readScript({ files }: AuthorServices, path: string): Result<Script, ScriptRefusal> {
  const text = files.read(path);
  if (text.isErr()) return err(text.error);
  const read = readDocument(text.value, scriptSchema);
  return read.isOk() ? ok(read.value) : err({ code: 'script_invalid', path, problems: read.error });
}
