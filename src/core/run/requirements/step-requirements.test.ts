import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { attemptAt, tryStep } from '../../../../test/examples/step-attempt.ts';
import { assessmentContract } from '../../workflow/builtins/assessment-contract.ts';
import { pinnedContract } from '../../workflow/builtins/contract.ts';
import { contracts } from '../../workflow/builtins/contracts.ts';
import { contractForm } from '../form/contract-form.ts';
import { requirementsOf } from './step-requirements.ts';

const pinned = (name: string) => {
  const contract = contracts.find(`wr.contracts.${name}`);
  if (contract === undefined) throw new Error(`no contract ${name}`);
  return pinnedContract(contract);
};
const output = (name: string, rest: object = {}) => ({
  outputContract: { contractRef: `wr.contracts.${name}`, ...rest },
});
const isLarge = { var: 'isLarge', equals: true };
const readiness = {
  id: 'readiness',
  purpose: 'Can it ship',
  dimensions: [
    { id: 'coverage', purpose: 'tested', levels: ['low', 'high'] },
    { id: 'style', purpose: 'neat', levels: ['low', 'high'], required: false },
  ],
};
const risk = {
  id: 'risk',
  purpose: 'Harm',
  dimensions: [{ id: 'harm', purpose: 'how bad', levels: ['none', 'some'] }],
};
const notes = { kind: 'notes' };

