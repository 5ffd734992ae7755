import * as fc from 'fast-check';
import type { CompiledLoop, Entry } from '../../src/core/workflow/compiled/compiled-loop.ts';
import type { CompiledStep } from '../../src/core/workflow/compiled/compiled-step.ts';
import type { CompiledWorkflow } from '../../src/core/workflow/compiled/compiled-workflow.ts';
import type { Condition } from '../../src/core/workflow/compiled/condition.ts';
import { SMALL_WORKFLOW } from './compiled.ts';
import { condition as conditionId, loop as loopId, step as stepId } from './ids.ts';

/** A part of a workflow before it has a name. */
type Part = StepPart | LoopPart;
type StepPart = { readonly kind: 'step'; readonly runCondition: Condition | undefined };
type LoopPart = {
  readonly kind: 'loop';
  readonly runCondition: Condition | undefined;
  readonly control: CompiledLoop['control'];
  readonly maxIterations: number;
  readonly variables: CompiledLoop['variables'];
  readonly body: readonly Part[];
  readonly guard: { readonly at: number; readonly entries: number; readonly condition: Condition } | undefined;
};

const NAMED: { readonly [name: string]: Condition } = {
  'a-is-one': { kind: 'compare', variable: 'a', comparison: 'equals', value: 1 },
  'not-a-is-one': { kind: 'not', condition: { kind: 'ref', conditionId: 'a-is-one' } },
};

const leaf = fc.oneof(
  fc.constantFrom<Condition>({ kind: 'always' }, { kind: 'never' }),
  fc.constantFrom(...Object.keys(NAMED)).map((id): Condition => ({ kind: 'ref', conditionId: id })),
  fc
    .tuple(
      fc.constantFrom('a', 'b', 'currentIteration', 'currentIndex', 'currentItem', 'other'),
      fc.constantFrom('equals' as const, 'not_equals' as const),
      fc.nat(2),
    )
    .map(([variable, comparison, value]): Condition => ({ kind: 'compare', variable, comparison, value })),
);
const condition = fc.oneof(
  { weight: 4, arbitrary: leaf },
  { weight: 1, arbitrary: leaf.map((one): Condition => ({ kind: 'not', condition: one })) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.constantFrom('and' as const, 'or' as const), fc.array(leaf, { minLength: 1, maxLength: 2 }))
      .map(([kind, conditions]): Condition => ({ kind, conditions })),
  },
);
const seldom = <Value>(one: fc.Arbitrary<Value>) =>
  fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: one });
const maybe = seldom(condition);

const control = fc.oneof(
  fc.constant({ kind: 'artifact' as const }),
  fc.record({ kind: fc.constantFrom('while' as const, 'until' as const), condition }),
  fc.record({
    kind: fc.constant('for' as const),
    count: fc.oneof(
      fc.record({ kind: fc.constant('literal' as const), count: fc.nat(2) }),
      fc.record({ kind: fc.constant('context' as const), variable: fc.constantFrom('a', 'count', 'currentIndex') }),
    ),
  }),
  fc.record({
    kind: fc.constant('for_each' as const),
    items: fc.oneof(
      fc.record({
        kind: fc.constant('literal' as const),
        items: fc.array(fc.constantFrom(0, 1, [2, 0]), { maxLength: 2 }),
      }),
      fc.record({ kind: fc.constant('context' as const), variable: fc.constantFrom('list', 'currentItem', 'b') }),
    ),
  }),
) as fc.Arbitrary<CompiledLoop['control']>;

const variables = fc.constantFrom(
  { iteration: 'currentIteration', item: 'currentItem', index: 'currentIndex' },
  { iteration: 'other', item: 'currentItem', index: 'place' },
  { iteration: 'currentIteration', item: 'other', index: 'a' },
);

const guard = (length: number) =>
  seldom(
    fc
      .nat(length - 1)
      .chain((at) => fc.record({ at: fc.constant(at), entries: fc.integer({ min: 1, max: length - at }), condition })),
  );

function parts(depth: number): fc.Arbitrary<readonly Part[]> {
  const stepPart = fc.record({ kind: fc.constant('step' as const), runCondition: maybe });
  const one: fc.Arbitrary<Part> = depth === 0 ? stepPart : fc.oneof(stepPart, loopPart(depth - 1));
  return fc.array(one, { minLength: 1, maxLength: 3, size: 'max' });
}

function loopPart(depth: number): fc.Arbitrary<LoopPart> {
  return parts(depth).chain((body) =>
    fc.record({
      kind: fc.constant('loop' as const),
      runCondition: maybe,
      control,
      // A literal over the limit would not compile.
      maxIterations: fc.integer({ min: 2, max: 3 }),
      variables,
      body: fc.constant(body),
      guard: guard(body.length),
    }),
  );
}

/** Compiled workflows with loops in loops, three deep at most, that only depend on a handful of context values. */
export const randomWorkflow: fc.Arbitrary<CompiledWorkflow> = parts(3).chain((entries) =>
  guard(entries.length).map((own) => named(entries, own)),
);

/** Contexts at a step: some of the values that conditions and loops read, right and wrong ones. */
export const randomContext = fc.record(
  {
    a: fc.nat(2),
    b: fc.constantFrom(0, 1, 2, [1, 2]),
    count: fc.constantFrom<number | string>(0, 1, 2, '3', 4, 'many'),
    list: fc.constantFrom<unknown>([], [1], [[1, 2], 0], [0, 1, 2], [0, 1, 2, 0], [[2, 1, 0, 1], [1]], 'text'),
  },
  { requiredKeys: ['list'] },
);

function named(entries: readonly Part[], own: LoopPart['guard']): CompiledWorkflow {
  const steps: CompiledStep[] = [];
  const loops: CompiledLoop[] = [];
  const [plain] = SMALL_WORKFLOW.steps;
  if (plain === undefined) throw new Error('the small workflow has a step');
  const name = (list: readonly Part[], guarded: LoopPart['guard']): Entry[] =>
    list.map((part, i) => {
      const guards = guarded?.at === i ? { guards: [{ condition: guarded.condition, entries: guarded.entries }] } : {};
      const run = part.runCondition === undefined ? {} : { runCondition: part.runCondition };
      if (part.kind === 'step') {
        const id = stepId(`s${steps.length}`);
        steps.push({ ...plain, stepId: id, ...run });
        return { kind: 'step', stepId: id, ...guards };
      }
      const { kind: _, runCondition: _run, body, guard: inner, ...settings } = part;
      const place = loops.length;
      const id = loopId(`l${place}`);
      const compiled = { loopId: id, stepId: stepId(`loop-${id}`), title: id, ...run, ...settings, body: [] };
      loops.push(compiled);
      loops[place] = { ...compiled, body: name(body, inner) };
      return { kind: 'loop', loopId: id, ...guards };
    });
  const all = name(entries, own);
  const conditions = Object.entries(NAMED).map(([id, one]) => ({ conditionId: conditionId(id), condition: one }));
  return { ...SMALL_WORKFLOW, entries: all, loops, steps, conditions };
}
