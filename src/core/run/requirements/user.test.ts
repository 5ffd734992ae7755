import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { foundAt, NOTHING_FOUND, tryStep } from '../../../../test/examples/step-attempt.ts';
import type { JsonValue } from '../../json/json-value.ts';
import { REASONS, USER_ONLY_REASONS } from '../../log/reasons.ts';

const notesMarkdown = '<fill: what you did, what you found, what is open>\n<fill: what the user said, in their words>';
const at = { kind: 'workflow_step', stepId: 'work' };
const keyed = {
  notesOptional: true,
  userDependency: { reason: 'needs_user_artifact', contextKey: 'plan', prompt: 'Send the plan.' },
};
const open = {
  notesOptional: true,
  userDependency: { reason: 'needs_user_environment_action', prompt: 'Start the service.' },
};
const approval = { notesOptional: true, requireConfirmation: { kind: 'human_approval' }, assurance: 'stated' };

describe('something only a user can supply', () => {
  it.each<JsonValue>(['here', 0, false, [], {}])(
    'something only a user can supply is there when its key has a value: %j',
    (plan) => {
      enforces('user_dependency_behaviour');
      expect(foundAt(tryStep(keyed, { context: { plan } }))).toEqual({
        ...NOTHING_FOUND,
        met: ['user_dependency:plan'],
      });
    },
  );

  it.each([{}, { plan: null }, { plan: '  ' }, { Plan: 'x' }])(
    'something only a user can supply is lacking without a value for its key: %j',
    (context) => {
      enforces('user_dependency_behaviour');
      // Notes do not make up for the key, not even on the retry.
      const given = { context, notes: 'The user said so.', isRetry: true, hasNewNotes: true };
      expect(foundAt(tryStep(keyed, given))).toEqual({
        ...NOTHING_FOUND,
        unmet: [
          {
            reason: 'user_only_dependency:needs_user_artifact',
            pointer: { kind: 'context_key', key: 'plan' },
            message: 'The user has not given "plan". The step says: Send the plan.',
            suggestedFix:
              'Ask the user and wait. Never answer for the user. Then send the answer in the `context` argument, under the key "plan".',
            requirement: 'user_dependency:plan',
            form: { context: { plan: "<fill: the user's answer, in their words>" } },
          },
        ],
      });
    },
  );

  it('an answer of the user without a key counts in notes that follow the block', () => {
    enforces('user_dependency_behaviour');
    const unmet = {
      reason: 'user_only_dependency:needs_user_environment_action',
      pointer: at,
      message: 'This step needs the user: Start the service.',
      suggestedFix:
        'Ask the user and wait. Never answer for the user. Then send this step again with the answer in `output.notesMarkdown`; it replaces the notes you sent.',
      requirement: 'user_dependency:work',
      form: { notesMarkdown },
    };
    const found = (isRetry: boolean, hasNewNotes: boolean) =>
      foundAt(tryStep(open, { notes: 'It runs.', isRetry, hasNewNotes }));
    expect(found(false, true)).toEqual({ ...NOTHING_FOUND, unmet: [unmet] });
    expect(found(true, false)).toEqual({ ...NOTHING_FOUND, unmet: [unmet] });
    expect(found(true, true)).toEqual({ ...NOTHING_FOUND, met: ['user_dependency:work'] });
  });

  it.each(USER_ONLY_REASONS)('something only a user can supply has a reason of its own: %s', (reason) => {
    const userDependency = { reason, choiceKind: 'irreversible_action', prompt: 'Well?' };
    const { unmet } = foundAt(tryStep({ notesOptional: true, userDependency }));
    expect(unmet.map((one) => [one.reason, REASONS[one.reason].blocker])).toEqual([
      [`user_only_dependency:${reason}`, 'USER_ONLY_DEPENDENCY'],
    ]);
  });
});

describe('an approval', () => {
  const unmet = {
    reason: 'user_only_dependency:needs_user_approval',
    pointer: at,
    message: 'The user must approve this step before the run continues.',
    suggestedFix:
      'Show the user your work and ask for approval. Never approve for the user. When the user approves, send this step again and write in `output.notesMarkdown` what was approved, in their words; these notes replace the ones you sent.',
    requirement: 'approval:work',
    form: { notesMarkdown },
  };

  it('an approval is asked for like everything that only the user can supply', () => {
    enforces('human_approval_is_user_dependency');
    expect(foundAt(tryStep(approval, { notes: 'Approved by me.', hasNewNotes: true }))).toEqual({
      ...NOTHING_FOUND,
      unmet: [unmet],
    });
    expect(foundAt(tryStep(approval, { isRetry: true }))).toEqual({ ...NOTHING_FOUND, unmet: [unmet] });
    expect(foundAt(tryStep(approval, { notes: 'Go ahead.', isRetry: true, hasNewNotes: true }))).toEqual({
      ...NOTHING_FOUND,
      met: ['approval:work'],
    });
  });

  it('an approval is not asked for while its condition does not hold', () => {
    const requireConfirmation = { kind: 'human_approval', condition: { var: 'isLarge', equals: true } };
    const conditional = { notesOptional: true, requireConfirmation, assurance: 'stated' };
    expect(foundAt(tryStep(conditional))).toEqual(NOTHING_FOUND);
    expect(foundAt(tryStep(conditional, { context: { isLarge: 'yes' } })).unmet).toEqual([unmet]);
    expect(foundAt(tryStep(conditional, { loopVariables: { isLarge: true } })).unmet).toEqual([unmet]);
  });
});
