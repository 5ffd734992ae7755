import { describe, expect, it } from 'vitest';
import { BUNDLED, compiled, compileText, compileValue, found } from '../../../test/compiler/compile-file.ts';
import type { CompiledStep } from '../workflow/compiled/compiled-step.ts';
import { leftOut, workflowOfRun } from './workflow-from-run.ts';

const NAMED = { id: 'team.made', name: 'Made', description: 'Made from a run.' };

describe('a workflow made from a run', () => {
  it.each(BUNDLED.map(({ name, text }) => [name, text]))('compiles with the steps of %s', (_, text) => {
    const workflow = compiled(compileText(text, { isBundled: true }));
    const steps = workflow.steps.filter(({ purpose }) => purpose.kind === 'work');
    const { workflow: made, scenarios } = workflowOfRun({ workflow, steps, goal: 'Do what was done before' }, NAMED);
    const result = compileValue(made);
    expect(found(result).filter((line) => line.startsWith('error'))).toEqual([]);
    expect(compiled(result).steps.map(({ stepId }) => stepId)).toEqual(steps.map(({ stepId }) => stepId));
    expect(scenarios).toEqual([
      { name: 'goes as the run went', expect: { path: steps.map(({ stepId }) => stepId), complete: true } },
    ]);
  });

  it('keeps the checks, and how the answer of a person must be known', () => {
    const steps = [
      {
        id: 'fix',
        title: 'Fix',
        prompt: 'Fix it.',
        checks: [{ id: 'unit', run: 'npm test -- {{file}}', minimum: 'observed', report: 'tap', fresh: 'head' }],
      },
      {
        id: 'sign',
        title: 'Sign',
        prompt: 'Get it signed.',
        requireConfirmation: { kind: 'human_approval' },
        assurance: 'signed',
        bindsTree: false,
      },
      {
        id: 'ask',
        title: 'Ask',
        prompt: 'Ask the user.',
        userDependency: { reason: 'needs_user_approval', prompt: 'May it go out?' },
        assurance: 'stated',
      },
      { id: 'trust', title: 'T', prompt: 'P', requireConfirmation: { kind: 'human_approval' }, assurance: 'stated' },
    ];
    const workflow = compiled(compileValue({ ...NAMED, version: '1.0.0', steps }));
    const { workflow: made } = workflowOfRun({ workflow, steps: workflow.steps, goal: undefined }, NAMED);
    const again = compiled(compileValue(made)).steps;
    const kept = ({ checks, confirmation, assurance, bindsTree, userDependency }: CompiledStep) => [
      [checks, confirmation],
      [assurance, bindsTree, userDependency],
    ];
    expect(again.map(kept)).toEqual(workflow.steps.map(kept));
    expect(leftOut(workflow)).toEqual([]);
  });

  it('asks for notes in exactly those steps of the run that asked for them', () => {
    const contractRef = 'wr.contracts.review_verdict';
    const steps = [
      { id: 'asked', title: 'A', prompt: 'P' },
      { id: 'free', title: 'F', prompt: 'P', notesOptional: true },
      { id: 'result', title: 'R', prompt: 'P', outputContract: { contractRef } },
      { id: 'offered', title: 'O', prompt: 'P', outputContract: { contractRef, required: false } },
    ];
    const workflow = compiled(compileValue({ ...NAMED, version: '1.0.0', steps }));
    const { workflow: made } = workflowOfRun({ workflow, steps: workflow.steps, goal: undefined }, NAMED);
    const isAsked = ({ isNoteRequired }: CompiledStep) => isNoteRequired;
    expect(workflow.steps.map(isAsked)).toEqual([true, false, false, false]);
    expect(compiled(compileValue(made)).steps.map(isAsked)).toEqual([true, false, false, false]);
  });

  it('names what it leaves out', () => {
    const condition = { var: 'size', equals: 'large' };
    const step = {
      id: 'do',
      title: 'Do',
      prompt: 'Do it.',
      runCondition: condition,
      requireConfirmation: condition,
      sets: ['size'],
      promptFragments: [{ id: 'more', when: condition, text: 'More.' }],
    };
    const workflow = compiled(compileValue({ ...NAMED, version: '1.0.0', steps: [step] }));
    expect(leftOut(workflow)).toEqual([
      { stepId: 'do', parts: ['runCondition', 'the condition of requireConfirmation', 'promptFragments', 'sets'] },
    ]);
  });
});