describe('the requirements of a step', () => {
  it('a step asks for notes, unless they are optional or a contract replaces them', () => {
    enforces('notes_required_rule');
    const verdict = {
      kind: 'output_contract',
      contract: pinned('review_verdict'),
      hints: [],
      form: contractForm(pinned('review_verdict')),
    };
    expect(requirementsOf(tryStep({}))).toEqual([notes]);
    expect(requirementsOf(tryStep({ notesOptional: true }))).toEqual([]);
    expect(requirementsOf(tryStep(output('review_verdict')))).toEqual([{ ...verdict, isRequired: true }]);
    expect(requirementsOf(tryStep(output('review_verdict', { required: false })))).toEqual([
      { ...verdict, isRequired: false },
    ]);
    const hinted = tryStep({ output: { contractRef: 'wr.contracts.review_verdict', hints: ['At most ten lines.'] } });
    expect(requirementsOf(hinted)).toEqual([{ ...verdict, isRequired: true, hints: ['At most ten lines.'] }]);
  });

  it('a step asks for the contract that the run pinned, not for the one that is built in today', () => {
    enforces('contract_guidance_system_written');
    const attempt = tryStep(output('review_verdict'));
    const old = {
      ...pinned('review_verdict'),
      guidance: 'As it was then.',
      schema: {},
      example: { kind: 'wr.review_verdict' },
    };
    const index = { ...attempt.index, contracts: new Map([[old.contractRef, old]]) };
    expect(requirementsOf({ ...attempt, index })).toEqual([
      { kind: 'output_contract', contract: old, isRequired: true, hints: [], form: contractForm(old) },
    ]);
  });

  it('a step asks for criteria on its notes, as guidance only where it declares a contract', () => {
    enforces('contract_over_criteria', 'criteria_requirements_all_listed');
    const rule = { kind: 'contains', value: 'risks', message: 'Name the risks' };
    const validationCriteria = [{ type: 'contains', value: 'risks', message: 'Name the risks' }];
    const bullets = ['Name the risks (the notes must contain "risks")'];
    const criteria = { kind: 'criteria', criteria: rule, bullets };
    expect(requirementsOf(tryStep({ validationCriteria }))).toEqual([notes, { ...criteria, isEnforced: true }]);
    const both = requirementsOf(tryStep({ validationCriteria, ...output('findings') }));
    expect(both).toMatchObject([{ ...criteria, isEnforced: false }, { kind: 'output_contract' }]);
    expect(both).toHaveLength(2);
  });

  it('a step does not ask for criteria that do not count at this place', () => {
    const when = { type: 'contains', value: 'risks', message: 'Name them', condition: isLarge };
    expect(requirementsOf(tryStep({ validationCriteria: [when] }))).toEqual([notes]);
    expect(requirementsOf(tryStep({ validationCriteria: [when] }, { context: { isLarge: true } }))).toHaveLength(2);
  });

  it('a step asks for assessments, each with a form that decides nothing', () => {
    const attempt = tryStep(
      {
        assessmentRefs: ['readiness', 'risk', 'readiness'],
        assessmentConsequences: [
          {
            when: { anyEqualsLevel: 'LOW', forAssessment: 'readiness' },
            effect: { kind: 'require_followup', guidance: 'G' },
          },
        ],
      },
      {},
      { assessments: [readiness, risk] },
    );
    const { assessments } = attempt.index.workflow;
    expect(requirementsOf(attempt)).toEqual([
      notes,
      {
        kind: 'assessments',
        assessments,
        contract: assessmentContract(assessments),
        hints: [],
        forms: [
          { kind: 'wr.assessment', assessmentId: 'readiness', dimensions: { coverage: '<fill: low | high>' } },
          { kind: 'wr.assessment', assessmentId: 'risk', dimensions: { harm: '<fill: none | some>' } },
        ],
      },
    ]);
  });

  it('a step asks for an artifact once, also where an assessment or a gate needs the same one', () => {
    const assessed = tryStep({ assessmentRefs: ['risk'], ...output('assessment') }, {}, { assessments: [risk] });
    expect(requirementsOf(assessed).map(({ kind }) => kind)).toEqual(['assessments']);
    const gated = {
      requireConfirmation: { kind: 'coordinator_eval' },
      output: { contractRef: 'wr.contracts.gate_verdict', hints: ['H'] },
    };
    expect(requirementsOf(tryStep(gated))).toMatchObject([{ kind: 'gate', hints: ['H'] }]);
    expect(requirementsOf(tryStep(gated))).toHaveLength(1);
  });

  it.each(['human_approval', 'coordinator_eval'])(
    'a step asks for a confirmation of kind %s while its condition holds',
    (kind) => {
      const conditional = { notesOptional: true, requireConfirmation: { kind, condition: isLarge } };
      expect(requirementsOf(tryStep(conditional))).toEqual([]);
      const gate = {
        kind: 'gate',
        contract: pinned('gate_verdict'),
        hints: [],
        form: contractForm(pinned('gate_verdict')),
      };
      expect(requirementsOf(tryStep(conditional, { context: { isLarge: true } }))).toEqual([
        kind === 'human_approval' ? { kind: 'approval', assurance: 'confirmed' } : gate,
      ]);
    },
  );

  it('a step asks for its weaker confirmation where the stronger one does not apply', () => {
    const attempt = tryStep({ notesOptional: true });
    const asked = (confirmation: typeof attempt.step.confirmation) =>
      requirementsOf({ ...attempt, step: { ...attempt.step, confirmation } }).map(({ kind }) => kind);
    const otherwise = { kind: 'human_approval', when: { kind: 'always' } } as const;
    expect(asked({ kind: 'coordinator_eval', when: { kind: 'never' }, otherwise })).toEqual(['approval']);
    expect(asked({ kind: 'coordinator_eval', when: { kind: 'always' }, otherwise })).toEqual(['gate']);
    expect(asked({ kind: 'coordinator_eval', when: { kind: 'never' } })).toEqual([]);
  });

  it('a step with a plain confirmation asks for no artifact', () => {
    expect(requirementsOf(tryStep({ requireConfirmation: true }))).toEqual([notes]);
  });

  it('a step asks for what only the user can supply', () => {
    const userDependency = {
      reason: 'needs_user_choice',
      choiceKind: 'scope_boundary',
      contextKey: 'scope',
      prompt: 'Which?',
    };
    expect(requirementsOf(tryStep({ userDependency }))).toEqual([
      notes,
      { kind: 'user_dependency', ...userDependency },
    ]);
  });

  it('a step asks for the decision about the loop around it, which no author can make optional', () => {
    enforces('loop_control_missing_is_not_exit');
    const contract = pinned('loop_control');
    const asked = (loopId: string) => ({
      kind: 'loop_control',
      hints: [],
      contract,
      loopId,
      form: contractForm(contract, { loopId }),
    });
    const body = [
      { id: 'work', title: 'W', prompt: 'P', notesOptional: true },
      { id: 'decide', title: 'D', prompt: 'P', ...output('loop_control', { required: false }) },
    ];
    const loop = { id: 'again', type: 'loop', title: 'L', loop: { type: 'while', maxIterations: 3 }, body };
    expect(requirementsOf(attemptAt({ steps: [loop] }, { stepId: 'work' }))).toEqual([]);
    expect(requirementsOf(attemptAt({ steps: [loop] }, { stepId: 'decide' }))).toEqual([asked('again')]);
    const source = { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control', loopId: 'named' };
    const injected = { ...loop, loop: { ...loop.loop, conditionSource: source }, body: body.slice(0, 1) };
    const index = attemptAt({ steps: [injected] }).index;
    const stepId = index.workflow.steps.find(({ purpose }) => purpose.kind === 'loop_decision')?.stepId ?? '';
    expect(requirementsOf(attemptAt({ steps: [injected] }, { stepId }))).toEqual([asked('named')]);
  });

  it('a step asks for an ordinary contract where the loop around it does not wait for a decision', () => {
    const body = [{ id: 'decide', title: 'D', prompt: 'P', ...output('loop_control') }];
    const loop = { id: 'each', type: 'loop', title: 'L', loop: { type: 'for', count: 2, maxIterations: 3 }, body };
    expect(requirementsOf(attemptAt({ steps: [loop] }))).toMatchObject([{ kind: 'output_contract', isRequired: true }]);
  });

  it('a step asks for the required capabilities of the workflow, and a probe only for its own', () => {
    enforces('capability_missing_blocks_if_required');
    const steps = [
      { id: 'work', title: 'W', prompt: 'P', notesOptional: true },
      {
        id: 'split',
        type: 'parallel',
        title: 'S',
        notesOptional: true,
        parallelDelegations: [{ workflowId: 'wr.other' }],
      },
    ];
    const file = { steps, capabilities: { delegation: 'required', web_browsing: 'required' } };
    const capabilities = {
      delegation: { status: 'available', grade: 'strong' },
      web_browsing: { status: 'available', grade: 'weak' },
    } as const;
    const delegation = { kind: 'capability', capability: 'delegation', known: 'available', isSettledHere: false };
    const web = { kind: 'capability', capability: 'web_browsing', known: undefined, isSettledHere: false };
    const asked = (stepId: string) => requirementsOf(attemptAt(file, { stepId, capabilities }));
    const contract = pinned('capability_observation');
    const form = contractForm(contract, { capability: 'web_browsing' });
    expect(asked('wr_probe_web_browsing')).toEqual([
      { kind: 'output_contract', contract, isRequired: true, hints: [], form },
      { ...web, isSettledHere: true },
    ]);
    expect(asked('work')).toEqual([delegation, web]);
    expect(asked('split')).toEqual([{ ...delegation, isSettledHere: true }, web]);
    const preferred = { ...file, capabilities: { delegation: 'preferred', web_browsing: 'disabled' } };
    expect(requirementsOf(attemptAt(preferred, { stepId: 'work' }))).toEqual([]);
  });
});
