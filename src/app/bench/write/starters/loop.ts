import type { Starter } from '../../../author/starters.ts';
import { headOf } from './head.ts';

export const LOOP: Starter = {
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
