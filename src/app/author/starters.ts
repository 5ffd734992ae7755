import type { JsonObject } from '../../core/json/json-value.ts';

const BLANK: Starter = {
  summary: 'three plain steps',
  workflow: (naming) => ({
    ...headOf(naming),
    steps: [
      {
        id: 'understand',
        title: 'Understand what is asked',
        prompt:
          'Say in your own words what is asked for and how we shall see that it is done. Name what you looked at. If something cannot be known, say what and go on with the plainest assumption. Hand in both as your notes.',
      },
      {
        id: 'do',
        title: 'Do it',
        prompt:
          'Do the work that you described, and nothing else. Hand in notes: what you did, where it is to be found, and what you left open. If you cannot do it here, say what stood in the way and what you tried.',
      },
      {
        id: 'verify',
        title: 'Check the result',
        prompt:
          'Check the result against what you wrote first, with a command or by reading it again. Hand in a report of each check: what was run or read, what it showed, and whether it passed. A check that cannot be run here is reported as skipped, with the reason.',
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
      name: 'a check without its report is held back',
      steps: [{ at: 'verify', notes: 'All fine.', expect: 'blocked', blockers: ['MISSING_REQUIRED_OUTPUT'] }],
      expect: { blocks: 1, complete: true },
    },
  ],
};

const LOOP: Starter = {
  summary: 'a plan, rounds of work until nothing is left, and a verified end',
  workflow: (naming) => ({
    ...headOf(naming),
    steps: [
      {
        id: 'plan',
        title: 'Plan',
        prompt:
          'Write down what has to be true at the end, as a numbered list, each point with the check that shows it. Hand it in as your notes.',
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
              'Take the first point of the plan that does not hold yet, and make it hold. Hand in notes: which point, what you changed, and what its check shows now.',
          },
          {
            id: 'decide',
            title: 'Go round again?',
            prompt:
              'Go through the list. Decide "continue" while a point does not hold and you can do something about it; otherwise decide "stop" and say which points hold and which do not.',
            outputContract: { contractRef: 'wr.contracts.loop_control' },
          },
        ],
      },
      {
        id: 'verify',
        title: 'Check the result',
        prompt:
          'Run the check of every point once more, now that all is in place. Report each with what it showed. A check that cannot be run here is reported as skipped, with the reason.',
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
      name: 'goes round again until it is decided to stop',
      steps: [{ at: 'decide', artifacts: [{ kind: 'wr.loop_control', decision: 'continue' }] }],
      expect: { path: ['plan', 'work', 'decide', 'work', 'decide', 'verify'], complete: true },
    },
  ],
};

const GATE: Starter = {
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

/** Something to begin with: a workflow that is sound as it stands, and a scenario that passes. */
type Starter = {
  readonly summary: string;
  readonly workflow: (naming: Naming) => JsonObject;
  readonly scenarios: readonly JsonObject[];
};

export const STARTERS = { blank: BLANK, loop: LOOP, gate: GATE } as const;
export type StarterName = keyof typeof STARTERS;

export type Naming = { readonly id: string; readonly name: string; readonly description: string };

/** What every workflow begins with, for the author to fill in. */
function headOf({ id, name, description }: Naming) {
  return {
    id,
    name,
    description,
    version: '0.1.0',
    about: 'What this is for, what comes out of it, and when to take another workflow. People choose by this text.',
    examples: ['A goal as a user would type it'],
    tags: [],
  };
}
