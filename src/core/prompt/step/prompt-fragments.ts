import { unreachable } from '../../assert.ts';
import { FUNCTIONS_BYTES_MAX } from '../../log/budgets.ts';
import { holdsAt, type StepPlace } from '../../run/step-place.ts';
import { TRUNCATION_MARKER, utf8Length, utf8Prefix } from '../../text/utf8.ts';
import { andList, plural } from '../../text/words.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../../workflow/compiled/compiled-workflow.ts';
import type { WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import type { BranchPart } from '../reply-parts.ts';
import type { ValueFiller } from './fill-values.ts';

type FunctionDefinition = CompiledWorkflow['functions'][number];

export type FunctionTexts = { readonly text: string; readonly isCut: boolean };

/**
 * The definitions a reader of this step needs, since it may have forgotten them: those of the step itself, then those
 * that the work on a branch below refers to. None for a step that refers to none.
 */
export function functionTexts(
  index: WorkflowIndex,
  stepId: string,
  {
    branch,
    fill = (text) => text,
  }: { readonly branch?: BranchPart | undefined; readonly fill?: ValueFiller['fill'] } = {},
): FunctionTexts | undefined {
  const below = (branch?.children ?? []).map(({ summary }) => summary);
  const wanted = [ofSteps(index, [stepId]), ofRecap(index, branch), mentioned(index, below)];
  const definitions = [...new Set(wanted.flatMap(inOrder))];
  if (definitions.length === 0) return undefined;
  return fitted(definitions.map((one) => definitionText(one, fill)));
}

/** How a step wants its functions used: each call with its arguments. */
export function functionCallTexts({ functionCalls = [] }: CompiledStep, filler: ValueFiller): string | undefined {
  const calls = functionCalls.map(({ name, args }) => {
    const given = Object.entries(args).map(([parameter, value]) => `${parameter}: ${filler.fillQuoted(value)}`);
    return `- ${name}(${given.join(', ')})`;
  });
  return calls.length === 0 ? undefined : ['Use them like this:', ...calls].join('\n');
}

/** A step sees its own functions, then those of its loops from the inside out, then the workflow's. */
function visibleTo(index: WorkflowIndex, stepId: string, name: string): FunctionDefinition | undefined {
  const named = index.workflow.functions.filter((one) => one.name === name);
  const own = named.find(({ scope }) => scope.kind === 'step' && scope.stepId === stepId);
  if (own !== undefined) return own;
  for (const loopId of loopsAround(index, stepId)) {
    const ofLoop = named.find(({ scope }) => scope.kind === 'loop' && scope.loopId === loopId);
    if (ofLoop !== undefined) return ofLoop;
  }
  return named.find(({ scope }) => scope.kind === 'workflow');
}

function loopsAround({ workflow }: WorkflowIndex, stepId: string): readonly string[] {
  const around: string[] = [];
  const parentOf = (id: string) =>
    workflow.loops.find(({ body }) =>
      body.some((entry) => (entry.kind === 'step' ? entry.stepId : entry.loopId) === id),
    );
  for (let loop = parentOf(stepId); loop !== undefined; loop = parentOf(loop.loopId)) around.push(loop.loopId);
  return around;
}

function ofSteps(index: WorkflowIndex, stepIds: readonly string[]): readonly FunctionDefinition[] {
  return stepIds.flatMap((stepId) =>
    (index.steps.get(stepId)?.functionNames ?? []).flatMap((name) => visibleTo(index, stepId, name) ?? []),
  );
}

/** The notes of a branch may rely on a function that their step refers to, or name one. */
function ofRecap(index: WorkflowIndex, branch: BranchPart | undefined): readonly FunctionDefinition[] {
  const lines = branch?.preferred.recap.lines ?? [];
  const steps = lines.flatMap(({ stepId }) => stepId ?? []);
  return [
    ...ofSteps(index, steps),
    ...mentioned(
      index,
      lines.map(({ text }) => text),
    ),
  ];
}

/** Functions that a text calls by name. */
function mentioned({ workflow }: WorkflowIndex, texts: readonly string[]): readonly FunctionDefinition[] {
  return workflow.functions.filter(
    ({ name, scope }) => scope.kind === 'workflow' && texts.some((text) => text.includes(`${name}(`)),
  );
}

const SCOPES = ['step', 'loop', 'workflow'] as const;

function inOrder(definitions: readonly FunctionDefinition[]): readonly FunctionDefinition[] {
  const key = ({ scope, name }: FunctionDefinition) => `${SCOPES.indexOf(scope.kind)} ${name}`;
  return [...definitions].sort((a, b) => (key(a) < key(b) ? -1 : 1));
}

/** A parameter in braces is the agent's to fill in. */
function definitionText({ name, parameters, definition }: FunctionDefinition, fill: ValueFiller['fill']): string {
  const names = parameters.map((parameter) => parameter.name);
  const signature = names.length === 0 ? name : `${name}(${names.join(', ')})`;
  const lines = parameters.flatMap(({ name: parameter, type, description }) => {
    const said = [type, description].filter((part) => part !== undefined).join('; ');
    return said === '' ? [] : [`- ${parameter}: ${said}`];
  });
  return [`${signature}:`, fill(definition, names), ...lines].join('\n');
}

function fitted(texts: readonly string[]): FunctionTexts {
  const whole = texts.join('\n\n');
  if (utf8Length(whole) <= FUNCTIONS_BYTES_MAX) return { text: whole, isCut: false };
  const shown = utf8Prefix(whole, FUNCTIONS_BYTES_MAX - TRUNCATION_MARKER.length);
  let end = 0;
  const complete = texts.filter((text) => {
    end += text.length + 2;
    return end - 2 <= shown.length;
  }).length;
  const count = texts.length - complete;
  const omitted = `[${plural(count, 'function definition')} cut or left out]`;
  return { text: `${shown}${TRUNCATION_MARKER}\n${omitted}`, isCut: true };
}

type Delegation = Extract<CompiledStep['purpose'], { kind: 'delegation' }>['delegations'][number];

/** How the tasks of a delegating step should be done, by what is known of the agent. */
export type DelegationWay = 'delegate' | 'in_turn' | 'try';

export function delegationWay({ index, facts }: StepPlace): DelegationWay {
  if (index.workflow.capabilities.delegation === 'disabled') return 'in_turn';
  const status = facts.capabilities.delegation?.status ?? 'unknown';
  switch (status) {
    case 'available':
      return 'delegate';
    case 'unavailable':
      return 'in_turn';
    case 'unknown':
      return 'try';
    default:
      return unreachable(status);
  }
}

/** Which tasks to delegate, and how; or how to do them without subagents. */
export function delegationText(place: StepPlace, filler: ValueFiller): string | undefined {
  const { purpose } = place.step;
  if (purpose.kind !== 'delegation') return undefined;
  const due = [...purpose.delegations.entries()].filter(
    ([, { runCondition }]) => runCondition === undefined || holdsAt(place, runCondition),
  );
  if (due.length === 0)
    return 'Skip all of these tasks: their conditions are not met. Say so in your notes and continue.';
  const tasks = due.map(([i, task]) => taskText(task, `${i + 1}. `, filler));
  const way = delegationWay(place);
  const dueNumbers = due.map(([i]) => i + 1);
  const skipped = purpose.delegations.flatMap((_, i) => (dueNumbers.includes(i + 1) ? [] : [i + 1]));
  const all = due.length === 1 ? 'this task' : `these ${due.length} tasks`;
  const what = skipped.length === 0 ? all : numberedTasks(dueNumbers);
  return [
    `${skipWords(skipped)}${lead(way, what, due.length === 1)}`,
    ...tasks,
    ...(way === 'try' ? [OBSERVE] : []),
  ].join('\n');
}

/** The step lists all its tasks, so those without a result need a reason. */
function skipWords(skipped: readonly number[]): string {
  if (skipped.length === 0) return '';
  const why = skipped.length === 1 ? 'its condition is' : 'their conditions are';
  return `Skip ${numberedTasks(skipped)} in this step: ${why} not met. `;
}

function numberedTasks(numbers: readonly number[]): string {
  return `${numbers.length === 1 ? 'task' : 'tasks'} ${andList(numbers.map(String))}`;
}

const OBSERVE =
  'You can also report in `output.artifacts` whether it worked: {"kind":"wr.capability_observation","capability":"delegation","status":"available"}, or "unavailable" if you could not delegate.';

function lead(way: DelegationWay, what: string, isOne: boolean): string {
  switch (way) {
    case 'delegate':
      return `Delegate ${what}. ${subagents(isOne)}`;
    case 'in_turn':
      return `There are no subagents here, so do ${what} yourself${inTurn(isOne)}`;
    case 'try':
      return `Try to delegate ${what}. ${subagents(isOne)}\nIf you have no such tool, or it fails, do ${isOne ? 'the task' : 'the tasks'} yourself${inTurn(isOne)}`;
    default:
      return unreachable(way);
  }
}

function subagents(isOne: boolean): string {
  const start = isOne
    ? 'Start a subagent for it.'
    : 'Start one subagent for each, all in one message so that they work in parallel.';
  return `${start} Use your own tool for subagents. Tell ${isOne ? 'the subagent' : 'each subagent'} to call start_workflow with what is given below, to follow that workflow to the end, and to report the result to you.`;
}

function inTurn(isOne: boolean): string {
  const order = isOne ? '' : ', one after the other';
  return `${order}: call start_workflow with what is given below, follow that workflow to the end, keep the result, and come back here.`;
}

function taskText(task: Delegation, mark: string, filler: ValueFiller): string {
  const { workflowId, goal, contextMapping, args, allowedTools, modelTier } = task;
  const mapped = Object.entries(contextMapping ?? {}).map(([name, path]) => `${name}: ${filler.show(path)}`);
  const given = Object.entries(args ?? {}).map(([name, value]) => `${name}: ${filler.fillQuoted(value)}`);
  const context = [...given, ...mapped];
  const facts = [
    ...(goal === undefined ? [] : [`goal: ${filler.fillLine(goal)}`]),
    ...(context.length === 0 ? [] : [`context: ${context.join(', ')}`]),
    ...(allowedTools === undefined || allowedTools.length === 0 ? [] : [`tools: ${allowedTools.join(', ')}`]),
    ...(modelTier === undefined ? [] : [`model: ${modelTier}`]),
  ];
  return [`${mark}workflow: ${workflowId}`, ...facts.map((fact) => `   ${fact}`)].join('\n');
}
