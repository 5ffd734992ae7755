import { describe, expect, it } from 'vitest';
import {
  ALONE,
  type Attempted,
  advanced,
  blocked,
  DONE,
  decides,
  events,
  frame,
  INVALID,
  MISSING,
  missingNotes,
  pendingAt,
  traced,
  unmetIn,
} from '../../../../test/examples/decisions.ts';
import {
  decidedLoop,
  decision,
  forEachLoop,
  forLoop,
  loop,
  step,
  untilLoop,
  whileLoop,
} from '../../../../test/examples/loop-files.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { LOOP_ITEMS_BYTES_MAX } from '../../log/budgets.ts';
import type { TraceEntry } from '../../log/events/graph-events.ts';
import type { EngineState } from '../../log/execution-snapshot.ts';

describe('a loop is entered', () => {
  const enters = (entry: unknown, at: ReturnType<typeof frame>, entries: readonly TraceEntry[]) => {
    const state = pendingAt('x', 1, { stack: [at] });
    const expected = advanced(state, events.note(DONE), events.trace(...entries));
    return (context: JsonObject = {}) => decides([step('a'), entry], { notes: DONE, context }, expected);
  };

  it('a loop is entered by a count that the workflow gives', () => {
    const at = frame('l', 0);
    enters(forLoop('l', 2, [step('x')]), at, [traced.reached('l', '2 iterations'), traced.next('x', at)])();
  });

  it('a loop is entered by a count from context, which the state keeps', () => {
    const at = frame('l', 0, { count: 2 } as object);
    enters(forLoop('l', 'n', [step('x')]), at, [traced.reached('l', '2 iterations'), traced.next('x', at)])({ n: 2 });
  });

  it('a loop is entered by a list from context, which the state keeps', () => {
    const at = frame('l', 0, { items: ['p', 'q'] } as object);
    enters(forEachLoop('l', 'files', [step('x')]), at, [traced.reached('l', '2 iterations'), traced.next('x', at)])({
      files: ['p', 'q'],
    });
  });

  it('a loop is entered by a while condition that is true', () => {
    const at = frame('l', 0);
    enters(whileLoop('l', { var: 'go', equals: true }, [step('x')]), at, [
      traced.reached('l'),
      traced.round('while', at, true),
      traced.next('x', at),
    ])({ go: true });
  });

  it('a loop is entered by an until condition that is false', () => {
    const at = frame('l', 0);
    enters(untilLoop('l', { var: 'ready', equals: true }, [step('x')]), at, [
      traced.reached('l'),
      traced.round('until', at, false),
      traced.next('x', at),
    ])({ ready: false });
  });

  it('a loop whose end the agent decides is always entered', () => {
    const at = frame('l', 0);
    enters(decidedLoop('l', [step('x'), decision('d')]), at, [traced.reached('l'), traced.next('x', at)])();
  });

  it('a loop is entered inside another loop, each with its iteration', () => {
    const [outer, inner] = [frame('o', 0), frame('i', 0)];
    const state = pendingAt('x', 1, { stack: [outer, inner] });
    decides(
      [step('a'), forLoop('o', 2, [forLoop('i', 2, [step('x')])])],
      { notes: DONE },
      advanced(
        state,
        events.note(DONE),
        events.trace(
          traced.reached('o', '2 iterations'),
          traced.reached('i', '2 iterations'),
          traced.next('x', outer, inner),
        ),
      ),
    );
  });

  it('a loop with nothing to iterate over is not entered', () => {
    const state = pendingAt('b', 2);
    decides(
      [step('a'), forEachLoop('l', [], [step('x')]), step('b')],
      { notes: DONE },
      advanced(
        state,
        events.note(DONE),
        events.trace(
          traced.reached('l', '0 iterations'),
          traced.notEntered('l', 'all items are done'),
          traced.next('b'),
        ),
      ),
    );
  });

  it('a loop whose run condition is false is not entered', () => {
    const state = pendingAt('b', 2);
    const off = loop('l', { type: 'for', count: 2, runCondition: { var: 'size', equals: 'large' } }, [step('x')]);
    decides(
      [step('a'), off, step('b')],
      { notes: DONE, context: { size: 'small' } },
      advanced(
        state,
        events.note(DONE),
        events.skipped('l'),
        events.trace(traced.run('loop l', false), traced.next('b')),
      ),
    );
  });
});

