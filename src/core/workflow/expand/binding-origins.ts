import { isList, isObject, type JsonValue } from '../../json/json-value.ts';
import type { CompiledWorkflow } from '../compiled/compiled-workflow.ts';
import type { Bindings } from './expanded.ts';

type Origin = NonNullable<CompiledWorkflow['origins']>[number];

/**
 * Which texts the project's bindings put into a workflow. A text is compared with the same text compiled without the
 * binding, so nothing that the project wrote can hide and nothing that the author wrote is marked.
 */
export function bindingOrigins(
  workflow: CompiledWorkflow,
  slotIds: readonly string[],
  { bindings, without }: { readonly bindings: Bindings; readonly without: (slotId: string) => CompiledWorkflow },
): readonly Origin[] {
  const bound = slotIds.filter((slotId) => Object.hasOwn(bindings, slotId));
  return [...new Set(bound)].sort().flatMap((slotId) =>
    changedTexts(workflow, without(slotId)).map((pointer): Origin => {
      return { pointer, originId: slotId, source: 'project_binding', text: bindings[slotId] ?? '' };
    }),
  );
}

/** Steps are compared by id: a binding may also choose a routine, and then the steps are others. */
function changedTexts({ steps, ...whole }: CompiledWorkflow, other: CompiledWorkflow): readonly string[] {
  const { steps: otherSteps, ...otherWhole } = other;
  const known = new Map(otherSteps.map((step) => [String(step.stepId), step]));
  const { conditions: _, entries: _entries, compiledWarnings: _warnings, ...texts } = whole;
  return [
    ...differing(texts as JsonValue, otherWhole as JsonValue, ''),
    ...steps.flatMap((step, i) => differing(step as JsonValue, known.get(step.stepId) as JsonValue, `/steps/${i}`)),
  ];
}

function differing(value: JsonValue, other: JsonValue | undefined, pointer: string): readonly string[] {
  if (typeof value === 'string') return value === other ? [] : [pointer];
  if (isList(value)) {
    return value.flatMap((one, i) => differing(one, isList(other) ? other[i] : undefined, `${pointer}/${i}`));
  }
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, one]) =>
    differing(one, isObject(other) ? other[key] : undefined, `${pointer}/${key}`),
  );
}
