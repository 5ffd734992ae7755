import type { Json } from './json-leaves.ts';

/** A workflow with the objects that no fixture has. */
export const RARE_OBJECTS: Json = {
  id: 'test.rare',
  name: 'Rare',
  description: 'Objects that no fixture has.',
  arguments: [{ name: 'plan', description: 'where the plan is', required: false }],
  steps: [
    {
      id: 'only',
      title: 'Only',
      prompt: 'Do {plan}.',
      runCondition: { kind: 'context', condition: { var: 'size', equals: 'large' } },
      checks: [
        { id: 'tests', run: 'npm test', minimum: 'observed', against: 'base', tests: ['test/**'], report: 'tap' },
        { id: 'lint', run: 'npm run lint', minimum: 'reported', fresh: 'head' },
      ],
      outputContract: { contractRef: 'wr.contracts.review_verdict' },
      accountsFor: [{ context: 'criteria', prefix: 'AC', in: 'findings' }],
      collects: [{ list: 'findings', into: 'open', prefix: 'F', replaces: true }],
    },
  ],
};
