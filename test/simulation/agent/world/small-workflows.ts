import type { WorkflowFile } from '../../../../src/app/ports/workflow-sources.ts';
import { workflowFile } from './workflow-files.ts';

const LOOP_CONTROL = { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' };

/** Workflows that are short and still ask for everything that can be asked. */
const WORKFLOWS = [
  {
    id: 'sim.plain',
    name: 'Plain',
    steps: ['one', 'two', 'three', 'four'].map((id) => plainStep(id)),
  },
  {
    id: 'sim.contracts',
    name: 'Contracts',
    assessments: [
      {
        id: 'quality',
        purpose: 'Is it good enough?',
        dimensions: [{ id: 'depth', purpose: 'How deep.', levels: ['low', 'high'] }],
      },
    ],
    steps: [
      { ...plainStep('review'), outputContract: { contractRef: 'wr.contracts.review_verdict' } },
      {
        ...plainStep('judge'),
        assessmentRefs: ['quality'],
        assessmentConsequences: [
          { when: { anyEqualsLevel: 'low' }, effect: { kind: 'require_followup', guidance: 'Dig deeper.' } },
        ],
      },
      {
        ...plainStep('explain'),
        validationCriteria: [{ type: 'contains', value: 'because', message: 'Say why.' }],
      },
      { ...plainStep('close'), notesOptional: true },
    ],
  },
  {
    id: 'sim.rounds',
    name: 'Rounds',
    steps: [
      plainStep('prepare'),
      {
        id: 'rounds',
        type: 'loop',
        title: 'Rounds',
        loop: { type: 'while', maxIterations: 3, conditionSource: LOOP_CONTROL },
        body: [plainStep('try'), { ...plainStep('extra'), runCondition: { var: 'depth', equals: 'deep' } }],
      },
      { ...plainStep('repair'), runCondition: { var: 'broken', equals: true } },
      plainStep('report'),
    ],
  },
  {
    id: 'sim.each',
    name: 'Each',
    steps: [
      {
        id: 'files',
        type: 'loop',
        title: 'Files',
        loop: { type: 'forEach', items: 'files', maxIterations: 4, itemVar: 'file' },
        body: [
          { ...plainStep('read'), prompt: 'Read {{file}} for {{goal}}.' },
          {
            id: 'again',
            type: 'loop',
            title: 'Again',
            loop: { type: 'for', count: 2, maxIterations: 2 },
            body: [plainStep('check')],
          },
        ],
      },
      plainStep('sum-up'),
    ],
  },
  {
    id: 'sim.people',
    name: 'People',
    steps: [
      {
        ...plainStep('choose'),
        userDependency: {
          reason: 'needs_user_choice',
          choiceKind: 'preference_tradeoff',
          contextKey: 'chosen_option',
          prompt: 'Which of the two?',
        },
      },
      { ...plainStep('confirm'), requireConfirmation: true },
      // What only a person can answer has plays of its own.
      { ...plainStep('approve'), requireConfirmation: { kind: 'human_approval' }, assurance: 'stated' },
      { ...plainStep('gate'), requireConfirmation: { kind: 'coordinator_eval' } },
    ],
  },
  {
    id: 'sim.browsing',
    name: 'Browsing',
    capabilities: { web_browsing: 'required', delegation: 'preferred' },
    recommendedPreferences: { recommendedAutonomy: 'full_auto_stop_on_user_deps' },
    steps: [
      plainStep('look-up'),
      { ...plainStep('hand-over'), output: { contractRef: 'wr.contracts.discovery_handoff' } },
    ],
  },
];

export const SMALL_WORKFLOWS: readonly string[] = WORKFLOWS.map(({ id }) => id);

export const SMALL_FILES: readonly WorkflowFile[] = WORKFLOWS.map((workflow) => {
  const whole = { ...workflow, description: `For the simulator: ${workflow.name}.` };
  return workflowFile({ name: `${workflow.id}.json`, text: JSON.stringify(whole) }, { kind: 'project' });
});

function plainStep(id: string) {
  return { id, title: `Step ${id}`, prompt: `Do ${id}.` };
}
