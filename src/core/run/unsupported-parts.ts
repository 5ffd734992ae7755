import type { CompiledStep } from '../workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../workflow/compiled/compiled-workflow.ts';

/** What a workflow uses that the engine cannot run yet. Running it without would leave out what its author asked for. */
export function unsupportedParts(workflow: CompiledWorkflow): readonly string[] {
  const used: { readonly [part: string]: boolean } = {
    loops: workflow.loops.length > 0,
    'standing rules': workflow.metaGuidance.length > 0,
    preconditions: workflow.preconditions.length > 0,
    'clarification prompts': workflow.clarificationPrompts.length > 0,
    references: workflow.references.length > 0,
    'run conditions': some(workflow, ({ runCondition }) => runCondition !== undefined),
    'output contracts': some(workflow, ({ output }) => output !== undefined),
    'validation criteria': some(workflow, ({ criteria }) => criteria !== undefined),
    assessments: some(workflow, ({ assessmentIds }) => assessmentIds.length > 0),
    'user dependencies': some(workflow, ({ userDependency }) => userDependency !== undefined),
    roles: some(workflow, ({ agentRole }) => agentRole !== undefined),
    guidance: some(workflow, ({ guidance }) => guidance.length > 0),
    'prompt fragments': some(workflow, ({ fragments }) => fragments.length > 0),
    functions: some(workflow, ({ functionNames }) => functionNames.length > 0),
    delegation: some(workflow, ({ purpose }) => purpose.kind === 'delegation'),
    'context values': some(workflow, ({ prompt, title }) => `${prompt}${title}`.includes('{{')),
  };
  return Object.keys(used).filter((part) => used[part] === true);
}

function some({ steps }: CompiledWorkflow, has: (step: CompiledStep) => boolean): boolean {
  return steps.some(has);
}
