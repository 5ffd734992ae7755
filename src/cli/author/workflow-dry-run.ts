import { err, ok } from 'neverthrow';
import { type DryRun, dryRun, readScript } from '../../app/author/dry-run.ts';
import { findTargetWorkflow } from '../../app/bench/files/find-workflow.ts';
import { stuckWords } from '../../app/bench/scenario/judge-scenario.ts';
import type { Script } from '../../core/author/scenario.ts';
import { shellWord } from '../../core/text/shell-word.ts';
import type { CommandContext, CommandProblem, RunCommand } from '../command.ts';
import { askAgent } from '../commands/workflow/play/ask-agent.ts';
import { dryRunLines, turnLines } from '../commands/workflow/play/dry-run-lines.ts';
import { readContext, readMode } from '../commands/workflow/run-options.ts';
import { EXIT } from '../exit-codes.ts';
import type { WorkflowDryRunData } from '../shapes/workflow/dry-run-shape.ts';
import { BROKEN_OFF, benchProblem, oneOperand, problem, unknownStep } from './workflow-words.ts';

export const workflowDryRun: RunCommand = async (context, { operands, options }) => {
  const { program, switches, progress } = context;
  const asked = oneOperand(operands, 'workrail workflow dry-run ID');
  if (asked.isErr()) return err(asked.error);
  const given = readContext(options['context']);
  if (given.isErr()) return err(given.error);
  const mode = readMode(options['mode']);
  if (mode.isErr()) return err(mode.error);
  const bench = await program.bench();
  const found = await findTargetWorkflow(bench, asked.value);
  if (found.isErr()) return err(benchProblem(found.error));
  const file = options['script'];
  const read = typeof file === 'string' ? readScript(bench, file) : ok<Script>({});
  if (read.isErr()) return err(benchProblem(read.error));
  const script: Script = {
    ...read.value,
    ...(given.value === undefined ? {} : { context: { ...read.value.context, ...given.value } }),
    ...(mode.value === undefined ? {} : { mode: mode.value }),
  };
  const isAlone = !program.terminal.isInput() || !program.terminal.isError() || switches.isJson;
  const isSaid = typeof file === 'string' || options['yes'] === true;
  if (isAlone && !isSaid && !switches.isJson) {
    context.say(['There is no terminal to ask what the agent hands in, so the example of every step is sent.']);
  }
  const person = isSaid || isAlone ? undefined : await asking(context);
  if (person === undefined) progress.show({ label: 'walking through the workflow' });
  const ran = await dryRun(bench, found.value, { script, ...person?.played });
  if (ran.isErr()) {
    return err(
      problem(EXIT.failed, {
        code: 'VALIDATION_ERROR',
        message: `The run does not start: ${ran.error.code}.`,
        suggestion: 'Look at the context that it is given.',
      }),
    );
  }
  const { id, workflow } = found.value.listed;
  const known = workflow.steps.map(({ stepId }): string => stepId);
  const wrong = person?.isBrokenOff() === true ? BROKEN_OFF : problemOf(ran.value, known);
  return ok({
    kind: 'done',
    data: dataOf(ran.value, { id, mode: script.mode ?? 'guided' }),
    lines: dryRunLines(ran.value, { isVerbose: switches.isVerbose }),
    ...(wrong === undefined ? {} : { problem: wrong }),
    next:
      wrong === undefined
        ? `workrail workflow test ${shellWord(asked.value)}`
        : `workrail workflow preview ${shellWord(asked.value)}`,
  });
};

async function asking({ program, say }: CommandContext) {
  let isBrokenOff = false;
  const answer = askAgent(await program.ask(), () => {
    isBrokenOff = true;
  });
  const watch = (turn: Parameters<typeof turnLines>[0]) => {
    for (const line of turnLines(turn)) say(line);
  };
  return { played: { answer, watch }, isBrokenOff: () => isBrokenOff };
}

function problemOf({ run, unsent }: DryRun, known: readonly string[]): CommandProblem | undefined {
  const isStopped = run.stuck?.code === 'stopped';
  if ((run.isComplete || isStopped) && unsent.length === 0) return undefined;
  const message =
    run.stuck === undefined || isStopped
      ? `The script has steps that were not due when their turn came: ${unsent.join(', ')}.`
      : `The run did not come to its end: ${stuckWords(run.stuck)}.`;
  return problem(EXIT.checkFailed, {
    code: 'WORKFLOW_INVALID',
    message,
    suggestion: misspelled(unsent, known) ?? 'Give what is missing with --context or --script, or mend the step.',
  });
}

function misspelled(unsent: readonly string[], known: readonly string[]): string | undefined {
  const stepId = unsent.find((one) => !known.includes(one));
  if (stepId === undefined) return undefined;
  const { message, suggestion } = unknownStep({ stepId, known });
  return `${message} ${suggestion}`;
}

function dataOf({ run, unsent }: DryRun, head: Pick<WorkflowDryRunData, 'id' | 'mode'>): WorkflowDryRunData {
  const { path, skipped, blocks, bytesRead, isComplete, gaps, calls, stuck } = run;
  return {
    ...head,
    isComplete,
    path,
    skipped,
    blocks,
    bytesRead,
    gaps: gaps.map(({ reason, summary }) => ({ category: reason.category, detail: reason.detail, summary })),
    calls: calls.map(({ stepId, title, blockers }) => ({
      ...(stepId === undefined ? {} : { stepId }),
      title,
      blockers: blockers.map(({ code, message }) => ({ code, message })),
    })),
    ...(stuck === undefined ? {} : { stuck: stuckWords(stuck) }),
    unsent,
  };
}
