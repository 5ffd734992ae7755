import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import {
  decidedLoop,
  decision,
  forEachLoop,
  forLoop,
  loop,
  step,
  whileLoop,
  workflowOf,
} from '../../../../test/examples/loop-files.ts';
import { FACTS, walkThrough } from '../../../../test/examples/walk-through.ts';
import { WALK_PASSED_MAX } from '../../log/budgets.ts';
import { indexWorkflow } from '../../workflow/compiled/workflow-index.ts';
import { nextStep } from './next-step.ts';

const a = step('a');
const b = step('b');
const never = { kind: 'always_false' };
const said = (walked: ReturnType<typeof walkThrough>) => walked.trace.map(({ summary }) => summary);
const limit = { kind: 'limit_reached', loopId: 'l', iteration: 2, maxIterations: 3 };

describe('a loop at its limit', () => {
  it('a loop at its limit halts the walk at the step before, with nothing skipped', () => {
    enforces('loop_iteration_counting');
    const walked = walkThrough(workflowOf([whileLoop('l', {}, [step('c', { runCondition: never }), a]), b]));
    expect(walked.visits).toEqual(['l@0::a', 'l@1::a', 'l@2::a', 'halted']);
    expect(walked.walks.at(-1)).toMatchObject({
      state: walked.states.at(-1),
      isHalted: true,
      troubles: [{ ...limit, isByArtifact: false }],
      skipped: [],
    });
  });

  it('a loop at its limit is left in never-stop mode, and the trouble is reported', () => {
    enforces('loop_iteration_counting');
    const walked = walkThrough(workflowOf([whileLoop('l', {}, [a]), b]), { onTrouble: 'go_on' });
    expect(walked.visits).toEqual(['l@0::a', 'l@1::a', 'l@2::a', 'b', 'complete']);
    expect(walked.troubles).toEqual([{ ...limit, isByArtifact: false }]);
  });

  it('a loop at its limit can be left from the same state by a decision to stop', () => {
    const workflow = workflowOf([decidedLoop('l', [decision('d')]), b]);
    const decide = (key: string) => (key === '' ? undefined : ({ loopId: 'l', decision: 'continue' } as const));
    const walked = walkThrough(workflow, { decide });
    expect([walked.visits, walked.troubles]).toEqual([
      ['l@0::d', 'l@1::d', 'l@2::d', 'halted'],
      [{ ...limit, isByArtifact: true }],
    ]);
    const state = walked.walks.at(-1)?.state;
    const loopId = workflow.loops[0]?.loopId;
    if (state === undefined || loopId === undefined) throw new Error('the walk has a state, the workflow a loop');
    const index = indexWorkflow(workflow);
    const again = nextStep({
      index,
      state,
      facts: FACTS,
      loopDecision: { loopId, decision: 'stop' },
      onTrouble: 'halt',
    });
    expect(again.state).toMatchObject({ kind: 'running', pending: { step: { stepId: 'b' } } });
  });

  it('a loop at its limit does not run on where nothing in its body is due', () => {
    enforces('loop_iteration_counting');
    const workflow = workflowOf([a, whileLoop('l', {}, [step('c', { runCondition: never })]), b]);
    expect(walkThrough(workflow).visits).toEqual(['a', 'halted']);
    const walked = walkThrough(workflow, { onTrouble: 'go_on' });
    expect([walked.visits, walked.skipped, walked.troubles]).toEqual([
      ['a', 'b', 'complete'],
      ['l@0::c', 'l@1::c', 'l@2::c'],
      [{ ...limit, isByArtifact: false }],
    ]);
  });

  it('a loop at its limit is reported once, however often an outer loop enters it', () => {
    const inner = whileLoop('l', {}, [step('c', { runCondition: never })]);
    const walked = walkThrough(workflowOf([forLoop('m', 3, [inner]), b]), { onTrouble: 'go_on' });
    expect([walked.visits, walked.troubles]).toEqual([['b', 'complete'], [{ ...limit, isByArtifact: false }]]);
  });
});

describe('a loop without its decision', () => {
  it('a loop without its decision is not left, and runs to its limit', () => {
    enforces('loop_control_missing_is_not_exit', 'loop_control_contract_decides');
    const workflow = workflowOf([decidedLoop('l', [a, decision('d')]), b]);
    const walked = walkThrough(workflow, {
      onTrouble: 'go_on',
      context: () => ({ decision: 'stop', continue: false }),
    });
    expect(walked.visits).toEqual(['l@0::a', 'l@0::d', 'l@1::a', 'l@1::d', 'l@2::a', 'l@2::d', 'b', 'complete']);
    expect(walked.troubles).toEqual([{ ...limit, isByArtifact: true }]);
    expect(walkThrough(workflow).visits.at(-1)).toBe('halted');
  });

  it('a loop without its decision does not follow the decision about an inner loop', () => {
    enforces('loop_control_contract_decides');
    const workflow = workflowOf([decidedLoop('l', [decision('e'), decidedLoop('m', [decision('d')])]), b]);
    const stop = { loopId: 'm', decision: 'stop' } as const;
    const { visits } = walkThrough(workflow, {
      decide: (key) => (key.endsWith('::d') ? stop : undefined),
      onTrouble: 'go_on',
    });
    const round = (n: number) => [`l@${n}::e`, `l@${n}/m@0::d`];
    expect(visits).toEqual([...round(0), ...round(1), ...round(2), 'b', 'complete']);
  });

  it('a loop without its decision does not follow a decision of an earlier iteration', () => {
    const workflow = workflowOf([decidedLoop('l', [decision('d'), a]), b]);
    const decide = (key: string) => (key === 'l@0::d' ? ({ loopId: 'l', decision: 'continue' } as const) : undefined);
    const { visits, states } = walkThrough(workflow, { decide, onTrouble: 'go_on' });
    expect(visits).toEqual(['l@0::d', 'l@0::a', 'l@1::d', 'l@1::a', 'l@2::d', 'l@2::a', 'b', 'complete']);
    expect(states.map(({ loopStack }) => loopStack[0]?.decision)).toEqual([
      undefined,
      'continue',
      ...Array.from({ length: 5 }, () => undefined),
    ]);
  });
});

