import { re2Patterns } from '../../src/adapters/patterns.ts';
import { compileWorkflow } from '../../src/core/workflow/compile-workflow.ts';
import type { CompiledWorkflow } from '../../src/core/workflow/compiled/compiled-workflow.ts';
import { sha256 } from './sha256.ts';

const tools = { sha256, compilePattern: re2Patterns() };

/** The compiled form of a workflow file; a file that does not compile is a mistake in the test. */
export function compiled(file: object | string): CompiledWorkflow {
  const text = typeof file === 'string' ? file : JSON.stringify(file);
  const result = compileWorkflow({ text, isBundled: true, templates: new Map(), bindings: {} }, tools);
  if (result.kind === 'refused') throw new Error(result.diagnostics.map(({ message }) => message).join('\n'));
  return result.workflow;
}

export const SMALL_WORKFLOW = compiled({
  id: 'wr.small',
  name: 'Small',
  description: 'One step.',
  steps: [{ id: 'step', title: 'Step', prompt: 'Do it.' }],
});