describe('in a loop, a step that is done', () => {
  it('in a loop, a step that is done leads to the next step of the same iteration', () => {
    const body = [step('x'), step('y')];
    const at = pendingAt('x', 0, { stack: [frame('l', 0)] });
    const next = frame('l', 0, { bodyIndex: 1 });
    const state = pendingAt('y', 0, { stack: [next], completed: ['l@0::x'] });
    decides(
      [forLoop('l', 2, body)],
      { at, notes: DONE },
      advanced(state, events.note(DONE), events.trace(traced.next('y', next))),
    );
  });

  it('in a loop, a step that is done leads to the next iteration after the last step of the body', () => {
    const at = pendingAt('x', 0, { stack: [frame('l', 0)] });
    const next = frame('l', 1);
    const state = pendingAt('x', 0, { stack: [next] });
    decides(
      [forLoop('l', 2, [step('x')])],
      { at, notes: DONE },
      advanced(state, events.note(DONE), events.trace(traced.next('x', next))),
    );
  });

  it('in a loop, a step that is done names the iteration in the gap that it leaves', () => {
    const at = pendingAt('x', 0, { stack: [frame('l', 0)] });
    const next = frame('l', 1);
    const state = pendingAt('x', 0, { stack: [next] });
    const { details, ...gap } = missingNotes('x');
    decides(
      [forLoop('l', 2, [step('x')])],
      { at, mode: ALONE },
      advanced(
        state,
        events.gap({ ...gap, details: { ...details, requirement: 'notes:l@0::x', step: 'l@0::x' } }),
        events.trace(traced.next('x', next)),
      ),
    );
  });

  it('in a loop, a step that is done leads to another iteration while the condition is true', () => {
    const at = pendingAt('x', 0, { stack: [frame('l', 0)] });
    const next = frame('l', 1);
    const state = pendingAt('x', 0, { stack: [next] });
    decides(
      [whileLoop('l', { var: 'go', equals: true }, [step('x')])],
      { at, notes: DONE, context: { go: true } },
      advanced(state, events.note(DONE), events.trace(traced.round('while', next, true), traced.next('x', next))),
    );
  });

  it('in a loop, a step that is done leads to another iteration when the agent decides so', () => {
    const at = pendingAt('d', 0, { stack: [frame('l', 0)] });
    const next = frame('l', 1);
    const state = pendingAt('d', 0, { stack: [next] });
    const artifacts = [{ kind: 'wr.loop_control', loopId: 'l', decision: 'continue', summary: 'More.' }];
    decides(
      [decidedLoop('l', [decision('d')])],
      { at, artifacts },
      advanced(state, events.artifact(), events.trace(traced.decision(next, 'continue'), traced.next('d', next))),
    );
  });

  it('in a loop, a step that is done blocks where the agent has to decide and does not', () => {
    const at = pendingAt('d', 0, { stack: [frame('l', 0)] });
    const outcome = decides([decidedLoop('l', [decision('d')])], { at, notes: DONE }, blocked(at, events.note(DONE)));
    expect(outcome).toMatchObject({ unmet: [{ requirement: 'loop_control:l', reason: MISSING }] });
  });
});

describe('a loop is left', () => {
  const last = (iteration: number, more: object = {}) => frame('l', iteration, more);
  const leaves = (entry: unknown, given: Attempted & { readonly at: EngineState }, entries: readonly TraceEntry[]) => {
    const state = pendingAt('b', 1);
    const kept = given.artifacts === undefined ? events.note(DONE) : events.artifact();
    return decides([entry, step('b')], given, advanced(state, kept, events.trace(...entries, traced.next('b'))));
  };

  it('a loop is left when all its items are done', () => {
    const at = pendingAt('x', 0, { stack: [last(1)] });
    leaves(forLoop('l', 2, [step('x')]), { at, notes: DONE }, [
      traced.left(last(1), '2 iterations', 'all items are done'),
    ]);
  });

  it('a loop is left when its while condition is false', () => {
    const at = pendingAt('x', 0, { stack: [last(0)] });
    leaves(whileLoop('l', { var: 'go', equals: true }, [step('x')]), { at, notes: DONE, context: { go: false } }, [
      traced.round('while', last(1), false),
      traced.left(last(0), '1 iteration', 'its condition ended it'),
    ]);
  });

  it('a loop is left when its until condition is true', () => {
    const at = pendingAt('x', 0, { stack: [last(0)] });
    leaves(untilLoop('l', { var: 'ready', equals: true }, [step('x')]), { at, notes: DONE, context: { ready: true } }, [
      traced.round('until', last(1), true),
      traced.left(last(0), '1 iteration', 'its condition ended it'),
    ]);
  });

  it('a loop is left when the agent decides to stop', () => {
    const at = pendingAt('d', 0, { stack: [last(0)] });
    const artifacts = [{ kind: 'wr.loop_control', loopId: 'l', decision: 'stop', summary: 'Enough.' }];
    leaves(decidedLoop('l', [decision('d')]), { at, artifacts }, [
      traced.decision(last(1), 'stop'),
      traced.left(last(0), '1 iteration', 'the decision ended it'),
    ]);
  });

  it('a loop is left at its limit in a run that never stops, with a gap', () => {
    const at = pendingAt('x', 0, { stack: [last(2)] });
    const state = pendingAt('b', 1);
    decides(
      [whileLoop('l', { var: 'go', equals: true }, [step('x')]), step('b')],
      { at, mode: ALONE, notes: DONE, context: { go: true } },
      advanced(
        state,
        events.note(DONE),
        events.gap({
          severity: 'critical',
          reason: { category: 'unexpected', detail: 'invariant_violation' },
          summary: 'Loop "l" reached its limit of 3 rounds and its condition does not end it.',
          resolution: { kind: 'unresolved' },
          evidenceRefs: [{ kind: 'output', outputId: expect.stringMatching(/^out_/) }],
          details: {
            loopId: 'l',
            iteration: 2,
            maxIterations: 3,
            requirement: 'loop_limit:l',
            pointer: { kind: 'workflow_step', stepId: 'x' },
            step: 'l@2::x',
          },
        }),
        events.trace(
          traced.round('while', last(3), true),
          traced.left(last(2), '3 iterations', 'its limit was reached'),
          traced.next('b'),
        ),
      ),
    );
  });
});

