import { GapId } from '../../src/core/log/ids.ts';
import type { GivenReply } from '../../src/core/log/operation/stored-reply.ts';
import { withIgnoredOutput } from '../../src/core/prompt/reply/replayed-reply.ts';
import { stepReply } from '../../src/core/prompt/reply/step-reply.ts';
import type { ReplyParts } from '../../src/core/prompt/reply-parts.ts';
import { replyWarning } from '../../src/core/prompt/reply-warnings.ts';
import { blockedParts, given, type Place, partsAt, unmetAt } from './replies.ts';

/** A workflow with one of everything that an agent reads. */
const REVIEW = {
  id: 'project.change_review',
  name: 'Review of a change',
  description: 'Reviews a change before it is merged.',
  agentRole: 'You are a reviewer who trusts nothing that was not run.',
  capabilities: { delegation: 'preferred' },
  preconditions: ['The change is committed on a branch.', 'The tests can be run.'],
  clarificationPrompts: ['Which parts of the change matter most?'],
  metaGuidance: ['Never change code while you review it.', 'Name file and line for every claim.'],
  functionDefinitions: [
    {
      name: 'severityOf',
      definition: 'critical if data can be lost, major if a user is misled, else minor.',
      parameters: [{ name: 'finding', type: 'string', description: 'one sentence' }],
    },
  ],
  assessments: [
    {
      id: 'readiness',
      purpose: 'whether the change can be merged',
      dimensions: [
        { id: 'correctness', purpose: 'does it do what it says', levels: ['low', 'high'] },
        { id: 'tests', purpose: 'do the tests show it', levels: ['low', 'high'] },
      ],
    },
  ],
  steps: [
    {
      id: 'scope',
      title: 'Scope of {{branch}}',
      prompt: 'Look at what {{branch}} changes and say what it is for.',
      requireConfirmation: true,
    },
    {
      id: 'read',
      title: 'Read the change',
      prompt: 'Read every changed file of {{branch}}.\nBegin with {{entry.file}}.',
      promptFragments: [
        {
          id: 'large',
          when: { var: 'size', equals: 'large' },
          text: 'It is large: read it in the order of its commits.',
        },
        { id: 'small', when: { var: 'size', equals: 'small' }, text: 'It is small: read it twice.' },
      ],
      guidance: ['Say what you did not read.'],
      functionReferences: ['severityOf()'],
    },
    {
      id: 'angles',
      type: 'parallel',
      title: 'Look from several angles',
      parallelDelegations: [
        {
          workflowId: 'wr.security',
          goal: 'Find what an attacker could use in {{branch}}.',
          contextMapping: { ref: 'branch' },
        },
        {
          workflowId: 'wr.history',
          goal: 'Find out why the code was written this way.',
          runCondition: { var: 'size', equals: 'large' },
        },
      ],
    },
    {
      id: 'per-file',
      type: 'loop',
      title: 'Each risky file',
      loop: { type: 'forEach', items: 'riskyFiles', maxIterations: 5 },
      body: [{ id: 'file', title: 'Check one file', prompt: 'Check this file line by line.' }],
    },
    {
      id: 'judge',
      title: 'Judge the change',
      prompt: 'Judge the change as a whole.',
      assessmentRefs: ['readiness'],
      validationCriteria: [{ type: 'contains', value: 'Verdict:', message: 'State the verdict' }],
    },
    {
      id: 'report',
      title: 'Write the verdict',
      prompt: 'Write the verdict.',
      output: { contractRef: 'wr.contracts.review_verdict', hints: ['At most five findings.'] },
    },
    {
      id: 'merge',
      title: 'Ask for the merge',
      prompt: 'Prepare the merge.',
      userDependency: {
        reason: 'needs_user_choice',
        choiceKind: 'irreversible_action',
        contextKey: 'merge_now',
        prompt: 'Should the change be merged now, or wait for the release?',
      },
    },
    {
      id: 'sign',
      title: 'Sign off',
      prompt: 'Say in one line that the review is over.',
      requireConfirmation: { kind: 'human_approval' },
    },
    {
      id: 'gate',
      title: 'Pass the gate',
      prompt: 'Hand the review over.',
      requireConfirmation: { kind: 'coordinator_eval' },
      notesOptional: true,
    },
  ],
};

