import type { Entry } from '../../src/core/workflow/compiled/compiled-loop.ts';
import type { CompiledStep } from '../../src/core/workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../../src/core/workflow/compiled/compiled-workflow.ts';

/** The plan of a workflow as lines that can be read from top to bottom. */
export function planOf(workflow: CompiledWorkflow): readonly string[] {
  return linesOf(workflow.entries, workflow, '');
}

function linesOf(entries: readonly Entry[], workflow: CompiledWorkflow, indent: string): readonly string[] {
  return entries.flatMap((entry) => {
    if (entry.kind === 'step') {
      const step = workflow.steps.find(({ stepId }) => stepId === entry.stepId);
      return step === undefined
        ? [`${indent}missing ${entry.stepId}`]
        : [`${indent}${stepLine(step)}${conditional(step)}${guarded(entry)}`];
    }
    const loop = workflow.loops.find(({ loopId }) => loopId === entry.loopId);
    if (loop === undefined) return [`${indent}missing ${entry.loopId}`];
    const line = `${indent}loop ${loop.loopId}: ${loop.control.kind}, at most ${loop.maxIterations}`;
    return [`${line}${conditional(loop)}${guarded(entry)}`, ...linesOf(loop.body, workflow, `${indent}  `)];
  });
}

function stepLine(step: CompiledStep): string {
  const origin = step.provenance.source === 'authored' ? '' : ` from ${step.provenance.originId}`;
  const purpose = step.purpose.kind === 'work' ? '' : ` (${step.purpose.kind})`;
  const output = step.output === undefined ? '' : ` → ${step.output.contractRef}`;
  return `${step.stepId}${purpose}${output}${origin}`;
}

function conditional({ runCondition }: Pick<CompiledStep, 'runCondition'>): string {
  return runCondition === undefined ? '' : ' if …';
}

/** What is decided about this entry and those behind it together. */
function guarded({ guards = [] }: Entry): string {
  return guards.map(({ entries }) => ` (if … for ${entries})`).join('');
}
