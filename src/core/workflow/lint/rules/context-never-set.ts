import type { CompiledLoop } from '../../compiled/compiled-loop.ts';
import type { CompiledWorkflow } from '../../compiled/compiled-workflow.ts';
import type { LintRule } from '../lint-rule.ts';
import { sourceTexts } from '../source-texts.ts';
import { usedVariables } from '../used-variables.ts';

/** Given by whoever starts a run. */
const GIVEN = ['goal'];

export const contextNeverSet: LintRule = {
  code: 'context_never_set',
  looksAt: 'workflow',
  finds: 'a value that conditions or prompts go by, and that no text tells the agent to set',
  why: 'The condition always comes out the same way, and a prompt shows [unset: …] instead of the value.',
  hint: 'Name the context key and its allowed values in the prompt of an earlier step, as in: send context {"taskSize": "small"} or {"taskSize": "large"}.',
  find: ({ kind, root, workflow }) => {
    // What a routine goes by may be set by whoever calls it.
    if (kind === 'routine') return [];
    const told = agentTexts(workflow);
    const loopNames = new Set(workflow.loops.flatMap(({ variables }: CompiledLoop) => Object.values(variables)));
    const asked = new Set(workflow.steps.flatMap(({ userDependency }) => userDependency?.contextKey ?? []));
    const isKnown = (name: string) =>
      GIVEN.includes(name) || loopNames.has(name) || asked.has(name as never) || mentions(told, name);
    const seen = new Set<string>();
    return usedVariables(sourceTexts(root)).flatMap(({ name, at }) => {
      const key = name.split('.')[0] ?? name;
      if (seen.has(key) || isKnown(key)) return [];
      seen.add(key);
      return [{ at, message: `Nothing tells the agent to set "${key}", so it is never there.` }];
    });
  },
};

/** Everything an agent reads, without the places where values are put in. */
function agentTexts({ steps, functions, metaGuidance, preconditions, clarificationPrompts }: CompiledWorkflow): string {
  return [
    ...steps.flatMap(({ prompt, guidance, fragments, output, userDependency }) => [
      prompt,
      ...guidance,
      ...fragments.map(({ text }) => text),
      ...(output?.hints ?? []),
      userDependency?.prompt ?? '',
    ]),
    ...functions.map(({ definition }) => definition),
    ...metaGuidance,
    ...preconditions,
    ...clarificationPrompts,
  ]
    .join('\n')
    .replaceAll(/\{\{[^}]*\}\}/g, ' ');
}

function mentions(text: string, name: string): boolean {
  let at = text.indexOf(name);
  while (at !== -1) {
    const around = `${text.charAt(at - 1)}${text.charAt(at + name.length)}`;
    if (!/[\w-]/.test(around)) return true;
    at = text.indexOf(name, at + 1);
  }
  return false;
}
