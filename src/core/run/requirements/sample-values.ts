import type { JsonObject, JsonValue } from '../../json/json-value.ts';
import type { CompiledLoop } from '../../workflow/compiled/compiled-loop.ts';
import { type Comparison, type Condition, conditionLeaves } from '../../workflow/compiled/condition.ts';
import { loopOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';

/** A value that a loop can iterate over. */
function sampleItems(index: WorkflowIndex, loop: CompiledLoop): JsonValue {
  return itemsLike(index, loop, { count: 1, item: (name) => `<${name}>` });
}

/** A value of the form that a loop iterates over, with what the loops inside it iterate over item by item. */
export function itemsLike(
  index: WorkflowIndex,
  loop: CompiledLoop,
  leaves: { readonly count: JsonValue; readonly item: (name: string) => string },
): JsonValue {
  if (loop.control.kind === 'for') return leaves.count;
  const { item } = loop.variables;
  const inside = loopsInside(index, loop).flatMap((inner) => {
    const variable = contextVariable(inner);
    return variable?.startsWith(`${item}.`) === true
      ? [nested(variable.slice(item.length + 1), itemsLike(index, inner, leaves))]
      : [];
  });
  return [inside.length === 0 ? leaves.item(item) : Object.assign({}, ...inside)];
}

/** A value for a context key: what a loop can iterate over, or else a text; `undefined` where only a part is known. */
export function sampleFor(index: WorkflowIndex, key: string): JsonValue | undefined {
  if (key.includes('.')) return undefined;
  const { loops } = index.workflow;
  const loop = loops.find((one) => contextVariable(one) === key);
  if (loop !== undefined) return sampleItems(index, loop);
  if (loops.some((one) => contextVariable(one)?.startsWith(`${key}.`))) return undefined;
  return sampleNumber(index, key) ?? `<${key}>`;
}

/** A number that a condition compares the key with; any other kind of value could never match. */
function sampleNumber({ workflow }: WorkflowIndex, key: string): number | undefined {
  const named = workflow.conditions.map(({ condition }) => condition);
  const inline = [...workflow.steps, ...workflow.loops].flatMap(({ runCondition }) => runCondition ?? []);
  return [...named, ...inline].flatMap((condition) => numbersIn(condition, key)).find(Number.isFinite);
}

function numbersIn(condition: Condition, key: string): readonly number[] {
  return conditionLeaves(condition).flatMap((leaf) =>
    leaf.kind === 'compare' && leaf.variable === key && ORDERED.has(leaf.comparison) ? [Number(leaf.value)] : [],
  );
}

const ORDERED: ReadonlySet<Comparison> = new Set(['gt', 'gte', 'lt', 'lte']);

/** The context key that a loop iterates over, where it reads one. */
export function contextVariable({ control }: CompiledLoop): string | undefined {
  const source = control.kind === 'for' ? control.count : control.kind === 'for_each' ? control.items : undefined;
  return source?.kind === 'context' ? source.variable : undefined;
}

/** The outer loop of a loop that gives this name to its item. */
export function loopNaming(index: WorkflowIndex, item: string, inner: string): CompiledLoop | undefined {
  return index.workflow.loops.find(
    (loop) => loop.variables.item === item && loopsInside(index, loop).some(({ loopId }) => loopId === inner),
  );
}

/** The loops that see the item of a loop: a loop further inside may hide it. */
function loopsInside(index: WorkflowIndex, { body, variables }: CompiledLoop): readonly CompiledLoop[] {
  const direct = body.flatMap((entry) => (entry.kind === 'loop' ? [loopOf(index, entry.loopId)] : []));
  return direct.flatMap((loop) =>
    loop.variables.item === variables.item ? [loop] : [loop, ...loopsInside(index, loop)],
  );
}

function nested(path: string, value: JsonValue): JsonObject {
  const [first = '', ...rest] = path.split('.');
  return { [first]: rest.length === 0 ? value : nested(rest.join('.'), value) };
}
