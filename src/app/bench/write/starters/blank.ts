import type { Starter } from '../../../author/starters.ts';
import { headOf } from './head.ts';

export const BLANK: Starter = {
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
