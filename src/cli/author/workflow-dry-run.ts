import { ok, safeTry } from 'neverthrow';
import * as z from 'zod';
import { type DryRun, dryRun, readScript } from '../../app/author/dry-run.ts';
import { findTargetWorkflow } from '../../app/author/find-targets.ts';
import type { Answer, PlayedCall } from '../../app/author/play-run.ts';
import type { Sent, Turn } from '../../app/author/rehearsal.ts';
import { stuckWords } from '../../app/author/test-scenario.ts';
import type { Script } from '../../core/author/scenario.ts';
import { defined, type JsonObject, parseJson } from '../../core/json/json-value.ts';
import { autonomySchema, isAtLeast } from '../../core/log/autonomy.ts';
import { jsonObjectSchema } from '../../core/log/document-schema.ts';
import { plural, shellWord, sizeOf } from '../../core/text/words.ts';
import type { CompiledWorkflow } from '../../core/workflow/compiled/compiled-workflow.ts';
import { type CommandContext, command, done } from '../command.ts';
import { bad, dim, good, type Line, notable, strong } from '../output/line.ts';
import { type CommandProblem, EXIT, problem } from '../problem.ts';
import type { Ask } from '../program.ts';
import {
  authorProblem,
  CONTEXT_OPTION,
  checkProblem,
  INTERRUPTED,
  MODE_OPTION,
  oneWorkflow,
  readContext,
  readMode,
  unknownStep,
  WORKFLOW,
} from './workflow-words.ts';

const count = z.int().min(0);

const texts = z.array(z.string()).readonly();

const workflowDryRunData = z.strictObject({
  id: z.string(),
  mode: autonomySchema,
  isComplete: z.boolean(),
  /** The steps in the order they were reached; each iteration counts again. */
  path: texts,
  skipped: texts,
  blocks: count,
  bytesRead: count,
  gaps: z.array(z.strictObject({ category: z.string(), detail: z.string(), summary: z.string() })).readonly(),
  calls: z
    .array(
      z.strictObject({
        stepId: z.string().exactOptional(),
        title: z.string(),
        /** Why the call did not finish the step; empty if it did. */
        blockers: z.array(z.strictObject({ code: z.string(), message: z.string() })).readonly(),
      }),
    )
    .readonly(),
  /** Why the run did not finish. */
  stuck: z.string().exactOptional(),
  /** Steps of the script that were not the current step when their turn came. */
  unsent: texts,
});
type WorkflowDryRunData = z.infer<typeof workflowDryRunData>;

export const workflowDryRun = command({
  operands: [WORKFLOW],
  options: [
    { flags: '--script <file>', help: "take the agent's answers from this file instead of asking" },
    { flags: '--yes', help: 'answer every step automatically with valid sample values instead of asking' },
    CONTEXT_OPTION,
    MODE_OPTION,
  ],
  example: 'workrail workflow dry-run wr.first_steps --yes',
  data: workflowDryRunData,
  run: (context, { operands, options }) =>
    safeTry(async function* () {
      const { program, switches, progress } = context;
      const asked = yield* oneWorkflow(operands, 'workrail workflow dry-run ID');
      const given = yield* readContext(options['context']);
      const mode = yield* readMode(options['mode']);
      const author = await program.author();
      const found = yield* (await findTargetWorkflow(author, asked)).mapErr(authorProblem);
      const file = options['script'];
      const read = yield* (typeof file === 'string' ? readScript(author, file) : ok<Script>({})).mapErr(authorProblem);
      const script: Script = {
        ...read,
        ...(given !== undefined && { context: { ...read.context, ...given } }),
        ...(mode !== undefined && { mode }),
      };
      const isAlone = !program.terminal.isInput() || !program.terminal.isError() || switches.isJson;
      const isScripted = typeof file === 'string' || options['yes'] === true;
      if (isAlone && !isScripted && !switches.isJson) {
        context.say(['There is no terminal to ask in, so the form of every step is filled in automatically.']);
      }
      const person = isScripted || isAlone ? undefined : await asking(context);
      if (person === undefined) progress.show({ label: 'running the workflow' });
      const ran = yield* (await dryRun(author, found, { script, ...person?.played })).mapErr(({ code }) =>
        problem(EXIT.failed, `The run cannot start: ${code}.`, 'Check the context you gave.'),
      );
      const { id, workflow } = found.listed;
      const known = workflow.steps.map(({ stepId }): string => stepId);
      const wrong = person?.isInterrupted() === true ? INTERRUPTED : problemOf(ran, known);
      return done({
        data: dataOf(ran, { id, mode: script.mode ?? 'guided' }),
        lines: dryRunLines(ran, { isVerbose: switches.isVerbose, checks: checksOf(workflow) }),
        problem: wrong,
        next: `workrail workflow ${wrong === undefined ? 'test' : 'preview'} ${shellWord(asked)}`,
      });
    }),
});

