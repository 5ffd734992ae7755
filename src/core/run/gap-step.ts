import type { JsonObject } from '../json/json-value.ts';
import { blockerPointerSchema } from '../log/blockers.ts';
import { type LoopPath, parseStepInstanceKey, stepInstanceKeySchema } from '../log/step-instance-key.ts';
import type { CompiledStep } from '../workflow/compiled/compiled-step.ts';
import type { WorkflowIndex } from '../workflow/compiled/workflow-index.ts';

/** A step of a workflow, in a round of the loops around it. */
type GapStep = { readonly step: CompiledStep; readonly loopPath: LoopPath };

/**
 * The step at which a gap was left, as far as its details tell: they may come with a bundle, and say anything. Where they
 * do not name the step, what the gap is about does; an artifact stands for the only step that asks for it.
 */
export function gapStep(details: JsonObject | undefined, index: WorkflowIndex): GapStep | undefined {
  const named = instanceOf(details?.['step'], index);
  if (named !== undefined) return named;
  const step = stepAbout(details, index);
  if (step === undefined) return undefined;
  const requirement = details?.['requirement'];
  const asked = typeof requirement === 'string' ? instanceOf(requirement.replace(/^[a-z_]+:/, ''), index) : undefined;
  return { step, loopPath: asked?.step === step ? asked.loopPath : [] };
}

function instanceOf(key: unknown, { steps }: WorkflowIndex): GapStep | undefined {
  const known = stepInstanceKeySchema.safeParse(key);
  if (!known.success) return undefined;
  const { stepId, loopPath } = parseStepInstanceKey(known.data);
  const step = steps.get(stepId);
  return step === undefined ? undefined : { step, loopPath };
}

function stepAbout(details: JsonObject | undefined, { steps, workflow }: WorkflowIndex): CompiledStep | undefined {
  const pointer = blockerPointerSchema.safeParse(details?.['pointer']).data;
  if (pointer?.kind === 'workflow_step') return steps.get(pointer.stepId);
  if (pointer?.kind !== 'output_contract') return undefined;
  const [step, ...others] = workflow.steps.filter(({ output }) => output?.contractRef === pointer.contractRef);
  return others.length === 0 ? step : undefined;
}