const CONTEXT = {
  branch: 'fix/retry',
  entry: { file: 'src/pay/retry.ts' },
  riskyFiles: ['a.ts', 'b.ts'],
  size: 'small',
};
const GOAL = 'Review fix/retry before the release';

/** The reviewed run at one of its steps. */
export function reviewAt(stepId: string, place: Place = {}): ReplyParts {
  const order = ['scope', 'read', 'angles', 'file', 'file-2', 'judge', 'report', 'merge', 'sign', 'gate', 'end'];
  return partsAt(REVIEW, { context: CONTEXT, ...place, done: order.indexOf(stepId) });
}

const GAP = {
  gapId: GapId.of(new Uint8Array(10)),
  severity: 'critical',
  reason: { category: 'user_only_dependency', detail: 'needs_user_choice' },
  summary: 'Nobody was asked whether to merge now; the change waits for the release.',
  resolution: { kind: 'unresolved' },
} as const;
const OTHER_GAP = {
  ...GAP,
  reason: { category: 'contract_violation', detail: 'missing_required_output' },
  summary: 'This step requires notes.',
  details: { requirement: 'notes:look', pointer: { kind: 'workflow_step', stepId: 'look' } },
} as const;

const GAP_OF_ROUND = {
  ...OTHER_GAP,
  details: { requirement: 'notes:files@1::file', pointer: { kind: 'workflow_step', stepId: 'file' } },
} as const;

const REFERENCES = [
  {
    title: 'Review guide',
    path: '/work/docs/review.md',
    purpose: 'What a finding is.',
    isAuthoritative: true,
    isResolved: true,
    isOutside: false,
  },
  {
    title: 'Old incidents',
    path: 'docs/incidents.md',
    purpose: 'What went wrong before.',
    isAuthoritative: false,
    isResolved: false,
    isOutside: false,
  },
];

const NOTES = [
  { stepId: 'scope', title: 'Scope of …', text: '- retries payments\n- 4 files, 1 test' },
  { stepId: 'read', title: 'Read the change', text: 'Read all 4 files. `retry.ts:42` repeats a payment.' },
];

const came = { lifecycle: 'rehydrate', goal: GOAL } as const;
const BRANCH_TOKEN = `st_${'00r1'.padEnd(48, 'b')}`;

