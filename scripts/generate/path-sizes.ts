import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Scenario, scenarioFileSchema } from '../../src/core/author/scenario.ts';

const TASK_SIZES = ['small', 'medium', 'large'] as const;

/** How many steps the first undisturbed scenario of each size takes; undefined where none names a size. */
export function pathSizes(root: string, workflowId: string): readonly (number | undefined)[] {
  const text = readFileSync(join(root, 'workflows', `${workflowId}.test.json`), 'utf8');
  const { scenarios } = scenarioFileSchema.parse(JSON.parse(text));
  return TASK_SIZES.map((size) => scenarios.find((scenario) => isOfSize(scenario, size))?.expect.path?.length);
}

function isOfSize({ context, steps = [], expect }: Scenario, size: string): boolean {
  const said = [context, ...steps.map((step) => step.context)].flatMap((given) => given?.['taskSize'] ?? []);
  return (
    expect.path !== undefined && (expect.blocks ?? 0) === 0 && said.length > 0 && said.every((one) => one === size)
  );
}
