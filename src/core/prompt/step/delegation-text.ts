import { unreachable } from '../../assert.ts';
import { quote } from '../../json/quote.ts';
import { holdsAt, type StepPlace } from '../../run/step-place.ts';
import type { CompiledStep } from '../../workflow/compiled/compiled-step.ts';
import type { ValueFiller } from './fill-values.ts';

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
  if (due.length === 0) return 'None of these tasks is due here. Say so in your notes and continue.';
  const tasks = due.map(([i, task]) => taskText(task, `${i + 1}. `, filler));
  const way = delegationWay(place);
  const left = purpose.delegations.length - due.length;
  const what = `${due.length === 1 ? 'this task' : `these ${due.length} tasks`}${left === 0 ? '' : ' (the others are not due)'}`;
  return [lead(way, what, due.length === 1), ...tasks, ...(way === 'try' ? [OBSERVE] : [])].join('\n');
}

const OBSERVE =
  'You can also report the result in `output.artifacts`, so that later steps know: {"kind":"wr.capability_observation","capability":"delegation","status":"available"}, or "unavailable" if you could not delegate.';

function lead(way: DelegationWay, what: string, isOne: boolean): string {
  switch (way) {
    case 'delegate':
      return `Delegate ${what}. ${subagents(isOne)}`;
    case 'in_turn':
      return `There are no subagents here, so do ${what} yourself${inTurn(isOne)}`;
    case 'try':
      return `Try to delegate ${what}. ${subagents(isOne)}\nIf you cannot, do ${isOne ? 'it' : 'them'} yourself${inTurn(isOne)}`;
    default:
      return unreachable(way);
  }
}

function subagents(isOne: boolean): string {
  const start = isOne
    ? 'Start a subagent for it.'
    : 'Start one subagent for each, all in one message so that they work in parallel.';
  return `${start} Use your own tool for subagents, not start_workflow. Tell ${isOne ? 'it' : 'each one'} to call start_workflow with the workflow, goal and context below, to follow the workflow to the end, and to report the result to you.`;
}

function inTurn(isOne: boolean): string {
  const order = isOne ? '' : ', one after the other';
  return `${order}: call start_workflow with the workflow, goal and context below, follow it to the end, keep the result, and come back here.`;
}

function taskText(task: Delegation, mark: string, filler: ValueFiller): string {
  const { workflowId, goal, contextMapping, args, allowedTools, modelTier } = task;
  const mapped = Object.entries(contextMapping ?? {}).map(([name, path]) => `${name}: ${filler.show(path)}`);
  const given = Object.entries(args ?? {}).map(([name, value]) => `${name}: ${quote(filler.fillLine(value))}`);
  const context = [...given, ...mapped];
  const facts = [
    ...(goal === undefined ? [] : [`goal: ${filler.fillLine(goal)}`]),
    ...(context.length === 0 ? [] : [`context: ${context.join(', ')}`]),
    ...(allowedTools === undefined || allowedTools.length === 0 ? [] : [`tools: ${allowedTools.join(', ')}`]),
    ...(modelTier === undefined ? [] : [`model: ${modelTier}`]),
  ];
  return [`${mark}workflow: ${workflowId}`, ...facts.map((fact) => `   ${fact}`)].join('\n');
}