/** Every kind of reply that an agent may get, by situation. */
export const SITUATIONS: { readonly [what: string]: () => ReplyParts } = {
  'start-guided': () => ({ ...reviewAt('scope'), lifecycle: 'start', references: REFERENCES }),
  'start-full-auto': () => ({
    ...reviewAt('scope', { mode: 'full_auto_never_stop' }),
    lifecycle: 'start',
    warnings: [
      replyWarning(
        { code: 'exceeds_recommended_autonomy', recommended: 'guided', effective: 'full_auto_never_stop' },
        'conservative',
      ),
    ],
  }),
  'start-without-its-list': () =>
    blockedParts({ ...partsAt({ ...REVIEW, steps: [REVIEW.steps[3]] }), lifecycle: 'start' }, [
      {
        reason: 'contract_violation:missing_required_output',
        pointer: { kind: 'context_key', key: 'riskyfiles' as never },
        message: 'Loop "per-file" needs a list in context key "riskyFiles", but found nothing.',
        suggestedFix: 'Send the list as context.',
        requirement: 'loop:per-file',
        form: { context: { riskyFiles: ['<fill: one file per entry>'] } },
      },
    ]),
  'advance-plain': () => partsAt(PLAIN, { done: 1 }),
  'advance-after-results': () => ({
    ...partsAt(PLAIN, { done: 1 }),
    artifacts: [
      { title: 'Survey', kind: 'wr.findings', text: 'findings (first of 2): {"severity":"minor"}' },
      { title: 'Build', kind: 'wr.changed_files', text: 'changedFiles: none\nNext call: none' },
    ],
  }),
  'advance-with-values': () => reviewAt('read', { context: { ...CONTEXT, entry: {} } }),
  'advance-delegation-unknown': () => reviewAt('angles'),
  'advance-delegation-available': () =>
    reviewAt('angles', {
      context: { ...CONTEXT, size: 'large' },
      capabilities: { delegation: { status: 'available', grade: 'strong' } },
    }),
  'advance-delegation-unavailable': () =>
    reviewAt('angles', { capabilities: { delegation: { status: 'unavailable', grade: 'strong' } } }),
  'advance-in-a-loop': () => reviewAt('file-2'),
  'advance-asking-for-much': () => reviewAt('judge', { mode: 'full_auto_stop_on_user_deps' }),
  'advance-after-an-assessment': () => ({
    ...reviewAt('report'),
    assessments: {
      isOneOfSeveral: false,
      accepted: [
        {
          assessmentId: 'readiness',
          dimensions: [
            { dimensionId: 'correctness', level: 'high', rationale: 'All paths were run.' },
            { dimensionId: 'tests', level: 'low' },
          ],
          normalizationNotes: ['"HIGH" was read as "high".'],
        },
      ],
    },
  }),
  'advance-needs-the-user': () => reviewAt('merge'),
  'advance-needs-the-user-in-full-auto': () => ({
    ...reviewAt('merge', { mode: 'full_auto_never_stop' }),
    gaps: [GAP_OF_ROUND],
  }),
  'advance-needs-approval': () => reviewAt('sign'),
  'advance-needs-a-verdict': () => reviewAt('gate', { mode: 'full_auto_stop_on_user_deps' }),
  'blocked-by-much': () => blockedParts(reviewAt('judge')),
  'blocked-by-the-user': () => {
    const parts = reviewAt('merge');
    return blockedParts(parts, unmetAt(parts, { output: { notesMarkdown: 'Prepared.' } }));
  },
  checkpoint: () => ({ ...partsAt(PLAIN, { done: 1 }), lifecycle: 'checkpoint' }),
  complete: () => partsAt(PLAIN, { done: 2 }),
  'complete-with-gaps': () => ({
    ...partsAt(PLAIN, { done: 2, mode: 'full_auto_never_stop' }),
    gaps: [GAP, OTHER_GAP],
  }),
  'rehydrate-tip': () => ({
    ...reviewAt('angles'),
    ...came,
    recap: { lines: NOTES, omitted: 3 },
    references: REFERENCES,
  }),
  'rehydrate-done-before': () => ({
    ...reviewAt('read'),
    ...came,
    recap: { lines: NOTES.slice(0, 1), omitted: 0 },
    branch: {
      children: [
        { kind: 'step', summary: 'Read all 4 files.' },
        { kind: 'checkpoint', summary: 'Half of the files.' },
      ],
      childrenOmitted: 0,
      preferred: {
        stateToken: BRANCH_TOKEN,
        stepTitle: 'Look from several angles',
        isComplete: false,
        recap: { lines: NOTES.slice(1), omitted: 0 },
      },
    },
  }),
  'rehydrate-blocked': () => {
    const parts = reviewAt('judge');
    const notesMarkdown = 'It looks fine.';
    const artifacts = [{ kind: 'wr.assessment', assessmentId: 'readiness', dimensions: { correctness: 'good' } }];
    return {
      ...blockedParts(parts, unmetAt(parts, { output: { notesMarkdown, artifacts } })),
      ...came,
      recap: { lines: NOTES, omitted: 0 },
      draft: { notesMarkdown, artifactKinds: ['wr.assessment'] },
    };
  },
};

/** Two steps and nothing else. */
export const PLAIN = {
  id: 'wr.first_steps',
  name: 'First steps',
  description: 'Two steps.',
  steps: [
    { id: 'look', title: 'Look around', prompt: 'Look at the repository.' },
    { id: 'say', title: 'Say what you saw', prompt: 'Write down three things that you saw.' },
  ],
};

const AGAIN = {
  ackToken: `ack_${'00r1'.padEnd(48, 'f')}`,
  sent: { output: { notesMarkdown: 'Looked again, and saw a fourth thing.' } },
};

/** Replies that are made from recorded ones. */
export const IGNORED: { readonly [what: string]: () => GivenReply } = {
  'replay-ignored-after-advance': () => withIgnoredOutput(given(stepReply(partsAt(PLAIN, { done: 1 }))), AGAIN),
  'replay-ignored-after-block': () => withIgnoredOutput(given(stepReply(blockedParts(reviewAt('judge')))), AGAIN),
};
