import type { JsonObject } from '../../core/json/json-value.ts';
import { UNWRITTEN } from '../../core/workflow/lint/text-rules.ts';

const BLANK: Starter = {
  summary: 'three plain steps',
  workflow: (naming) => ({
    ...headOf(naming),
    steps: [
      {
        id: 'understand',
        title: 'Understand what is asked',
        prompt:
          'State in your own words what is asked for and how we will know that it is done. Name what you looked at. If something is unknown, say what, and continue with the simplest assumption. Send both as your notes.',
      },
      {
        id: 'do',
        title: 'Do it',
        prompt:
          'Do the work that you described, and nothing else. Write notes: what you did, where it is, and what is left open. If you cannot do it here, say what prevented it and what you tried.',
      },
      {
        id: 'verify',
        title: 'Check the result',
        prompt:
          'Check the result against your first notes, with a command or by reading it again. Report each check: what you ran or read, what it showed, and whether it passed. Report a check that cannot be run here as skipped, with the reason.',
        outputContract: { contractRef: 'wr.contracts.verification_report' },
      },
    ],
  }),
  scenarios: [
    {
      name: 'goes straight through',
      modes: ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'],
      expect: { path: ['understand', 'do', 'verify'], blocks: 0, gaps: [], complete: true },
    },
    {
      name: 'a check without its report is blocked',
      steps: [{ at: 'verify', notes: 'All fine.', expect: 'blocked', blockers: ['MISSING_REQUIRED_OUTPUT'] }],
      expect: { blocks: 1, complete: true },
    },
  ],
};

const LOOP: Starter = {
  summary: 'a plan, rounds of work until nothing is left, and a final verification',
  workflow: (naming) => ({
    ...headOf(naming),
    steps: [
      {
        id: 'plan',
        title: 'Plan',
        prompt:
          'List what must be true at the end, as a numbered list, each point with the check that proves it. Send it as your notes.',
      },
      {
        id: 'rounds',
        type: 'loop',
        title: 'Work in rounds',
        loop: {
          type: 'while',
          maxIterations: 5,
          conditionSource: { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' },
        },
        body: [
          {
            id: 'work',
            title: 'Work on the next point',
            prompt:
              'Take the first point of the plan that is not true yet, and make it true. Write notes: which point, what you changed, and what its check shows now.',
          },
          {
            id: 'decide',
            title: 'Continue?',
            prompt:
              'Go through the list. Decide "continue" if a point is not true and you can still change that. Otherwise decide "stop" and say which points are true and which are not.',
            outputContract: { contractRef: 'wr.contracts.loop_control' },
          },
        ],
      },
      {
        id: 'verify',
        title: 'Check the result',
        prompt:
          'Run the check of every point once more, now that everything is done. Report what each showed. Report a check that cannot be run here as skipped, with the reason.',
        outputContract: { contractRef: 'wr.contracts.verification_report' },
      },
    ],
  }),
  scenarios: [
    {
      name: 'one round is enough',
      modes: ['guided', 'full_auto_stop_on_user_deps', 'full_auto_never_stop'],
      expect: { path: ['plan', 'work', 'decide', 'verify'], blocks: 0, gaps: [], complete: true },
    },
    {
      name: 'iterates until the agent decides to stop',
      steps: [{ at: 'decide', artifacts: [{ kind: 'wr.loop_control', decision: 'continue' }] }],
      expect: { path: ['plan', 'work', 'decide', 'work', 'decide', 'verify'], complete: true },
    },
  ],
};

const GATE: Starter = {
  summary: 'steps that depend on the size of the task, and an assessment that blocks until the result is good enough',
  workflow: (naming) => ({
    ...headOf(naming),
    conditions: [{ id: 'is-large', kind: 'context', var: 'taskSize', equals: 'large' }],
    assessments: [
      {
        id: 'result',
        purpose: 'Whether the result can be handed over.',
        dimensions: [{ id: 'evidence', purpose: 'Whether each claim was verified.', levels: ['believed', 'shown'] }],
      },
    ],
    steps: [
      {
        id: 'size',
        title: 'Size the task',
        prompt:
          'Read what is asked for and what it affects. Send context {"taskSize": "small"} if one place changes, otherwise {"taskSize": "large"}. Explain why in your notes.',
        validationCriteria: [
          {
            type: 'regex',
            pattern: 'No taskSize in context, because .+',
            message:
              'Send the size of the task in the context argument: {"taskSize": "small"} or {"taskSize": "large"}. If you cannot judge it, write in the notes: No taskSize in context, because …',
            condition: { not: { var: 'taskSize', in: ['large', 'small'] } },
          },
        ],
      },
      {
        id: 'design',
        title: 'Choose an approach',
        runCondition: { kind: 'condition_ref', conditionId: 'is-large' },
        prompt:
          'Name two approaches and the drawback of each. Choose one, and say what would make you change your mind. Send the choice and its reasons as your notes.',
      },
      {
        id: 'do',
        title: 'Do it',
        prompt: 'Do the work, and nothing else. Write notes: what you did, where it is, and what is left open.',
      },
      {
        id: 'judge',
        title: 'Judge the result',
        prompt:
          'Go through each claim about the result and verify it by reading or running. Send notes with what you saw, and your assessment.',
        assessmentRefs: ['result'],
        assessmentConsequences: [
          {
            when: { anyEqualsLevel: 'believed', forAssessment: 'result' },
            effect: { kind: 'require_followup', guidance: 'Verify what you only believe, then assess again.' },
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
      name: 'a large task chooses an approach first, and is blocked while claims are only believed',
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

/** A workflow without errors to start from, and scenarios that pass. */
type Starter = {
  readonly summary: string;
  readonly workflow: (naming: Naming) => JsonObject;
  readonly scenarios: readonly JsonObject[];
};

export const STARTERS = { blank: BLANK, loop: LOOP, gate: GATE } as const;
export type StarterName = keyof typeof STARTERS;

export type Naming = { readonly id: string; readonly name: string; readonly description: string };

/** The head of every workflow, for the author to fill in. */
function headOf({ id, name, description }: Naming) {
  return {
    id,
    name,
    description,
    version: '0.1.0',
    about: UNWRITTEN.about,
    examples: [UNWRITTEN.example],
    tags: [],
  };
}
