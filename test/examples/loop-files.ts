import type { CompiledWorkflow } from '../../src/core/workflow/compiled/compiled-workflow.ts';
import { compiled } from './compiled.ts';

type Settings = { readonly [key: string]: unknown };

/** Steps and loops as authors write them, with no more than a test needs. */
export const step = (id: string, settings: Settings = {}) => ({ id, title: id, prompt: 'Do it.', ...settings });

export const loop = (id: string, settings: Settings, body: readonly unknown[]) => {
  const { runCondition, ...rest } = settings;
  const own = runCondition === undefined ? {} : { runCondition };
  return { id, title: `Loop ${id}`, type: 'loop', loop: { maxIterations: 3, ...rest }, body, ...own };
};

/** A step in which an agent decides whether a loop continues. */
export const decision = (id: string, settings: Settings = {}) =>
  step(id, { outputContract: { contractRef: 'wr.contracts.loop_control' }, ...settings });

export const whileLoop = (id: string, condition: unknown, body: readonly unknown[]) =>
  loop(id, { type: 'while', condition }, body);
export const untilLoop = (id: string, condition: unknown, body: readonly unknown[]) =>
  loop(id, { type: 'until', condition }, body);
export const forLoop = (id: string, count: number | string, body: readonly unknown[]) =>
  loop(id, { type: 'for', count }, body);
export const forEachLoop = (id: string, items: string | readonly unknown[], body: readonly unknown[]) =>
  loop(id, { type: 'forEach', items }, body);
export const decidedLoop = (id: string, body: readonly unknown[]) => loop(id, { type: 'while' }, body);

export function workflowOf(steps: readonly unknown[], parts: Settings = {}): CompiledWorkflow {
  return compiled({ id: 'wr.walked', name: 'Walked', description: 'To be walked.', steps, ...parts });
}
