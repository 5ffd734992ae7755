import { expect, it } from 'vitest';
import { WORKFLOW_HASH } from '../../../../test/examples/ids.ts';
import { decision, forEachLoop, loop, step, workflowOf } from '../../../../test/examples/loop-files.ts';
import { FACTS, walkThrough } from '../../../../test/examples/walk-through.ts';
import { canonicalJson } from '../../json/canonical-json.ts';
import { type EngineState, executionSnapshot, parseSnapshot } from '../../log/execution-snapshot.ts';

const ROUNDS = 1000;

const sizeOf = (state: EngineState) => canonicalJson(executionSnapshot(WORKFLOW_HASH, state))._unsafeUnwrap().length;

it('a snapshot does not grow with the steps that were done: after 1,000 iterations only its numbers are longer', () => {
  const workflow = workflowOf([
    ...Array.from({ length: 50 }, (_, i) => step(`before-${i}`)),
    loop('l', { type: 'while', maxIterations: ROUNDS }, [
      forEachLoop('m', ['x', 'y'], [step('a'), step('b')]),
      decision('d'),
    ]),
  ]);
  const decide = (key: string) =>
    key.endsWith('::d') ? ({ loopId: 'l', decision: key === 'l@999::d' ? 'stop' : 'continue' } as const) : undefined;
  const { states, visits } = walkThrough(workflow, { decide });
  expect([states.length, visits.at(-1)]).toEqual([50 + ROUNDS * 5, 'complete']);
  expect(states.every((state) => parseSnapshot(executionSnapshot(WORKFLOW_HASH, state)).isOk())).toBe(true);
  const [early, late] = [states.slice(0, 55), states.slice(-5)].map((some) => Math.max(...some.map(sizeOf)));
  // An iteration number stands in the frame, in the path and in the key of each step of the open iteration.
  expect(Number(late) - Number(early)).toBeLessThanOrEqual('999'.length * 4);
});

it('a walk evaluates each condition once, however much came before', () => {
  const asked: string[] = [];
  const compilePattern: typeof FACTS.compilePattern = (pattern, flags) => {
    asked.push(pattern);
    return FACTS.compilePattern(pattern, flags);
  };
  const matches = (pattern: string) => ({ runCondition: { var: 'word', matches: pattern } });
  const skips = Array.from({ length: 20 }, (_, i) => step(`skipped-${i}`, matches(`never-${i}`)));
  const workflow = workflowOf([
    loop('l', { type: 'for', count: 300, maxIterations: 300 }, [...skips, step('a', matches('now'))]),
  ]);
  const counts: number[] = [];
  const context = () => {
    counts.push(asked.length);
    return { word: 'now' };
  };
  const { visits, skipped } = walkThrough(workflow, { context, compilePattern });
  expect([visits.length, skipped.length, asked.length]).toEqual([301, 6000, 6300]);
  expect(counts).toEqual(Array.from({ length: 301 }, (_, walk) => walk * 21));
});
