import type { CompiledLoop, Entry } from '../../src/core/workflow/compiled/compiled-loop.ts';
import type { CompiledWorkflow } from '../../src/core/workflow/compiled/compiled-workflow.ts';
import type { Condition } from '../../src/core/workflow/compiled/condition.ts';

/** What the agent sends when it has done a step. */
export type Answer = {
  readonly context: object;
  readonly decision: { readonly loopId: string; readonly decision: string } | undefined;
};

/** What happened before a step, or before the end. */
export type Leg = { readonly skipped: readonly string[]; readonly troubles: readonly string[]; readonly step: string };

/** The most steps and loops that may be skipped between two steps before loops stop. */
const PASSED_MAX = 500;

/** The whole run, and what happened since the last step. */
type Run = {
  readonly workflow: CompiledWorkflow;
  context: object;
  skipped: string[];
  troubles: string[];
  passed: number;
};

/** An iteration of a loop, or the top level. */
type Scope = {
  readonly path: string;
  readonly values: object;
  readonly loopId?: string;
  decision?: string;
  readonly outer?: Scope;
};
type Steps = Generator<Leg, void, Answer>;

/**
 * The simplest possible interpreter of workflows: a generator that calls itself for each loop and waits at each step for
 * an answer. It shares no code with the engine and has no snapshots.
 */
export function* naiveRun(workflow: CompiledWorkflow, context: object): Generator<Leg, Leg, Answer> {
  const run = { workflow, context, skipped: [], troubles: [], passed: 0 };
  yield* listOf(run, workflow.entries, { path: '', values: {} });
  return { skipped: run.skipped, troubles: run.troubles, step: 'complete' };
}

function* listOf(run: Run, entries: readonly Entry[], scope: Scope): Steps {
  const rest = [...entries];
  while (rest.length > 0) {
    const [entry] = rest;
    const part = [...run.workflow.steps, ...run.workflow.loops].find((one) =>
      entry?.kind === 'loop' ? 'loopId' in one && one.loopId === entry.loopId : one.stepId === entry?.stepId,
    );
    if (entry === undefined || part === undefined) throw new Error('every entry names a part');
    const own = part.runCondition === undefined ? [] : [{ condition: part.runCondition, entries: 1 }];
    const failed = [...(entry.guards ?? []), ...own].find(({ condition }) => !holds(run, condition, scope));
    const taken = rest.splice(0, failed?.entries ?? 1);
    if (failed !== undefined) passAll(run, taken, { scope, by: failed.condition });
    else if (!('loopId' in part)) yield* doStep(run, part.stepId, scope);
    else {
      yield* roundsOf(run, part, scope);
      run.passed += 1;
    }
  }
}

function* doStep(run: Run, stepId: string, scope: Scope): Steps {
  const answer = yield { skipped: run.skipped, troubles: run.troubles, step: `${scope.path}${stepId}` };
  Object.assign(run, { context: answer.context, skipped: [], troubles: [], passed: 0 });
  for (let open: Scope | undefined = scope; open !== undefined; open = open.outer) {
    if (answer.decision !== undefined && open.loopId === answer.decision.loopId)
      open.decision = answer.decision.decision;
  }
}

function passAll(run: Run, entries: readonly Entry[], { scope, by }: { scope: Scope; by: Condition }): void {
  for (const entry of entries) {
    const loop = run.workflow.loops.find((one) => entry.kind === 'loop' && one.loopId === entry.loopId);
    const id = entry.kind === 'step' ? entry.stepId : loop?.stepId;
    run.skipped.push(`${scope.path}${id}${by.kind === 'ref' ? ` by ${by.conditionId}` : ''}`);
    run.passed += 1;
  }
}