describe('a loop that cannot be entered', () => {
  const workflow = workflowOf([a, forEachLoop('l', 'files', [step('c')]), b]);
  const trouble = { kind: 'not_iterable', loopId: 'l', variable: 'files', wanted: 'list', found: 'nothing' };

  it('a loop that cannot be entered halts the walk at the step before it', () => {
    const walked = walkThrough(workflow);
    expect([walked.visits, walked.troubles]).toEqual([['a', 'halted'], [trouble]]);
    expect(said(walked).slice(1)).toEqual(['Reached loop "l".']);
  });

  it('a loop that cannot be entered as the first entry leaves the run in its initial state', () => {
    const first = walkThrough(workflowOf([forEachLoop('l', 'files', [a])]));
    expect(first.walks).toMatchObject([{ state: { kind: 'init' }, isHalted: true, troubles: [trouble] }]);
  });

  it('never-stop mode passes a loop that cannot be entered', () => {
    const walked = walkThrough(workflow, { onTrouble: 'go_on' });
    expect([walked.visits, walked.troubles]).toEqual([['a', 'b', 'complete'], [trouble]]);
    expect(said(walked)).toContain('Left loop "l" after 0 iterations: it found nothing to iterate over.');
  });
});

describe('a loop with nothing to do', () => {
  const passing = (entries: number) =>
    Array.from({ length: entries }, (_, i) => step(`c${i}`, { runCondition: never }));
  const endless = workflowOf([
    a,
    loop('l', { type: 'for', count: 10_000, maxIterations: 10_000 }, [
      loop('m', { type: 'for', count: 10_000, maxIterations: 10_000 }, passing(3)),
    ]),
    b,
  ]);

  it('a loop with nothing to do is stopped before it skips more than one append can record', () => {
    const walked = walkThrough(endless);
    expect([walked.visits, walked.troubles]).toEqual([
      ['a', 'halted'],
      [{ kind: 'nothing_due', loopId: 'm', iteration: 166, passed: 501 }],
    ]);
  });

  it('never-stop mode leaves a loop with nothing to do together with all loops around it', () => {
    const walked = walkThrough(endless, { onTrouble: 'go_on' });
    expect([walked.visits, walked.troubles.map(({ kind, loopId }) => [kind, loopId])]).toEqual([
      ['a', 'b', 'complete'],
      [
        ['nothing_due', 'm'],
        ['nothing_due', 'l'],
      ],
    ]);
    expect(walked.skipped).toHaveLength(501);
  });

  it('steps that are skipped in a row are never cut short, and a loop after them still starts', () => {
    const almostTooLong = loop('m', { type: 'for', count: 4, maxIterations: 4 }, [
      loop('n', { type: 'for', count: WALK_PASSED_MAX / 5, maxIterations: WALK_PASSED_MAX }, [
        step('never', { runCondition: never }),
      ]),
    ]);
    const inBody = workflowOf([almostTooLong, forLoop('l', 1, passing(WALK_PASSED_MAX / 2)), b]);
    expect(walkThrough(inBody).visits).toEqual(['b', 'complete']);
    const before = workflowOf([almostTooLong, ...passing(WALK_PASSED_MAX / 2), forLoop('l', 2, [a]), b]);
    expect(walkThrough(before).visits).toEqual(['l@0::a', 'l@1::a', 'b', 'complete']);
  });
});

it('the condition of a loop is evaluated once before each iteration, and its run condition once', () => {
  enforces('loop_condition_once_per_iteration');
  const asked: string[] = [];
  const compilePattern: typeof FACTS.compilePattern = (pattern, flags) => {
    asked.push(pattern);
    return FACTS.compilePattern(pattern, flags);
  };
  const matches = (pattern: string) => ({ var: 'word', matches: pattern });
  const workflow = workflowOf([
    loop('l', { type: 'while', condition: matches('go'), runCondition: matches('g') }, [a, step('b')]),
  ]);
  const context = (done: number) => ({ word: done < 4 ? 'go' : 'halt' });
  const askedAt = walkThrough(workflow, { context, compilePattern }).visits.length;
  expect([askedAt, asked]).toEqual([5, ['g', 'go', 'go', 'go']]);
});
