/** A workflow with a condition, a loop, an assessment that blocks and an input that only the user can give. */
export const EXAMPLE = {
  id: 'team.example',
  name: 'Example',
  description: 'Has one of everything.',
  about: 'For tests of the author.',
  examples: ['See what the author can do'],
  conditions: [{ id: 'is-large', kind: 'context', var: 'taskSize', equals: 'large' }],
  assessments: [
    { id: 'trust', purpose: 'P.', dimensions: [{ id: 'evidence', purpose: 'P.', levels: ['believed', 'shown'] }] },
  ],
  steps: [
    {
      id: 'size',
      title: 'Size it',
      prompt: 'Send context taskSize, small or large, and hurry when there is any.',
      outputContract: { contractRef: 'wr.contracts.findings' },
    },
    {
      id: 'design',
      title: 'Design it',
      runCondition: { kind: 'condition_ref', conditionId: 'is-large' },
      prompt: 'Think about {{taskSize}}.',
      promptFragments: [{ id: 'quick', when: { var: 'hurry', equals: true }, text: 'Be quick.' }],
    },
    {
      id: 'rounds',
      type: 'loop',
      title: 'Rounds',
      loop: {
        type: 'while',
        maxIterations: 3,
        conditionSource: { kind: 'artifact_contract', contractRef: 'wr.contracts.loop_control' },
      },
      body: [{ id: 'work', title: 'Work', prompt: 'Do one round, the {{currentIteration}}.' }],
    },
    {
      id: 'judge',
      title: 'Judge it',
      prompt: 'Judge it.',
      assessmentRefs: ['trust'],
      assessmentConsequences: [
        { when: { anyEqualsLevel: 'believed' }, effect: { kind: 'require_followup', guidance: 'Look it up.' } },
      ],
    },
    {
      id: 'merge',
      title: 'Merge it',
      prompt: 'Merge it.',
      userDependency: { reason: 'needs_user_approval', contextKey: 'merge_now', prompt: 'May I merge?' },
    },
  ],
};

/** Covers every path through it. */
export const EXAMPLE_SCENARIOS = {
  workflowId: 'team.example',
  scenarios: [
    {
      name: 'a small task in two rounds',
      modes: ['guided', 'full_auto_stop_on_user_deps'],
      context: { taskSize: 'small' },
      steps: [
        { at: 'size', notes: 'Small.', expect: 'blocked', blockers: ['MISSING_REQUIRED_OUTPUT'] },
        { at: 'rounds--decide', artifacts: [{ kind: 'wr.loop_control', decision: 'continue' }] },
        {
          at: 'judge',
          artifacts: [{ kind: 'wr.assessment', dimensions: { evidence: 'believed' } }],
          expect: 'blocked',
        },
      ],
      expect: {
        path: ['size', 'work', 'rounds--decide', 'work', 'rounds--decide', 'judge', 'merge'],
        skipped: ['design'],
        blocks: 3,
        complete: true,
      },
    },
    {
      name: 'a large task in a hurry, and a person lets nothing stop it',
      mode: 'full_auto_never_stop',
      modeSetBy: 'person',
      context: { hurry: true },
      steps: [{ at: 'size', context: { taskSize: 'large' } }],
      expect: {
        path: ['size', 'design', 'work', 'rounds--decide', 'judge', 'merge'],
        gaps: [{ category: 'user_only_dependency' }],
        complete: true,
      },
    },
    { name: 'a large task', context: { taskSize: 'large' }, expect: { complete: true } },
  ],
};
