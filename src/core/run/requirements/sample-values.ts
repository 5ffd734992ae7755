import { isObject, type JsonObject, type JsonValue } from '../../json/json-value.ts';
import type { CompiledLoop } from '../../workflow/compiled/compiled-loop.ts';
import { type Comparison, type Condition, conditionLeaves } from '../../workflow/compiled/condition.ts';
import { loopOf, stepOf, type WorkflowIndex } from '../../workflow/compiled/workflow-index.ts';
import { pathsIn } from '../condition/context-values.ts';

/** A value that a loop can iterate over. */
function sampleItems(index: WorkflowIndex, loop: CompiledLoop): JsonValue {
  const sample = (name: string) => `<${name}>`;
  return itemsLike(index, loop, { count: 1, item: sample, field: sample });
}

type Leaves = {
  readonly count: JsonValue;
  readonly item: (name: string) => string;
  /** A field of an item, by its path in the item. */
  readonly field: (path: string) => string;
};

/** More fields would not fit into a form. */
const FIELDS_MAX = 12;

/**
 * A value of the form that a loop iterates over: with the fields that its body uses of an item, and with what the loops
 * inside it iterate over item by item.
 */
export function itemsLike(index: WorkflowIndex, loop: CompiledLoop, leaves: Leaves): JsonValue {
  if (loop.control.kind === 'for') return leaves.count;
  const { item } = loop.variables;
  const inside = loopsInside(index, loop).flatMap((inner) => {
    const variable = contextVariable(inner);
    return variable?.startsWith(`${item}.`) === true
      ? [[variable.slice(item.length + 1), itemsLike(index, inner, leaves)] as const]
      : [];
  });
  const used = fieldsOf(index, loop).slice(0, FIELDS_MAX);
  const fields = new Map<string, JsonValue>([...used.map((path) => [path, leaves.field(path)] as const), ...inside]);
  if (fields.size === 0) return [leaves.item(item)];
  // What is inside a field says more than the field alone.
  const isWhole = (path: string) => ![...fields.keys()].some((other) => other.startsWith(`${path}.`));
  return [[...fields].reduce((made, [path, value]) => (isWhole(path) ? withPath(made, path, value) : made), {})];
}

/** The paths in an item that the texts and conditions of a loop's body use. */
function fieldsOf(index: WorkflowIndex, loop: CompiledLoop): readonly string[] {
  const { item } = loop.variables;
  const loops = [loop, ...loopsInside(index, loop)];
  const steps = loops.flatMap(({ body }) =>
    body.flatMap((entry) => (entry.kind === 'step' ? [stepOf(index, entry.stepId)] : [])),
  );
  const texts = steps.flatMap(({ title, prompt, agentRole = '', guidance, fragments, checks = [] }) => [
    title,
    prompt,
    agentRole,
    ...guidance,
    ...fragments.map(({ text }) => text),
    ...checks.map(({ run }) => run),
  ]);
  const places = texts.flatMap(pathsIn);
  const conditions = [
    ...[...steps, ...loops.slice(1)].flatMap(({ runCondition }) => runCondition ?? []),
    ...steps.flatMap(({ fragments }) => fragments.map(({ when }) => when)),
    ...index.workflow.conditions.map(({ condition }) => condition),
  ];
  const compared = conditions
    .flatMap((condition) => (condition === undefined ? [] : conditionLeaves(condition)))
    .flatMap((leaf) => (leaf.kind === 'compare' ? [leaf.variable] : []));
  const found = [...places, ...compared].filter((path) => path.startsWith(`${item}.`));
  return [...new Set(found.map((path) => path.slice(item.length + 1)))];
}

function withPath(object: JsonObject, path: string, value: JsonValue): JsonObject {
  const [first = '', ...rest] = path.split('.');
  if (rest.length === 0) return { ...object, [first]: value };
  const inner = object[first];
  return { ...object, [first]: withPath(isObject(inner) ? inner : {}, rest.join('.'), value) };
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
