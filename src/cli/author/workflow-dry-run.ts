import { err, ok } from 'neverthrow';
import * as z from 'zod';
import { type DryRun, dryRun, readScript } from '../../app/author/dry-run.ts';
import { findTargetWorkflow } from '../../app/author/find-targets.ts';
import type { Answer, PlayedCall } from '../../app/author/play-run.ts';
import type { Sent, Turn } from '../../app/author/rehearsal.ts';
import { stuckWords } from '../../app/author/test-scenario.ts';
import type { Script } from '../../core/author/scenario.ts';
import { type JsonObject, parseJson } from '../../core/json/json-value.ts';
import { autonomySchema } from '../../core/log/autonomy.ts';
import { jsonObjectSchema } from '../../core/log/field-schemas.ts';
import { plural, shellWord, sizeOf } from '../../core/text/words.ts';
import { type CommandContext, type CommandProblem, EXIT, type RunCommand } from '../command.ts';
import { commandShape } from '../command-shape.ts';
import type { Line } from '../output/line.ts';
import type { Ask } from '../program.ts';
import { BROKEN_OFF, benchProblem, oneOperand, problem, readContext, readMode, unknownStep } from './workflow-words.ts';

const NOTHING: Sent = { artifacts: [] };

/** Asks the person at the terminal what the agent hands in; the example of the reply is what is offered first. */
function askAgent(ask: Ask, onBrokenOff: () => void): Answer {
  return async ({ reply, example }) => {
    const offered = example ?? NOTHING;
    for (;;) {
      const choice = await ask.pick({ message: 'What does the agent hand in?', choices: choicesFor(offered) });
      if (choice === undefined) onBrokenOff();
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
    { value: 'example', label: 'The example', hint: parts.length === 0 ? 'nothing is asked for' : parts.join(', ') },
    { value: 'notes', label: 'Other notes' },
    { value: 'artifacts', label: 'Other artifacts' },
    { value: 'context', label: 'The example, and something into context' },
    { value: 'nothing', label: 'Nothing', hint: 'see what blocks' },
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
      check: (text) => (artifactsIn(text) === undefined ? 'That is no JSON list of objects.' : undefined),
    });
    return written === undefined ? undefined : { ...offered, artifacts: artifactsIn(written) ?? [] };
  }
  const written = await ask.write({
    message: 'Context, as a JSON object',
    initial: JSON.stringify(offered.context ?? {}),
    check: (text) => (objectIn(text) === undefined ? 'That is no JSON object.' : undefined),
  });
  return written === undefined ? undefined : { ...offered, context: objectIn(written) };
}

function objectIn(text: string): JsonObject | undefined {
  return jsonObjectSchema.safeParse(parseJson(text).unwrapOr(undefined)).data;
}

function artifactsIn(text: string): readonly JsonObject[] | undefined {
  return jsonObjectSchema.array().safeParse(parseJson(text).unwrapOr(undefined)).data;
}

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

/** What the agent reads at a turn, for a person who answers in its place. */
function turnLines({ reply, text }: Turn): readonly Line[] {
  const { pending, kind } = reply;
  if (reply.isComplete) return [];
  const place =
    pending === null ? 'before the first step' : `${pending.position.index}/${pending.position.of} ${pending.stepId}`;
  // Tokens and calls are for machines; the person answers with what is asked for.
  const [prompt = ''] = kind === 'blocked' ? [blockedText(reply.blockers)] : [pending?.prompt ?? text];
  return [
    [],
    [
      { text: `── ${place} `, style: 'strong' },
      { text: kind === 'blocked' ? '▲ blocked' : '', style: 'notable' },
    ],
    ...prompt.split('\n').map((line): Line => [line]),
  ];
}

function blockedText(blockers: Turn['reply']['blockers']): string {
  return blockers.map(({ code, message, suggestedFix }) => `${code}: ${message} ${suggestedFix ?? ''}`).join('\n');
}

/** Every call on a line, then what was passed over, what is open, and how it ended. */
function dryRunLines({ run, unsent }: DryRun, { isVerbose }: { readonly isVerbose: boolean }): readonly Line[] {
  const { calls, skipped, gaps, stuck, isComplete, path, bytesRead, blocks } = run;
  const width = Math.max(0, ...calls.map(({ stepId }) => stepId?.length ?? 0));
  const end = `${plural(path.length, 'step')}, ${plural(calls.length, 'call')}, ${plural(blocks, 'block')}, ${sizeOf(bytesRead)} read`;
  return [
    ...calls.flatMap((call) => callLines(call, { width, isVerbose })),
    ...(skipped.length === 0 ? [] : [[{ text: 'skipped  ', style: 'dim' } as const, [...new Set(skipped)].join(', ')]]),
    ...gaps.map(
      ({ reason, summary }): Line => [
        { text: 'gap      ', style: 'notable' },
        `${reason.category}:${reason.detail}  ${summary}`,
      ],
    ),
    ...unsent.map((at): Line => [{ text: 'unsent   ', style: 'notable' }, `"${at}" was not due when its turn came`]),
    isComplete
      ? [{ text: '✓ complete  ', style: 'good' }, end]
      : [{ text: '✗ not complete  ', style: 'bad' }, `${end}; ${stuck === undefined ? '' : stuckWords(stuck)}`],
  ];
}

function callLines(
  { stepId = '', title, sent, blockers }: PlayedCall,
  { width, isVerbose }: { readonly width: number; readonly isVerbose: boolean },
): readonly Line[] {
  const isDone = blockers.length === 0;
  const handed = [
    ...(sent.notes === undefined ? [] : ['notes']),
    ...sent.artifacts.map(({ kind }) => String(kind)),
    ...(sent.context === undefined ? [] : [`context ${JSON.stringify(sent.context)}`]),
  ];
  return [
    [
      { text: isDone ? '✓ ' : '▲ ', style: isDone ? 'good' : 'notable' },
      { text: stepId.padEnd(width), style: 'strong' },
      `  ${title}`,
      { text: `  ${handed.length === 0 ? 'nothing' : handed.join(', ')}`, style: 'dim' },
    ],
    ...blockers.map(({ code, message }): Line => [`    ${code}: ${message}`]),
    ...(isVerbose && sent.notes !== undefined
      ? sent.notes.split('\n').map((line): Line => [{ text: `    ${line}`, style: 'dim' }])
      : []),
  ];
}

const count = z.int().min(0);
const texts = z.array(z.string()).readonly();

const workflowDryRunData = z.strictObject({
  id: z.string(),
  mode: autonomySchema,
  isComplete: z.boolean(),
  /** Steps that were pending, in order; each iteration again. */
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
        /** Why the call was not enough; none when the step is done. */
        blockers: z.array(z.strictObject({ code: z.string(), message: z.string() })).readonly(),
      }),
    )
    .readonly(),
  /** Why it did not come to its end. */
  stuck: z.string().exactOptional(),
  /** Steps of the script that were not due when their turn came. */
  unsent: texts,
});
type WorkflowDryRunData = z.infer<typeof workflowDryRunData>;

/** What `workrail workflow dry-run --json` prints. */
export const workflowDryRunShape = commandShape('workflow dry-run', workflowDryRunData);
