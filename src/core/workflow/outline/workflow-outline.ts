import { unreachable } from '../../assert.ts';
import { quote } from '../../json/json-value.ts';
import { utf8Length } from '../../text/utf8.ts';
import type { CompiledLoop, Entry, LoopControl } from '../compiled/compiled-loop.ts';
import type { CompiledStep } from '../compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import type { Condition } from '../compiled/condition.ts';
import { guardsOver, indexWorkflow, loopOf, stepOf, type WorkflowIndex } from '../compiled/workflow-index.ts';
import { conditionText } from './condition-text.ts';

/** A step as it is shown before a run: what it is, when it is done, what it asks for. */
export type OutlinedStep = {
  readonly kind: 'step';
  readonly step: CompiledStep;
  /** The condition in words; a step without one is always done. */
  readonly when?: string;
  /** What must be handed in, each by its name. */
  readonly asksFor: readonly string[];
};

export type OutlinedLoop = {
  readonly kind: 'loop';
  readonly loop: CompiledLoop;
  readonly when?: string;
  /** What makes it repeat, in words. */
  readonly repeats: string;
  readonly body: readonly OutlineEntry[];
};

export type OutlineEntry = OutlinedStep | OutlinedLoop;

/** All steps of a workflow in their order, loops with their bodies. */
export function workflowOutline(workflow: CompiledWorkflow): readonly OutlineEntry[] {
  return outlined(indexWorkflow(workflow), workflow.entries);
}

function outlined(index: WorkflowIndex, entries: readonly Entry[]): readonly OutlineEntry[] {
  return entries.map((entry, i) => {
    const above = guardsOver(entries, i);
    if (entry.kind === 'loop') return outlinedLoop(index, loopOf(index, entry.loopId), above);
    const step = stepOf(index, entry.stepId);
    return { kind: 'step', step, ...conditionOf(step, above), asksFor: asksFor(step) };
  });
}

function outlinedLoop(index: WorkflowIndex, loop: CompiledLoop, above: readonly Condition[]): OutlinedLoop {
  const body = outlined(index, loop.body);
  return { kind: 'loop', loop, ...conditionOf(loop, above), repeats: repeats(loop.control), body };
}

function conditionOf(
  { runCondition }: Pick<CompiledStep, 'runCondition'>,
  above: readonly Condition[],
): { readonly when?: string } {
  const all = [...above, ...(runCondition === undefined ? [] : [runCondition])];
  const [first] = all;
  if (first === undefined) return {};
  return { when: conditionText(all.length === 1 ? first : { kind: 'and', conditions: all }) };
}

function asksFor(step: CompiledStep): readonly string[] {
  const { output, assessmentIds, checks = [], confirmation, userDependency, purpose } = step;
  return [
    ...notesWords(step),
    ...(output?.isRequired ? [output.contractRef] : []),
    ...assessmentIds.map((id) => `the assessment ${quote(id)}`),
    ...checks.map(({ checkId, run, minimum }) => `the check ${quote(checkId)} (${run}, ${minimum})`),
    ...(confirmation.kind === 'none' ? [] : [CONFIRMATIONS[confirmation.kind]]),
    ...(userDependency === undefined ? [] : [`${USER_NEEDS[userDependency.reason]} (${userDependency.reason})`]),
    ...(purpose.kind === 'probe' ? [`whether ${purpose.capability} is available`] : []),
  ];
}

/** Next to an artifact, the criteria are only advice. */
function notesWords({ isNoteRequired, output, criteria }: CompiledStep): readonly string[] {
  if (criteria === undefined) return isNoteRequired ? ['notes'] : [];
  return [output === undefined ? 'notes (their content is checked)' : 'notes (optional)'];
}

/** What only the user can give, by reason. */
export const USER_NEEDS: { readonly [reason in NonNullable<CompiledStep['userDependency']>['reason']]: string } = {
  needs_user_secret_or_token: 'a secret or token from the user',
  needs_user_account_access: 'access to an account from the user',
  needs_user_artifact: 'an answer or a file from the user',
  needs_user_choice: 'a choice from the user',
  needs_user_approval: 'approval from the user',
  needs_user_environment_action: 'an action by the user',
};

const CONFIRMATIONS = {
  confirm: "the user's confirmation",
  human_approval: "a person's approval",
  coordinator_eval: "a coordinator's verdict",
} as const;

function repeats(control: LoopControl): string {
  switch (control.kind) {
    case 'artifact':
      return 'until the agent decides to stop';
    case 'while':
    case 'until':
      return `${control.kind} ${conditionText(control.condition)}`;
    case 'for':
      return control.count.kind === 'literal' ? `${control.count.count} times` : `${control.count.variable} times`;
    case 'for_each':
      return control.items.kind === 'literal'
        ? `once for each of ${control.items.items.length} items`
        : `once for each entry of "${control.items.variable}"`;
    default:
      return unreachable(control);
  }
}

/** How much there is to do and to read. */
export type WorkflowSize = {
  readonly steps: number;
  readonly loops: number;
  /** Steps that are not done in every run. */
  readonly conditional: number;
  readonly promptBytes: { readonly median: number; readonly max: number; readonly total: number };
};

export function workflowSize({ steps, loops, entries }: CompiledWorkflow): WorkflowSize {
  const bytes = steps.map(promptBytes).sort((a, b) => a - b);
  const guarded = [...entries, ...loops.flatMap(({ body }) => body)].flatMap(({ guards = [] }) =>
    guards.map((guard) => guard.entries),
  );
  const own = steps.filter(({ runCondition }) => runCondition !== undefined).length;
  return {
    steps: steps.length,
    loops: loops.length,
    conditional: Math.min(steps.length, own + guarded.reduce((sum, count) => sum + count, 0)),
    promptBytes: {
      median: bytes[Math.floor(bytes.length / 2)] ?? 0,
      max: bytes.at(-1) ?? 0,
      total: bytes.reduce((sum, one) => sum + one, 0),
    },
  };
}

/** What the prompt of a step takes with all that is always part of it, in bytes. */
export function promptBytes({ prompt, fragments }: Pick<CompiledStep, 'prompt' | 'fragments'>): number {
  const always = fragments.filter(({ when }) => when.kind === 'always').map(({ text }) => text);
  return [prompt, ...always].reduce((bytes, text) => bytes + utf8Length(text), 0);
}