const NOTHING: Sent = { artifacts: [] };

/** Asks the user what the agent sends; the filled-in form of the reply is offered first. */
function askAgent(ask: Ask, onInterrupt: () => void): Answer {
  return async ({ reply, filled }) => {
    const offered = filled ?? NOTHING;
    for (;;) {
      const choice = await ask.pick({ message: 'What does the agent send?', choices: choicesFor(offered) });
      if (choice === undefined) onInterrupt();
      if (choice === undefined || choice === 'stop') return undefined;
      if (choice === 'example') return { sent: offered };
      if (choice === 'nothing') return { sent: NOTHING };
      const sent = await changed(ask, choice, offered);
      if (sent !== undefined) return { sent };
      if (reply.isComplete) return undefined;
    }
  };
}

function choicesFor({ notes, artifacts, context }: Sent) {
  const parts = [
    ...(notes === undefined ? [] : ['notes']),
    ...artifacts.map(({ kind }) => String(kind)),
    ...(context === undefined ? [] : [`context ${Object.keys(context).join(', ')}`]),
  ];
  return [
    {
      value: 'example',
      label: 'The filled-in form',
      hint: parts.length === 0 ? 'nothing is required' : parts.join(', '),
    },
    { value: 'notes', label: 'Other notes' },
    { value: 'artifacts', label: 'Other artifacts' },
    { value: 'context', label: 'The filled-in form, with a change to context' },
    { value: 'nothing', label: 'Nothing', hint: 'see what blocks the step' },
    { value: 'stop', label: 'Stop here' },
  ];
}

async function changed(ask: Ask, choice: string, offered: Sent): Promise<Sent | undefined> {
  if (choice === 'notes') {
    const notes = await ask.write({ message: 'Notes', initial: offered.notes ?? '' });
    return notes === undefined ? undefined : { ...offered, notes };
  }
  if (choice === 'artifacts') {
    const written = await ask.write({
      message: 'Artifacts, as a JSON list',
      initial: JSON.stringify(offered.artifacts),
      check: (text) => (artifactsIn(text) === undefined ? 'This is not a JSON list of objects.' : undefined),
    });
    return written === undefined ? undefined : { ...offered, artifacts: artifactsIn(written) ?? [] };
  }
  const written = await ask.write({
    message: 'Context, as a JSON object',
    initial: JSON.stringify(offered.context ?? {}),
    check: (text) => (objectIn(text) === undefined ? 'This is not a JSON object.' : undefined),
  });
  return written === undefined ? undefined : { ...offered, context: objectIn(written) };
}

function objectIn(text: string): JsonObject | undefined {
  return jsonObjectSchema.safeParse(parseJson(text).unwrapOr(undefined)).data;
}

function artifactsIn(text: string): readonly JsonObject[] | undefined {
  return jsonObjectSchema.array().safeParse(parseJson(text).unwrapOr(undefined)).data;
}

async function asking({ program, say }: CommandContext) {
  let isInterrupted = false;
  const answer = askAgent(await program.ask(), () => {
    isInterrupted = true;
  });
  const watch = (turn: Parameters<typeof turnLines>[0]) => {
    for (const line of turnLines(turn)) say(line);
  };
  return { played: { answer, watch }, isInterrupted: () => isInterrupted };
}