describe('a loop that cannot continue blocks the step before it', () => {
  const halts = (entry: unknown, given: Attempted & { readonly at?: EngineState }, entries: readonly TraceEntry[]) => {
    const state = given.at ?? pendingAt('a', 0);
    const steps = given.at === undefined ? [step('a'), entry] : [entry];
    const outcome = decides(
      steps,
      { notes: DONE, ...given },
      blocked(state, events.note(DONE), events.trace(...entries)),
    );
    return unmetIn(outcome);
  };

  it('a loop at its limit blocks its last step', () => {
    const at = pendingAt('x', 0, { stack: [frame('l', 2)] });
    const unmet = halts(whileLoop('l', { var: 'go', equals: true }, [step('x')]), { at, context: { go: true } }, [
      traced.round('while', frame('l', 3), true),
    ]);
    expect(unmet).toEqual([['loop_limit:l', 'unexpected:invariant_violation']]);
  });

  it('a loop without the list it needs blocks the step before it', () => {
    expect(halts(forEachLoop('l', 'files', [step('x')]), {}, [traced.reached('l')])).toEqual([
      ['loop_items:l', MISSING],
    ]);
  });

  it('a loop over a value that is not a list blocks the step before it', () => {
    const unmet = halts(forEachLoop('l', 'files', [step('x')]), { context: { files: 'all' } }, [traced.reached('l')]);
    expect(unmet).toEqual([['loop_items:l', INVALID]]);
  });

  it('a loop with more items than its limit blocks the step before it', () => {
    const unmet = halts(forEachLoop('l', 'files', [step('x')]), { context: { files: [1, 2, 3, 4] } }, [
      traced.reached('l'),
    ]);
    expect(unmet).toEqual([['loop_items:l', 'unexpected:invariant_violation']]);
  });

  it('a loop with items that are too large blocks the step before it', () => {
    const context = { files: ['x'.repeat(LOOP_ITEMS_BYTES_MAX)] };
    expect(halts(forEachLoop('l', 'files', [step('x')]), { context }, [traced.reached('l')])).toEqual([
      ['loop_items:l', INVALID],
    ]);
  });

  it('a block by a loop also lists what else is missing', () => {
    const state = pendingAt('a', 0);
    const outcome = decides(
      [step('a'), forEachLoop('l', 'files', [step('x')])],
      {},
      blocked(state, events.trace(traced.reached('l'))),
    );
    expect(outcome).toMatchObject({ unmet: [{ requirement: 'notes:a' }, { requirement: 'loop_items:l' }] });
  });
});

describe('a run that waits for its first step', () => {
  const steps = [forEachLoop('l', 'files', [step('x')])];

  it('a run that waits for its first step starts it once it has what it needs', () => {
    const at = frame('l', 0, { items: ['p'] } as object);
    const state = pendingAt('x', 0, { stack: [at] });
    decides(
      steps,
      { at: { kind: 'init' }, contextDelta: { files: ['p'] } },
      advanced(
        state,
        events.context({ files: ['p'] }),
        events.trace(traced.reached('l', '1 iteration'), traced.next('x', at)),
      ),
    );
  });

  it('a run that waits for its first step stays blocked without what it needs', () => {
    decides(steps, { at: { kind: 'init' } }, blocked({ kind: 'init' }, events.trace(traced.reached('l'))));
  });
});
