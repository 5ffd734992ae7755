import type { CompiledWorkflow } from '../../../../src/core/workflow/compiled/compiled-workflow.ts';
import { eventsAt, type SeenNode } from '../witness/run-nodes.ts';

type Taken = {
  /** The step that was taken, as `loop@0::step`. */
  readonly from: string;
  /** The node that it led to. */
  readonly node: SeenNode;
  readonly context: object;
  readonly artifacts: readonly Record<string, unknown>[];
};

/** What a step asked for that was not there when it was taken: unattended it must be a gap, otherwise it must not be. */
export function unmetAt(workflow: CompiledWorkflow, taken: Taken): readonly string[] {
  const { node, from } = taken;
  const lacking = lackingAt(workflow, taken);
  // Lesser gaps say what was passed over in any mode.
  const gaps = eventsAt(node, 'gap_recorded').filter(
    ({ data }) => data.resolution.kind === 'unresolved' && data.severity === 'critical',
  );
  if (autonomyAt(node) !== 'full_auto_never_stop') {
    return [
      ...lacking.map((what) => `${from} was taken without ${what}`),
      ...(gaps.length === 0 ? [] : [`${from} opened a gap in a mode that blocks`]),
    ];
  }
  return gaps.length >= lacking.length
    ? []
    : [`${from} lacked ${lacking.join(' and ')}, and ${gaps.length} gaps tell it`];
}

function lackingAt(workflow: CompiledWorkflow, { from, node, context, artifacts }: Taken): readonly string[] {
  const step = workflow.steps.find(({ stepId }) => stepId === (from.split('::').at(-1) ?? from));
  if (step === undefined) return [];
  const has = (kind: string) => artifacts.some((one) => one['kind'] === kind);
  const kindOf = (ref: string) =>
    workflow.contracts.find(({ contractRef }) => contractRef === ref)?.artifactKind ?? ref;
  const hasNotes = eventsAt(node, 'node_output_appended').some(({ data }) => data.outputChannel === 'recap');
  const { output, userDependency, confirmation } = step;
  const key = userDependency?.contextKey;
  return [
    ...(step.isNoteRequired && !hasNotes ? ['notes'] : []),
    ...(output?.isRequired === true && !has(kindOf(output.contractRef)) ? [output.contractRef] : []),
    ...(step.assessmentIds.length > 0 && !has('wr.assessment') ? ['an assessment'] : []),
    ...(key !== undefined && !Object.hasOwn(context, key) ? [`a value for ${key}`] : []),
    ...(confirmation.kind === 'human_approval' && node.parent?.kind === 'step' ? ['being held up once'] : []),
  ];
}

/** In force at a node: the last that was set on its way. */
function autonomyAt(node: SeenNode): string {
  for (let at: SeenNode | undefined = node; at !== undefined; at = at.parent) {
    const change = eventsAt(at, 'preferences_changed').at(-1);
    if (change !== undefined) return change.data.effective.autonomy;
  }
  return 'guided';
}