function problemOf({ run, unsent }: DryRun, known: readonly string[]): CommandProblem | undefined {
  const isStopped = run.stuck?.code === 'stopped';
  if ((run.isComplete || isStopped) && unsent.length === 0) return undefined;
  const message =
    run.stuck === undefined || isStopped
      ? `These steps of the script were not the current step when their turn came: ${unsent.join(', ')}.`
      : `The run did not finish: ${stuckWords(run.stuck)}.`;
  return checkProblem(
    message,
    misspelled(unsent, known) ?? 'Supply what is missing with --context or --script, or fix the step.',
  );
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
      ...defined({ stepId }),
      title,
      blockers: blockers.map(({ code, message }) => ({ code, message })),
    })),
    ...defined({ stuck: stuck && stuckWords(stuck) }),
    unsent,
  };
}

/** What the agent would read now, for the user who answers instead. */
function turnLines({ reply, text }: Turn): readonly Line[] {
  const { pending, kind } = reply;
  if (reply.isComplete) return [];
  const place =
    pending === null
      ? 'before the first step'
      : `${[pending.position.index, pending.position.of ?? '?'].join('/')} ${pending.stepId}`;
  // The user needs no tokens or calls, only what the step asks for.
  const [prompt = ''] = kind === 'blocked' ? [blockedText(reply.blockers)] : [pending?.prompt ?? text];
  return [
    [],
    [strong(`── ${place} `), notable(kind === 'blocked' ? '▲ blocked' : '')],
    ...prompt.split('\n').map((line): Line => [line]),
  ];
}

function blockedText(blockers: Turn['reply']['blockers']): string {
  return blockers.map(({ code, message, suggestedFix }) => `${code}: ${message} ${suggestedFix ?? ''}`).join('\n');
}

/** What a person or a program would have to see of each step: a rehearsal runs no command. */
function checksOf({ steps }: Pick<CompiledWorkflow, 'steps'>): Layout['checks'] {
  return new Map(
    steps.map(({ stepId, checks = [] }): [string, readonly string[]] => [
      stepId,
      checks
        .filter(({ minimum }) => isAtLeast(minimum, 'observed'))
        .map(({ checkId }) => `check ${checkId} (assumed to pass)`),
    ]),
  );
}

type Layout = { readonly isVerbose: boolean; readonly checks: ReadonlyMap<string, readonly string[]> };

/** One line per call, then skipped steps, gaps, and how the run ended. */
function dryRunLines({ run, unsent }: DryRun, layout: Layout): readonly Line[] {
  const { calls, skipped, gaps, stuck, isComplete, path, bytesRead, blocks } = run;
  const width = Math.max(0, ...calls.map(({ stepId }) => stepId?.length ?? 0));
  const end = `${plural(path.length, 'step')}, ${plural(calls.length, 'call')}, ${plural(blocks, 'block')}, ${sizeOf(bytesRead)} read`;
  return [
    ...calls.flatMap((call) => callLines(call, { width, ...layout })),
    ...(skipped.length === 0 ? [] : [[dim('skipped  '), [...new Set(skipped)].join(', ')]]),
    ...gaps.map(
      ({ reason, summary }): Line => [notable('gap      '), `${reason.category}:${reason.detail}  ${summary}`],
    ),
    ...unsent.map((at): Line => [notable('unsent   '), `"${at}" was not the current step when its turn came`]),
    isComplete
      ? [good('✓ complete  '), end]
      : [bad('✗ not complete  '), `${end}; ${stuck === undefined ? '' : stuckWords(stuck)}`],
  ];
}

function callLines(
  { stepId = '', title, sent, blockers }: PlayedCall,
  { width, isVerbose, checks }: Layout & { readonly width: number },
): readonly Line[] {
  const isDone = blockers.length === 0;
  const parts = [
    ...(sent.notes === undefined ? [] : ['notes']),
    ...sent.artifacts.map(({ kind }) => String(kind)),
    ...(sent.context === undefined ? [] : [`context ${JSON.stringify(sent.context)}`]),
    ...(isDone ? (checks.get(stepId) ?? []) : []),
  ];
  return [
    [
      { text: isDone ? '✓ ' : '▲ ', style: isDone ? 'good' : 'notable' },
      strong(stepId.padEnd(width)),
      `  ${title}`,
      dim(`  ${parts.length === 0 ? 'nothing' : parts.join(', ')}`),
    ],
    ...blockers.map(({ code, message }): Line => [`    ${code}: ${message}`]),
    ...(isVerbose && sent.notes !== undefined ? sent.notes.split('\n').map((line): Line => [dim(`    ${line}`)]) : []),
  ];
}
