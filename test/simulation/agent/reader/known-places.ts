import { re2Patterns } from '../../../../src/adapters/patterns.ts';
import type { StepPlace } from '../../../../src/core/run/step-place.ts';
import { indexWorkflow, type WorkflowIndex } from '../../../../src/core/workflow/compiled/workflow-index.ts';
import { BUNDLED, compiled, compileText } from '../../../compiler/compile-file.ts';
import { SMALL_FILES } from '../world/small-workflows.ts';

const compilePattern = re2Patterns();
const indexes = new Map<string, WorkflowIndex | undefined>();

/** A step of a workflow that the simulators play, for the filler: it may read the pinned rules. */
export function knownPlace(workflowId: string | undefined, stepId: string | undefined): StepPlace | undefined {
  if (workflowId === undefined || stepId === undefined) return undefined;
  const index = indexOf(workflowId);
  const step = index?.steps.get(stepId);
  if (index === undefined || step === undefined) return undefined;
  const preferences = { autonomy: 'guided', riskPolicy: 'conservative' } as const;
  return { index, step, facts: { context: {}, preferences, capabilities: {}, compilePattern }, loopVariables: {} };
}

function indexOf(workflowId: string): WorkflowIndex | undefined {
  if (!indexes.has(workflowId)) indexes.set(workflowId, indexWith(workflowId));
  return indexes.get(workflowId);
}

function indexWith(workflowId: string): WorkflowIndex | undefined {
  const small = SMALL_FILES.flatMap(({ content }) => (content.kind === 'text' ? [content.text] : []));
  const isMeant = (text: string) => JSON.parse(text).id === workflowId;
  const own = small.find(isMeant);
  if (own !== undefined) return indexWorkflow(compiled(compileText(own, { isBundled: false })));
  const bundled = BUNDLED.find(({ text }) => isMeant(text));
  return bundled && indexWorkflow(compiled(compileText(bundled.text, { isBundled: true })));
}
