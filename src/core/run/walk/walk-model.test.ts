import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { WORKFLOW_HASH } from '../../../../test/examples/ids.ts';
import { type Answer, type Leg, naiveRun } from '../../../../test/examples/naive-run.ts';
import { randomContext, randomWorkflow } from '../../../../test/examples/random-workflows.ts';
import { FACTS, skipOf } from '../../../../test/examples/walk-through.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { type EngineState, executionSnapshot, parseSnapshot } from '../../log/execution-snapshot.ts';
import { stepInstanceKey } from '../../log/ids.ts';
import type { Entry } from '../../workflow/compiled/compiled-loop.ts';
import { type CompiledWorkflow, compiledWorkflowSchema } from '../../workflow/compiled/compiled-workflow.ts';
import { indexWorkflow, loopOf } from '../../workflow/compiled/workflow-index.ts';
import { nextStep, type WalkStart } from './next-step.ts';
import type { Walk } from './walk.ts';

/** What an agent does at a step: how context is then, and what it decides about which of the open loops. */
const conduct = fc.array(
  fc.record({
    context: randomContext,
    decided: fc.option(
      fc.record({ loop: fc.nat(2), decision: fc.constantFrom('continue' as const, 'stop' as const) }),
      {
        nil: undefined,
      },
    ),
  }),
  { minLength: 1, maxLength: 12 },
);
type Conduct = typeof conduct extends fc.Arbitrary<infer Value> ? Value : never;

it('a walk visits the same steps as a plain interpreter in any workflow, and ends', () => {
  enforces('selection_walks_forward', 'skipped_step_recorded', 'loops_nest', 'loop_iteration_counting');
  enforces('loop_items_frozen_on_entry', 'loop_control_loop_runs_once');
  const seen = { steps: 0, deepest: 0, skipped: 0, troubles: new Set<string>() };
  fc.assert(
    fc.property(randomWorkflow, conduct, (workflow, agent) => {
      const { walks, legs } = runBoth(workflow, agent);
      expect(walks.map(legOf)).toEqual(legs);
      expect(walks.length - 1).toBeLessThanOrEqual(stepsMax(workflow));
      for (const { state } of walks) {
        expect(parseSnapshot(executionSnapshot(WORKFLOW_HASH, state)).isOk()).toBe(true);
        if (state.kind === 'running') seen.deepest = Math.max(seen.deepest, state.loopStack.length);
      }
      expect(placesOf(walks).filter((place, i, all) => !isBehind(place, all[i - 1]))).toEqual([]);
      expectNested(walks);
      seen.steps += legs.length;
      for (const { skipped, troubles } of legs) {
        seen.skipped += skipped.length;
        for (const trouble of troubles) seen.troubles.add(trouble.split(' ')[0] ?? '');
      }
    }),
    { numRuns: 600 },
  );
  // The workflows are worth something only when they lead everywhere.
  expect(seen.deepest).toBe(3);
  expect(Math.min(seen.steps, seen.skipped)).toBeGreaterThan(300);
  expect(seen.troubles).toEqual(new Set(['limit_reached', 'too_many_items', 'not_iterable']));
});

it('the random workflows of the walk test could have been compiled', () => {
  fc.assert(
    fc.property(randomWorkflow, (workflow) => {
      expect(compiledWorkflowSchema.safeParse(workflow).error).toBeUndefined();
    }),
    { numRuns: 50 },
  );
});

/** The engine and the interpreter, side by side, with one agent. */
function runBoth(workflow: CompiledWorkflow, agent: Conduct): { walks: readonly Walk[]; legs: readonly Leg[] } {
  const index = indexWorkflow(workflow);
  const walks: Walk[] = [];
  const legs: Leg[] = [];
  let state: EngineState = { kind: 'init' };
  let answer = answerAt(agent, 0, state);
  const naive = naiveRun(workflow, answer.context);
  while (state.kind !== 'complete') {
    const start = { index, state, facts: { ...FACTS, context: answer.context }, loopDecision: answer.loopDecision };
    const walk = nextStep({ ...start, onTrouble: 'go_on' });
    expectHalt({ ...start, onTrouble: 'halt' }, walk);
    walks.push(walk);
    legs.push(naive.next(answer.naive).value);
    state = walk.state;
    answer = answerAt(agent, walks.length, state);
  }
  return { walks, legs };
}

/** A walk that may halt does so at its first trouble, as if it had not been begun; without one it is the same walk. */
function expectHalt(start: WalkStart, going: Walk): void {
  const walk = nextStep(start);
  const [first] = going.troubles;
  if (first === undefined) {
    expect(walk).toEqual(going);
    return;
  }
  expect(walk).toMatchObject({ state: start.state, isHalted: true, troubles: [first], skipped: [] });
  expect(going.trace.slice(0, walk.trace.length)).toEqual(walk.trace);
}

function answerAt(agent: Conduct, place: number, state: EngineState) {
  const { context, decided } = agent[place % agent.length] ?? { context: {}, decided: undefined };
  const open = state.kind === 'running' ? state.loopStack : [];
  const frame = decided === undefined ? undefined : open[decided.loop];
  const loopDecision = frame && decided && { loopId: frame.loopId, decision: decided.decision };
  const naive: Answer = { context, decision: loopDecision };
  return { context: context as JsonObject, loopDecision, naive };
}

function legOf({ state, skipped, troubles }: Walk): Leg {
  return {
    skipped: skipped.map(skipOf),
    troubles: troubles.map(({ kind, loopId }) => `${kind} ${loopId}`),
    step: keyOf(state),
  };
}

function keyOf(state: EngineState): string {
  if (state.kind !== 'running' || state.pending.kind === 'none') return state.kind;
  return stepInstanceKey(state.pending.step.stepId, state.pending.step.loopPath);
}

/** How many steps a run can have when every loop uses up its limit. */
function stepsMax(workflow: CompiledWorkflow): number {
  const index = indexWorkflow(workflow);
  const count = (entries: readonly Entry[]): number =>
    entries.reduce((sum, entry) => {
      if (entry.kind === 'step') return sum + 1;
      const { body, maxIterations } = loopOf(index, entry.loopId);
      return sum + maxIterations * count(body);
    }, 0);
  return count(workflow.entries);
}

/** Where each step stands: the place in the list, then iteration and place for every loop around it. */
function placesOf(walks: readonly Walk[]): readonly (readonly number[])[] {
  return walks.flatMap(({ state }) =>
    state.kind === 'running'
      ? [[state.cursor, ...state.loopStack.flatMap(({ iteration, bodyIndex }) => [iteration, bodyIndex])]]
      : [],
  );
}

function isBehind(place: readonly number[], before: readonly number[] = []): boolean {
  const at = place.findIndex((part, i) => part !== before[i]);
  return at >= 0 && (place[at] ?? 0) > (before[at] ?? -1);
}

/** Loops are left in the order opposite to that in which they were entered, and none is left open. */
function expectNested(walks: readonly Walk[]): void {
  const open: string[] = [];
  for (const { kind, refs } of walks.flatMap(({ trace }) => trace)) {
    const loop = refs?.find((ref) => ref.kind === 'loop_id');
    if (kind === 'entered_loop') open.push(loop?.loopId ?? '');
    if (kind === 'exited_loop') expect(open.pop()).toBe(loop?.loopId);
  }
  expect(open).toEqual([]);
}
