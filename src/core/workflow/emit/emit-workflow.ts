import { CAPABILITIES } from '../../log/blockers.ts';
import type { CompiledLoop, Entry } from '../compiled/compiled-loop.ts';
import type { CompiledStep } from '../compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import type { Condition } from '../compiled/condition.ts';
import { referencesOf, writtenConditions } from '../compiled/condition-references.ts';
import { criteriaRules } from '../compiled/criteria.ts';
import { COMPILED_WORKFLOW_VERSION } from '../compiled/sealed-workflow.ts';
import type { CompilerFinding } from '../diagnostics/diagnostic.ts';
import type { ExpandedEntry, ExpandedLoop, ExpandedWorkflow, MergedDeclarations } from '../expand/expanded.ts';
import { bodyWithDecision, controlOf } from '../expand/loop-controls.ts';
import type { FunctionSyntax } from '../format/function-fields.ts';
import { duplicate } from '../format/reader.ts';
import type { WholeCondition } from '../format/syntax.ts';
import { type ActiveFeature, featureRules } from './apply-features.ts';
import { checkEntryCount, checkIdLength, checkLoopIds, checkStepSize } from './check-workflow.ts';
import type { Emission } from './emission.ts';
import { emitStep } from './emit-step.ts';

/** One flat plan: every step there is, with the loops and the order that lead to them. */
type Plan = { readonly steps: CompiledStep[]; readonly loops: CompiledLoop[] };

/** The workflow as it is pinned and run. Only meaningful when no error was found on the way. */
export function emitWorkflow(
  workflow: ExpandedWorkflow,
  emission: Emission,
  active: readonly ActiveFeature[],
): CompiledWorkflow {
  const plan: Plan = { steps: [], loops: [] };
  const entries = emitEntries(workflow.entries, plan, { emission, scope: [] });
  checkStepIds(workflow.entries, emission.findings);
  checkEntryCount(plan.steps.length + plan.loops.length, emission.findings);
  for (const { conditionId, at } of workflow.conditions) checkIdLength(conditionId, at, emission);
  const { agentRole } = emission;
  const declared = emitDeclarations(workflow, active);
  const workflowId = workflow.id as CompiledWorkflow['workflowId'];
  const loops = plan.loops.sort((a, b) => (a.loopId < b.loopId ? -1 : 1));
  return {
    schemaVersion: COMPILED_WORKFLOW_VERSION,
    workflowId,
    name: workflow.name,
    description: workflow.description,
    ...(agentRole === undefined ? {} : { agentRole }),
    ...declared,
    recommended: { ...workflow.recommended },
    preconditions: [...workflow.preconditions],
    clarificationPrompts: [...workflow.clarificationPrompts],
    ...emitArguments(workflow),
    assessments: workflow.assessments.map(emitAssessment),
    functions: emission.functions,
    contracts: [...emission.contracts.values()]
      .sort((a, b) => (a.contractRef < b.contractRef ? -1 : 1))
      .map(({ contractRef, artifactKind, shape, example, guidance }) => ({
        contractRef,
        artifactKind,
        schema: shape,
        example,
        guidance,
      })),
    conditions: usedConditions({ ...plan, entries }, emission.conditions),
    entries,
    loops,
    steps: plan.steps,
    compiledWarnings: compiledWarnings({ workflowId, loops, steps: plan.steps }),
  };
}

type Scope = { readonly emission: Emission; readonly scope: readonly string[] };

function emitEntries(entries: readonly ExpandedEntry[], plan: Plan, where: Scope): Entry[] {
  return entries.flatMap((entry): Entry[] => {
    if (entry.kind === 'loop') {
      return emitLoop(entry.loop, plan, where).map((one) => ({ ...one, ...guardsOf(entry) }));
    }
    const step = emitStep(entry.step, where.emission, where.scope);
    checkStepSize(step, entry.step.syntax.at, where.emission);
    plan.steps.push(step);
    return [{ kind: 'step', stepId: step.stepId, ...guardsOf(entry) }];
  });
}

function guardsOf({ guards }: ExpandedEntry): Pick<Entry, 'guards'> {
  return guards === undefined ? {} : { guards: [...guards] };
}

function emitLoop(loop: ExpandedLoop, plan: Plan, { emission, scope }: Scope): Entry[] {
  const control = controlOf(loop, emission.conditions, emission.findings);
  const loopId = loop.loopId as CompiledLoop['loopId'];
  for (const id of [loop.id, loopId]) checkIdLength(id, loop.at, emission);
  checkLoopIds([...scope, loopId], loop.at, emission.findings);
  const entries = control === undefined ? loop.body : bodyWithDecision(loop, control);
  const body = emitEntries(entries, plan, { emission, scope: [...scope, loopId] });
  // What is missing was reported; the body was still checked, so that its mistakes are reported too.
  if (control === undefined || loop.maxIterations === undefined) return [];
  plan.loops.push({
    loopId,
    stepId: loop.id as CompiledLoop['stepId'],
    title: loop.title,
    control,
    maxIterations: loop.maxIterations,
    variables: loop.variables,
    ...(loop.runCondition === undefined ? {} : { runCondition: loop.runCondition }),
    body,
  });
  return [{ kind: 'loop', loopId }];
}

function emitAssessment({ at: _, ...assessment }: ExpandedWorkflow['assessments'][number]) {
  return {
    ...assessment,
    dimensions: assessment.dimensions.map(({ at: _at, ...dimension }) => ({
      ...dimension,
      levels: [...dimension.levels],
    })),
  };
}

function emitArguments({ arguments: declared = [] }: ExpandedWorkflow): Pick<CompiledWorkflow, 'arguments'> {
  return declared.length === 0 ? {} : { arguments: declared.map(({ at: _, ...argument }) => argument) };
}

