import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import { promptBytes } from '../compiled/prompt-bytes.ts';

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