function* roundsOf(run: Run, loop: CompiledLoop, outer: Scope): Steps {
  const items = itemsOf(run, loop, outer);
  let before: string | undefined;
  for (let round = 0; ; round += 1) {
    const scope: Scope = {
      path: `${outer.path.replace(/::$/, '/')}${loop.loopId}@${round}::`,
      values: {
        ...outer.values,
        [loop.variables.iteration]: round + 1,
        [loop.variables.index]: round,
        ...(loop.control.kind === 'for_each' ? { [loop.variables.item]: items?.[round] } : {}),
      },
      loopId: loop.loopId,
      outer,
    };
    if (!wantsRound(run, loop, { ...scope, round, items, before })) return;
    if (round >= loop.maxIterations) return trouble(run, 'limit_reached', loop);
    if (round > 0 && run.passed >= PASSED_MAX) return trouble(run, 'nothing_due', loop);
    yield* listOf(run, loop.body, scope);
    before = scope.decision;
  }
}

type Wanted = Scope & { round: number; items: readonly unknown[] | undefined; before: string | undefined };

function wantsRound(run: Run, { control }: CompiledLoop, { round, items, before, ...scope }: Wanted): boolean {
  if (control.kind === 'artifact') return round === 0 || before !== 'stop';
  if (control.kind === 'while') return holds(run, control.condition, scope);
  if (control.kind === 'until') return !holds(run, control.condition, scope);
  return items !== undefined && round < items.length;
}

/** One item for each round; `undefined` if there are none or they cannot be read. */
function itemsOf(run: Run, loop: CompiledLoop, scope: Scope): readonly unknown[] | undefined {
  const { control, maxIterations } = loop;
  if (control.kind !== 'for' && control.kind !== 'for_each') return undefined;
  const source = control.kind === 'for' ? control.count : control.items;
  const literal = 'count' in source ? source.count : 'items' in source ? source.items : undefined;
  const found = source.kind === 'context' ? read(run, source.variable, scope) : literal;
  const isCount = /^[0-9]+$/.test(typeof found === 'object' ? '' : String(found));
  const items = control.kind === 'for' && isCount ? Array.from({ length: Number(found) }) : found;
  if (!Array.isArray(items) || (control.kind === 'for' && !isCount)) trouble(run, 'not_iterable', loop);
  else if (items.length > maxIterations) trouble(run, 'too_many_items', loop);
  else return items;
  return undefined;
}

function trouble({ troubles }: Run, kind: string, { loopId }: CompiledLoop): void {
  if (!troubles.includes(`${kind} ${loopId}`)) troubles.push(`${kind} ${loopId}`);
}

function read({ context }: Run, name: string, { values }: Scope): unknown {
  return Object.entries({ ...context, ...values }).find(([key]) => key === name)?.[1];
}

function compares({ comparison, value: wanted }: Extract<Condition, { kind: 'compare' }>, value: unknown): boolean {
  switch (comparison) {
    case 'equals':
      return (value ?? null) === wanted;
    case 'not_equals':
      return (value ?? null) !== wanted;
    case 'in':
      return Array.isArray(wanted) && wanted.includes(value);
    case 'gt':
      return typeof value === 'number' && typeof wanted === 'number' && value > wanted;
    case 'contains':
      return (
        (Array.isArray(value) && value.includes(wanted)) || (typeof value === 'string' && value.includes(`${wanted}`))
      );
    case 'startsWith':
      return typeof value === 'string' && value.startsWith(`${wanted}`);
    default:
      throw new Error(`nobody has needed "${comparison}" here yet`);
  }
}

/** Strict equality; an unset value equals only null. */
function holds(run: Run, condition: Condition, scope: Scope): boolean {
  const again = (one: Condition) => holds(run, one, scope);
  if (condition.kind === 'always' || condition.kind === 'never') return condition.kind === 'always';
  if (condition.kind === 'not') return !again(condition.condition);
  if (condition.kind === 'compare') {
    return compares(condition, read(run, condition.variable, scope));
  }
  if (condition.kind === 'ref') {
    const named = run.workflow.conditions.find(({ conditionId }) => conditionId === condition.conditionId);
    return named !== undefined && again(named.condition);
  }
  const met = condition.conditions.filter(again).length;
  return condition.kind === 'or' ? met > 0 : met === condition.conditions.length;
}