/** Ids are what a run and its log go by, so each may occur once. An artifact may name a loop by either of its ids. */
function checkStepIds(entries: readonly ExpandedEntry[], findings: CompilerFinding[]): void {
  const steps = new Set<string>();
  const loops = new Set<string>();
  const visit = (list: readonly ExpandedEntry[]) => {
    for (const entry of list) {
      const { id, at } = entry.kind === 'step' ? entry.step.syntax : entry.loop;
      if (id !== '' && steps.has(id)) findings.push(duplicate('step id', id, `${at}/id`));
      steps.add(id);
      if (entry.kind !== 'loop') continue;
      const { loopId, loopIdAt } = entry.loop;
      if (loopId !== '' && loops.has(loopId)) findings.push(duplicate('loop id', loopId, loopIdAt));
      loops.add(loopId);
      visit(entry.loop.body);
    }
  };
  visit(entries);
}

function emitParameter({ choices, ...parameter }: FunctionSyntax['parameters'][number]) {
  return { ...parameter, ...(choices === undefined ? {} : { choices: [...choices] }) };
}

/** The functions of a workflow with the scope that each was declared in. */
export function functionsOf(workflow: ExpandedWorkflow): CompiledWorkflow['functions'] {
  const found: CompiledWorkflow['functions'] = [];
  type FunctionScope = CompiledWorkflow['functions'][number]['scope'];
  const add = (functions: readonly FunctionSyntax[], scope: FunctionScope) => {
    for (const { name, definition, parameters } of functions) {
      found.push({ name, definition, parameters: parameters.map(emitParameter), scope });
    }
  };
  const visit = (entries: readonly ExpandedEntry[]) => {
    for (const entry of entries) {
      if (entry.kind === 'step') {
        add(entry.step.syntax.functions, { kind: 'step', stepId: entry.step.syntax.id as CompiledStep['stepId'] });
      } else {
        add(entry.loop.functions, { kind: 'loop', loopId: entry.loop.loopId as CompiledLoop['loopId'] });
        visit(entry.loop.body);
      }
    }
  };
  add(workflow.functions, { kind: 'workflow' });
  visit(workflow.entries);
  return found;
}

type Emitted = Pick<CompiledWorkflow, 'capabilities' | 'features' | 'metaGuidance' | 'references' | 'origins'>;

/** What holds for the whole run, and where that comes from which the author of the file did not write. */
function emitDeclarations(declared: MergedDeclarations, active: readonly ActiveFeature[]): Emitted {
  const rules = [...declared.metaGuidance, ...featureRules(active)];
  const needs = CAPABILITIES.flatMap((capability) => {
    const needed = declared.needs[capability];
    return needed === undefined ? [] : [{ capability, ...needed }];
  });
  const origins = [
    ...needs.flatMap(({ capability, originId }) => originOf(`/capabilities/${capability}`, originId)),
    ...active.flatMap(({ originId }, i) => originOf(`/features/${i}`, originId)),
    ...rules.flatMap(({ originId }, i) => originOf(`/metaGuidance/${i}`, originId)),
    ...declared.references.flatMap(({ originId }, i) => originOf(`/references/${i}`, originId)),
  ];
  return {
    capabilities: Object.fromEntries(needs.map(({ capability, need }) => [capability, need])),
    features: active.map(({ feature, config }) => ({
      featureId: feature.featureId,
      ...(config === undefined ? {} : { config }),
    })),
    metaGuidance: rules.map(({ text }) => text),
    references: declared.references.map(({ at: _, originId: _origin, ...reference }) => reference),
    ...(origins.length === 0 ? {} : { origins }),
  };
}

function originOf(pointer: string, originId: string | undefined): NonNullable<Emitted['origins']> {
  return originId === undefined ? [] : [{ pointer, originId }];
}

type CompiledWarning = CompiledWorkflow['compiledWarnings'][number];

/**
 * The warnings that are pinned with a workflow, by the ids of what they are about. They follow from what was compiled
 * and from nothing else: places in the file would make another hash of another way to write the same.
 */
function compiledWarnings({
  workflowId,
  loops,
  steps,
}: Pick<CompiledWorkflow, 'workflowId' | 'loops' | 'steps'>): CompiledWarning[] {
  const isLegacy = !workflowId.includes('.');
  const byContext = loops.filter(({ control }) => control.kind === 'while' || control.kind === 'until');
  const withSchema = steps.filter(
    ({ criteria }) => criteria !== undefined && criteriaRules(criteria).some(({ kind }) => kind === 'schema'),
  );
  return [
    ...(isLegacy ? [{ code: 'legacy_id' as const, subject: workflowId }] : []),
    ...byContext.map(({ loopId }) => ({ code: 'context_loop' as const, subject: loopId })),
    ...withSchema.map(({ stepId }) => ({ code: 'schema_rule_not_enforced' as const, subject: stepId })),
  ];
}

type NamedCondition = CompiledWorkflow['conditions'][number];

/** The named conditions that the plan uses, sorted. */
function usedConditions(
  plan: Pick<CompiledWorkflow, 'entries' | 'steps' | 'loops'>,
  named: ReadonlyMap<string, WholeCondition>,
): NamedCondition[] {
  const used = new Map<string, Condition>();
  const open = writtenConditions(plan).flatMap(referencesOf);
  for (const id of open) {
    const condition = used.has(id) ? undefined : named.get(id);
    // A step that goes by the decision about a loop was reported.
    if (condition === undefined || condition.kind === 'loop_control') continue;
    used.set(id, condition);
    open.push(...referencesOf(condition));
  }
  return [...used]
    .map(([id, condition]) => ({ conditionId: id as NamedCondition['conditionId'], condition }))
    .sort((a, b) => (a.conditionId < b.conditionId ? -1 : 1));
}
