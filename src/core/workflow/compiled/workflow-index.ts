import { assert } from '../../assert.ts';
import type { CompilePattern } from '../pattern.ts';
import type { CompiledLoop, Entry } from './compiled-loop.ts';
import type { CompiledStep } from './compiled-step.ts';
import type { Assessment, CompiledWorkflow, PinnedContract } from './compiled-workflow.ts';
import type { Condition } from './condition.ts';

/** A compiled workflow with its parts by name. */
export type WorkflowIndex = {
  readonly workflow: CompiledWorkflow;
  readonly steps: ReadonlyMap<string, CompiledStep>;
  readonly loops: ReadonlyMap<string, CompiledLoop>;
  readonly conditions: ReadonlyMap<string, Condition>;
  /** By contract reference. */
  readonly contracts: ReadonlyMap<string, PinnedContract>;
  readonly assessments: ReadonlyMap<string, Assessment>;
  /** Where a step stands among all steps of the workflow, counted from 1. */
  readonly positions: ReadonlyMap<string, number>;
};

/** A pinned workflow never changes, and every call of a run asks for its parts. */
const indexes = new WeakMap<CompiledWorkflow, WorkflowIndex>();

export function indexWorkflow(workflow: CompiledWorkflow): WorkflowIndex {
  const known = indexes.get(workflow);
  if (known !== undefined) return known;
  const index = {
    workflow,
    steps: new Map(workflow.steps.map((step) => [step.stepId, step])),
    loops: new Map(workflow.loops.map((loop) => [loop.loopId, loop])),
    conditions: new Map(workflow.conditions.map(({ conditionId, condition }) => [conditionId, condition])),
    contracts: new Map(workflow.contracts.map((contract) => [contract.contractRef, contract])),
    assessments: new Map(workflow.assessments.map((assessment) => [assessment.id, assessment])),
    positions: new Map(workflow.steps.map((step, i) => [step.stepId, i + 1])),
  };
  indexes.set(workflow, index);
  return index;
}

export function stepOf({ steps }: WorkflowIndex, stepId: string): CompiledStep {
  const step = steps.get(stepId);
  assert(step !== undefined, `a compiled workflow has the step "${stepId}" that it names`);
  return step;
}

export function loopOf({ loops }: WorkflowIndex, loopId: string): CompiledLoop {
  const loop = loops.get(loopId);
  assert(loop !== undefined, `a compiled workflow has the loop "${loopId}" that it names`);
  return loop;
}

/** The step or loop that an entry names. */
export function entryPart(index: WorkflowIndex, entry: Entry): CompiledStep | CompiledLoop {
  return entry.kind === 'step' ? stepOf(index, entry.stepId) : loopOf(index, entry.loopId);
}

const guardTables = new WeakMap<readonly Entry[], readonly (readonly Condition[])[]>();

/** The conditions that decide about an entry together with others. They are found for a whole list at once. */
export function guardsOver(entries: readonly Entry[], at: number): readonly Condition[] {
  const known = guardTables.get(entries) ?? guardTable(entries);
  guardTables.set(entries, known);
  return known[at] ?? [];
}

function guardTable(entries: readonly Entry[]): readonly (readonly Condition[])[] {
  let open: readonly { readonly condition: Condition; readonly end: number }[] = [];
  return entries.map(({ guards = [] }, i) => {
    open = [
      ...open.filter(({ end }) => end > i),
      ...guards.map((guard) => ({ condition: guard.condition, end: i + guard.entries })),
    ];
    return open.map(({ condition }) => condition);
  });
}

/** The entries from one through another, if both are in the same list; a loop has the id of its step. */
export function entriesThrough(index: WorkflowIndex, first: string, last: string): readonly string[] | undefined {
  for (const list of [index.workflow.entries, ...[...index.loops.values()].map(({ body }) => body)]) {
    const ids = list.map((entry) => entryPart(index, entry).stepId as string);
    const from = ids.indexOf(first);
    if (from >= 0) return ids.slice(from, ids.indexOf(last) + 1);
  }
  return undefined;
}

/** Where a step stands among all steps, counted from 1. */
export function positionOf({ positions }: WorkflowIndex, stepId: string): number {
  const position = positions.get(stepId);
  assert(position !== undefined, `a compiled workflow has the step "${stepId}" that it names`);
  return position;
}

type WrittenPattern = { readonly pattern: string; readonly flags: string };

const found = new WeakMap<CompiledWorkflow, readonly WrittenPattern[]>();

/** Whether a workflow can be run only with an engine for patterns. A pinned workflow never changes its answer. */
export function usesPatterns(workflow: CompiledWorkflow): boolean {
  return patternsOf(workflow).length > 0;
}

/** Whether every pattern of a workflow is one. Those that were compiled here are; a file may say anything. */
export function hasSoundPatterns(workflow: CompiledWorkflow, compilePattern: CompilePattern): boolean {
  return patternsOf(workflow).every(({ pattern, flags }) => compilePattern(pattern, flags).isOk());
}

function patternsOf(workflow: CompiledWorkflow): readonly WrittenPattern[] {
  const known = found.get(workflow);
  if (known !== undefined) return known;
  const patterns = patternsIn([workflow.conditions, workflow.entries, workflow.steps, workflow.loops]);
  found.set(workflow, patterns);
  return patterns;
}

/** A compiled workflow is a tree of plain data, so every object of it can be looked at alike. */
function patternsIn(value: unknown): readonly WrittenPattern[] {
  if (typeof value !== 'object' || value === null) return [];
  if ('comparison' in value && value.comparison === 'matches' && 'value' in value) {
    return [{ pattern: String(value.value), flags: '' }];
  }
  const own = 'kind' in value && value.kind === 'regex' && 'pattern' in value && 'flags' in value ? [value] : [];
  const written = own.map(({ pattern, flags }) => ({ pattern: String(pattern), flags: String(flags) }));
  return [...written, ...Object.values(value).flatMap(patternsIn)];
}

/** How many steps a loop contains, at any depth; 1 for a step. */
export function stepsInside(index: WorkflowIndex, id: string): number {
  const loop = index.loops.get(id) ?? [...index.loops.values()].find(({ stepId }) => stepId === id);
  if (loop === undefined) return 1;
  return loop.body.reduce((n, entry) => n + (entry.kind === 'step' ? 1 : stepsInside(index, entry.loopId)), 0);
}
