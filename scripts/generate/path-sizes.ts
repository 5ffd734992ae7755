import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Scenario, scenarioFileSchema } from '../../src/core/run/scenario/scenario.ts';

const TASK_SIZES = ['small', 'medium', 'large'] as const;

/** How many steps the shortest undisturbed scenario of each size takes; undefined where none is told apart by size. */
export function pathSizes(root: string, workflowId: string): readonly (number | undefined)[] {
  const text = readFileSync(join(root, 'workflows', `${workflowId}.test.json`), 'utf8');
  const { scenarios } = scenarioFileSchema.parse(JSON.parse(text));
  return TASK_SIZES.map((size) => {
    const paths = scenarios.filter((scenario) => isOfSize(scenario, size)).flatMap(({ expect }) => [expect.path ?? []]);
    return paths.map(({ length }) => length).sort((a, b) => a - b)[0];
  });
}

function isOfSize({ context, steps = [], expect }: Scenario, size: string): boolean {
  const said = [context, ...steps.map((step) => step.context)].flatMap((given) => given?.['taskSize'] ?? []);
  return (
    expect.path !== undefined && (expect.blocks ?? 0) === 0 && said.length > 0 && said.every((one) => one === size)
  );
}
