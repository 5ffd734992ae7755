import { re2Patterns } from '../../src/adapters/patterns.ts';
import type { JsonObject } from '../../src/core/json/json-value.ts';
import type { TraceEntry } from '../../src/core/log/events/graph-events.ts';
import type { EngineState } from '../../src/core/log/execution-snapshot.ts';
import { loopIdSchema, stepInstanceKey } from '../../src/core/log/ids.ts';
import type { RunFacts } from '../../src/core/run/step-place.ts';
import { nextStep } from '../../src/core/run/walk/next-step.ts';
import type { LoopTrouble, Walk } from '../../src/core/run/walk/walk.ts';
import type { CompiledWorkflow } from '../../src/core/workflow/compiled/compiled-workflow.ts';
import { indexWorkflow } from '../../src/core/workflow/compiled/workflow-index.ts';

/** How an agent behaves in a workflow. */
export type Agent = {
  /** The context after a number of steps. */
  readonly context?: (done: number) => JsonObject;
  /** Its loop decisions, by instance key of the step. */
  readonly decide?: (key: string) => { readonly loopId: string; readonly decision: 'continue' | 'stop' } | undefined;
  readonly onTrouble?: 'halt' | 'go_on';
  readonly compilePattern?: RunFacts['compilePattern'];
};

export type WalkedThrough = {
  /** Instance keys of the steps that were due, in order; at the end `complete` or `halted`. */
  readonly visits: readonly string[];
  /** Instance keys of skipped steps, each with its condition. */
  readonly skipped: readonly string[];
  readonly troubles: readonly LoopTrouble[];
  readonly trace: readonly TraceEntry[];
  /** One for each step that was due. */
  readonly states: readonly Extract<EngineState, { kind: 'running' }>[];
  readonly walks: readonly Walk[];
};

/** Does each step of a run from start to end. */
export function walkThrough(workflow: CompiledWorkflow, agent: Agent = {}): WalkedThrough {
  const { context = () => ({}), decide = () => undefined, onTrouble = 'halt', compilePattern = re2Patterns() } = agent;
  const index = indexWorkflow(workflow);
  const walks: Walk[] = [];
  const states: Extract<EngineState, { kind: 'running' }>[] = [];
  const visits: string[] = [];
  let state: EngineState = { kind: 'init' };
  for (;;) {
    const decided = decide(visits.at(-1) ?? '');
    const walk: Walk = nextStep({
      index,
      state,
      facts: { ...FACTS, context: context(visits.length), compilePattern },
      loopDecision: decided && { loopId: loopIdSchema.parse(decided.loopId), decision: decided.decision },
      onTrouble,
    });
    walks.push(walk);
    state = walk.state;
    if (walk.isHalted || state.kind !== 'running') break;
    states.push(state);
    visits.push(keyOf(state));
  }
  visits.push(state.kind === 'complete' ? 'complete' : 'halted');
  return {
    visits,
    skipped: walks.flatMap(({ skipped }) => skipped.map(skipOf)),
    troubles: walks.flatMap(({ troubles }) => troubles),
    trace: walks.flatMap(({ trace }) => trace),
    states,
    walks,
  };
}

export const FACTS: RunFacts = {
  context: {},
  preferences: { autonomy: 'guided', riskPolicy: 'conservative' },
  capabilities: {},
  compilePattern: re2Patterns(),
};

/** A skip as one word: the instance and its named condition. */
export function skipOf({ stepId, loopPath, conditionId }: Walk['skipped'][number]): string {
  return `${stepInstanceKey(stepId, loopPath)}${conditionId === undefined ? '' : ` by ${conditionId}`}`;
}

function keyOf({ pending }: Extract<EngineState, { kind: 'running' }>): string {
  if (pending.kind === 'none') throw new Error('a walk leads to a step');
  return stepInstanceKey(pending.step.stepId, pending.step.loopPath);
}
