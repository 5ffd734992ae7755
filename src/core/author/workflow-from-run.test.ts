import { describe, expect, it } from 'vitest';
import { BUNDLED, compiled, compileText, compileValue, found } from '../../../test/compiler/compile-file.ts';
import { workflowOfRun } from './workflow-from-run.ts';

const NAMED = { id: 'team.made', name: 'Made', description: 'Made from a run.' };

describe('a workflow made from a run', () => {
  it.each(BUNDLED.map(({ name, text }) => [name, text]))('compiles with the steps of %s', (_, text) => {
    const workflow = compiled(compileText(text, { isBundled: true }));
    const steps = workflow.steps.filter(({ purpose }) => purpose.kind === 'work');
    const { workflow: made, scenarios } = workflowOfRun({ workflow, steps, goal: 'Do what was done before' }, NAMED);
    const result = compileValue(made);
    expect(found(result).filter((line) => line.startsWith('error'))).toEqual([]);
    expect(compiled(result).steps.map(({ stepId }) => stepId)).toEqual(steps.map(({ stepId }) => stepId));
    expect(scenarios).toEqual([
      { name: 'goes as the run went', expect: { path: steps.map(({ stepId }) => stepId), complete: true } },
    ]);
  });
});
