import { describe, expect, it } from 'vitest';
import { compiled, compileValue, found } from '../../../../test/compiler/compile-file.ts';

const parallel = (...parallelDelegations: readonly unknown[]) => ({
  id: 'test.parallel',
  name: 'N',
  description: 'D',
  extensionPoints: [{ slotId: 'product', purpose: 'P', default: 'the shop' }],
  steps: [{ id: 'split', type: 'parallel', title: 'Look at {{wr.bindings.product}}', parallelDelegations }],
});

describe('the goals of delegated work', () => {
  it('the goals of delegated work are filled in, in the prompt and in the task', () => {
    const [step] = compiled(
      compileValue(parallel({ workflowId: 'a.b', goal: 'Test {{wr.bindings.product}}.' }, { workflowId: 'c.d' })),
    ).steps;
    expect(step?.prompt).toMatch(
      /^Look at the shop\n\nDo each of these tasks separately:\n\n1\. a\.b: Test the shop\.\n2\. c\.d\n\nIn the notes, give .* under its number\. The step is done when/,
    );
    expect(step?.purpose).toMatchObject({ delegations: [{ goal: 'Test the shop.' }, { workflowId: 'c.d' }] });
  });

  it('a delegation prompt says what to hand in, unless notes are optional', () => {
    const file = parallel({ workflowId: 'a.b' });
    const [step] = compiled(
      compileValue({ ...file, steps: file.steps.map((one) => ({ ...one, notesOptional: true })) }),
    ).steps;
    expect(step?.prompt).toMatch(/1\. a\.b$/);
  });

  it('a wrong goal is reported once, at the goal', () => {
    const wrong = { workflowId: 'a.b', goal: 'Test {{wr.bindings.prodct}}.' };
    expect(found(compileValue(parallel({ workflowId: 'c.d' }, wrong)))).toEqual([
      'error unknown_slot /steps/0/parallelDelegations/1/goal',
    ]);
    expect(found(compileValue(parallel({ goal: 'No id.' }, 7, wrong)))).toEqual([
      'error missing_field /steps/0/parallelDelegations/0',
      'error wrong_type /steps/0/parallelDelegations/1',
      'error unknown_slot /steps/0/parallelDelegations/2/goal',
    ]);
  });

  it('a wrong title of a parallel step is reported once', () => {
    const file = parallel({ workflowId: 'a.b' });
    const steps = file.steps.map((step) => ({ ...step, title: 'Of {{wr.bindings.prodct}}', synthesis: {} }));
    expect(found(compileValue({ ...file, steps }))).toEqual(['error unknown_slot /steps/0/title']);
  });
});
