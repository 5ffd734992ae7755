import type { Starter } from '../../../author/starters.ts';
import { headOf } from './head.ts';

export const GATE: Starter = {
  summary: 'work that depends on its size, and an assessment that holds it back until it is good enough',
  workflow: (naming) => ({
    ...headOf(naming),
    conditions: [{ id: 'is-large', kind: 'context', var: 'taskSize', equals: 'large' }],
    assessments: [
      {
        id: 'result',
        purpose: 'Whether the result can be handed on.',
        dimensions: [
          { id: 'evidence', purpose: 'Whether each claim was looked up or run.', levels: ['believed', 'shown'] },
        ],
      },
    ],
    steps: [
      {
        id: 'size',
        title: 'Size the task',
        prompt:
          'Read what is asked for and what it touches. Send context {"taskSize": "small"} when one place changes, otherwise {"taskSize": "large"}. Hand in notes that say why.',
        validationCriteria: [
          {
            type: 'regex',
            pattern: 'No taskSize in context, because .+',
            message:
              'Context says how big the task is, {"taskSize": "small"} or {"taskSize": "large"}, sent beside output; or else the notes say why that cannot be judged',
            condition: { not: { var: 'taskSize', in: ['large', 'small'] } },
          },
        ],
      },
      {
        id: 'design',
        title: 'Settle the way',
        runCondition: { kind: 'condition_ref', conditionId: 'is-large' },
        prompt:
          'Name two ways to do it and what speaks against each. Choose one, and say what would make you change your mind. Hand in the choice and its reasons as your notes.',
      },
      {
        id: 'do',
        title: 'Do it',
        prompt: 'Do the work, and nothing else. Hand in notes: what you did, where it is, and what you left open.',
      },
      {
        id: 'judge',
        title: 'Judge the result',
        prompt:
          'Go through what you claim about the result, one by one, and look each up or run it. Hand in notes with what you saw, and your assessment.',
        assessmentRefs: ['result'],
        assessmentConsequences: [
          {
            when: { anyEqualsLevel: 'believed', forAssessment: 'result' },
            effect: { kind: 'require_followup', guidance: 'Look up what you only believe, then assess again.' },
          },
        ],
      },
    ],
  }),
  scenarios: [
    {
      name: 'a small task skips the design',
      modes: ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'],
      steps: [
        { at: 'size', context: { taskSize: 'small' } },
        { at: 'judge', artifacts: [{ kind: 'wr.assessment', dimensions: { evidence: 'shown' } }] },
      ],
      expect: { path: ['size', 'do', 'judge'], skipped: ['design'], complete: true },
    },
    {
      name: 'a large task settles its way first, and is held back while it only believes',
      steps: [
        { at: 'size', notes: 'It is large.', expect: 'blocked', blockers: ['INVALID_REQUIRED_OUTPUT'] },
        { at: 'size', context: { taskSize: 'large' } },
        {
          at: 'judge',
          notes: 'It should work.',
          artifacts: [{ kind: 'wr.assessment', dimensions: { evidence: 'believed' } }],
          expect: 'blocked',
          blockers: ['INVALID_REQUIRED_OUTPUT'],
        },
        { at: 'judge', artifacts: [{ kind: 'wr.assessment', dimensions: { evidence: 'shown' } }] },
      ],
      expect: { path: ['size', 'design', 'do', 'judge'], blocks: 2, complete: true },
    },
  ],
};
