import { describe, expect, it } from 'vitest';
import {
  ALONE,
  AT_B,
  advanced,
  attemptAt,
  branched,
  COMPLETE,
  DONE,
  decides,
  events,
  missingNotes,
  NODE,
  openGap,
  pendingAt,
  report,
  reported,
  TWO_STEPS,
  traced,
} from '../../../../test/examples/decisions.ts';
import { digestOf, ROOT, RUN } from '../../../../test/examples/ids.ts';
import { step, workflowOf } from '../../../../test/examples/loop-files.ts';
import { sha256 } from '../../../../test/examples/sha256.ts';
import { ATTEMPT_MAX, NOTE_BYTES_MAX } from '../../log/budgets.ts';
import { advanceRun, recordedAdvance } from './advance-run.ts';

describe('an attempt that meets everything', () => {
  it('an attempt that meets everything leads to the next step, with the notes and the reason on record', () => {
    const outcome = decides(
      TWO_STEPS,
      { notes: DONE },
      advanced(AT_B, events.note(DONE), events.trace(traced.next('b'))),
    );
    expect(outcome).toMatchObject({ openGaps: [], openedGaps: [], isNoteCut: false, canTryAgain: true, unset: [] });
  });

  it('an attempt that meets everything stores its artifact after its notes', () => {
    const artifacts = [{ kind: 'wr.findings', findings: [], summary: 'None.' }];
    decides(
      TWO_STEPS,
      { notes: DONE, artifacts },
      advanced(AT_B, events.note(DONE), events.artifact(), events.trace(traced.next('b'))),
    );
  });

  it('an attempt that meets everything stores the change of context that it brings', () => {
    decides(
      TWO_STEPS,
      { notes: DONE, contextDelta: { size: 'small' } },
      advanced(AT_B, events.note(DONE), events.context({ size: 'small' }), events.trace(traced.next('b'))),
    );
  });

  it('an attempt that meets everything stores notes that are too long up to their limit, and says that they were cut', () => {
    const cut = `${'x'.repeat(NOTE_BYTES_MAX - '\n\n[TRUNCATED]'.length)}\n\n[TRUNCATED]`;
    const outcome = decides(
      TWO_STEPS,
      { notes: 'x'.repeat(NOTE_BYTES_MAX + 1) },
      advanced(AT_B, events.note(cut), events.trace(traced.next('b'))),
    );
    expect(outcome.isNoteCut).toBe(true);
  });

  it('an attempt that meets everything keeps the notes of the blocked attempts that it continues', () => {
    const earlier = [{ notesMarkdown: 'From before.', artifacts: [] }];
    decides(
      TWO_STEPS,
      { earlier, isRetry: true },
      advanced(AT_B, events.note('From before.'), events.trace(traced.next('b'))),
    );
  });

  it('an attempt that meets everything replaces the notes of earlier attempts by its own', () => {
    const earlier = [{ notesMarkdown: 'From before.', artifacts: [] }];
    decides(
      TWO_STEPS,
      { earlier, isRetry: true, notes: DONE },
      advanced(AT_B, events.note(DONE), events.trace(traced.next('b'))),
    );
  });

  it('an attempt that meets everything records what it reports about a capability', () => {
    const artifacts = [{ kind: 'wr.capability_observation', capability: 'delegation', status: 'available' }];
    const outcome = decides(
      TWO_STEPS,
      { notes: DONE, artifacts },
      advanced(
        AT_B,
        events.note(DONE),
        events.artifact(),
        events.capability({
          capability: 'delegation',
          status: 'available',
          provenance: {
            kind: 'manual_claim',
            enforcementGrade: 'weak',
            detail: { claimedBy: 'agent', claim: 'available' },
          },
        }),
        events.trace(traced.next('b')),
      ),
    );
    expect(outcome.facts.capabilities).toEqual({ delegation: { status: 'available', grade: 'weak' } });
  });

  it('an attempt that meets everything records a departure from the instructions', () => {
    const artifacts = [{ kind: 'wr.workflow_divergence', reason: 'safety_stop', summary: 'It was unsafe.' }];
    decides(
      TWO_STEPS,
      { notes: DONE, artifacts },
      advanced(
        AT_B,
        events.note(DONE),
        events.artifact(),
        events.divergence({ reason: 'safety_stop', summary: 'It was unsafe.' }),
        events.trace(traced.next('b')),
      ),
    );
  });

  it('an attempt that meets everything cannot be tried again when the last attempt that a token can count is used', () => {
    const workflow = workflowOf(TWO_STEPS);
    const last = attemptAt(workflow, pendingAt('a', 0), { notes: DONE, attemptId: ATTEMPT_MAX });
    expect(advanceRun(last, sha256).outcome.canTryAgain).toBe(false);
  });
});

describe('a change of mode', () => {
  it('a change of mode is recorded with the attempt that brings it', () => {
    decides(
      TWO_STEPS,
      { notes: DONE, mode: 'full_auto_stop_on_user_deps', modeBefore: 'guided' },
      advanced(
        AT_B,
        events.note(DONE),
        events.mode('full_auto_stop_on_user_deps', ['autonomy', 'riskPolicy']),
        events.trace(traced.next('b')),
      ),
    );
  });

  it('a change of mode beyond what the workflow recommends is recorded with a warning', () => {
    const parts = { recommendedPreferences: { recommendedAutonomy: 'guided' } };
    const warning = { code: 'exceeds_recommended_autonomy', recommended: 'guided', effective: ALONE };
    const outcome = decides(
      TWO_STEPS,
      { notes: DONE, mode: ALONE, modeBefore: 'guided', parts },
      advanced(
        AT_B,
        events.note(DONE),
        events.mode(ALONE, ['autonomy'], { warnings: [warning] }),
        events.trace(traced.next('b')),
      ),
    );
    expect(outcome.preferenceWarnings).toEqual([warning]);
  });

  it('a change of mode governs the attempt that brings it: what would block is recorded as a gap', () => {
    decides(
      TWO_STEPS,
      { mode: ALONE, modeBefore: 'guided' },
      advanced(AT_B, events.gap(missingNotes('a')), events.mode(ALONE, ['autonomy']), events.trace(traced.next('b'))),
    );
  });
});

describe('a step that is not due', () => {
  it('a step that is not due is skipped, and recorded with its condition', () => {
    const steps = [step('a'), step('s', { runCondition: { var: 'size', equals: 'large' } }), step('b')];
    const state = pendingAt('b', 2);
    decides(
      steps,
      { notes: DONE, context: { size: 'small' } },
      advanced(
        state,
        events.note(DONE),
        events.skipped('s'),
        events.trace(traced.run('step s', false), traced.next('b')),
      ),
    );
  });

  it('a step that is not due because a value was never set is reported with the value that would make it due', () => {
    const steps = [step('a'), step('s', { runCondition: { var: 'size', equals: 'large' } }), step('b')];
    const state = pendingAt('b', 2);
    const outcome = decides(
      steps,
      { notes: DONE },
      advanced(
        state,
        events.note(DONE),
        events.skipped('s'),
        events.trace(traced.run('step s', false), traced.next('b')),
      ),
    );
    expect(outcome).toMatchObject({ unset: [{ stepId: 's', keys: ['size'], context: { size: 'large' } }] });
  });

  it('a step that is not due sees the context that the attempt brings', () => {
    const steps = [step('a'), step('s', { runCondition: { var: 'size', equals: 'large' } }), step('b')];
    const state = pendingAt('s', 1);
    decides(
      steps,
      { notes: DONE, contextDelta: { size: 'large' } },
      advanced(
        state,
        events.note(DONE),
        events.context({ size: 'large' }),
        events.trace(traced.run('step s', true), traced.next('s')),
      ),
    );
  });
});

describe('the last step', () => {
  it('the last step completes the run', () => {
    decides([step('a')], { notes: DONE }, advanced(COMPLETE, events.note(DONE)));
  });

  it('the last step completes the run where all steps after it are skipped', () => {
    const steps = [step('a'), step('s', { runCondition: { var: 'size', equals: 'large' } })];
    decides(
      steps,
      { notes: DONE, context: { size: 'small' } },
      advanced(COMPLETE, events.note(DONE), events.skipped('s'), events.trace(traced.run('step s', false))),
    );
  });

  it('the last step completes a run that never stops with all gaps that are open', () => {
    const outcome = decides(
      [step('a')],
      { mode: ALONE, openGaps: [openGap()] },
      advanced(COMPLETE, events.gap(missingNotes('a'))),
    );
    expect(outcome.openGaps.map(({ summary }) => summary)).toEqual(['Old.', missingNotes('a').summary]);
  });
});

describe('a branch', () => {
  it('a branch from a node that has a step below it is recorded as such', () => {
    decides(
      TWO_STEPS,
      { notes: DONE, hasStepBelow: true, isBranch: true },
      branched(AT_B, events.note(DONE), events.trace(traced.branch(), traced.next('b'))),
    );
  });

  it('a branch from a blocked attempt whose step was done since is traced as one, though its node is a tip', () => {
    decides(
      TWO_STEPS,
      { notes: DONE, isRetry: true, isBranch: true },
      advanced(AT_B, events.note(DONE), events.trace(traced.branch(), traced.next('b'))),
    );
  });
});

describe('a run that never stops', () => {
  it('a run that never stops records a gap for missing notes and continues', () => {
    const outcome = decides(
      TWO_STEPS,
      { mode: ALONE },
      advanced(AT_B, events.gap(missingNotes('a')), events.trace(traced.next('b'))),
    );
    expect(outcome).toMatchObject({ openedGaps: [{ summary: missingNotes('a').summary }] });
  });

  it('a run that never stops records a gap for an artifact that does not have its form', () => {
    const steps = [step('a', { ...reported }), step('b')];
    const contractRef = 'wr.contracts.verification_report';
    decides(
      steps,
      { mode: ALONE, artifacts: [report('perhaps')] },
      advanced(
        AT_B,
        events.artifact(),
        events.gap({
          severity: 'critical',
          reason: { category: 'contract_violation', detail: 'invalid_required_output' },
          summary: expect.stringMatching(/^The wr\.verification_report artifact was not accepted: /),
          resolution: { kind: 'unresolved' },
          evidenceRefs: [{ kind: 'output', outputId: expect.stringMatching(/^out_/) }],
          details: {
            requirement: `output_contract:${contractRef}`,
            pointer: { kind: 'output_contract', contractRef },
            step: 'a',
          },
        }),
        events.trace(traced.next('b')),
      ),
    );
  });

  it('a run that never stops records a gap for what only the user could have given', () => {
    const userDependency = {
      reason: 'needs_user_choice',
      choiceKind: 'scope_boundary',
      contextKey: 'plan',
      prompt: 'Which?',
    };
    decides(
      [step('a', { userDependency }), step('b')],
      { mode: ALONE, notes: DONE },
      advanced(
        AT_B,
        events.note(DONE),
        events.gap({
          severity: 'critical',
          reason: { category: 'user_only_dependency', detail: 'needs_user_choice' },
          summary: 'The user has not given "plan". The step says: Which?',
          resolution: { kind: 'unresolved' },
          evidenceRefs: [{ kind: 'output', outputId: expect.stringMatching(/^out_/) }],
          details: {
            requirement: 'user_dependency:plan',
            pointer: { kind: 'context_key', key: 'plan' },
            step: 'a',
          },
        }),
        events.trace(traced.next('b')),
      ),
    );
  });

  it('a run that never stops closes a gap when the answer that was missing turns up in context', () => {
    const details = { requirement: 'user_dependency:plan', pointer: { kind: 'context_key', key: 'plan' } };
    const gap = openGap(details);
    const outcome = decides(
      TWO_STEPS,
      { mode: ALONE, notes: DONE, contextDelta: { plan: 'A' }, openGaps: [gap] },
      advanced(
        AT_B,
        events.note(DONE),
        events.gap({
          severity: 'critical',
          reason: { category: 'user_only_dependency', detail: 'needs_user_choice' },
          summary: 'Met later: Old.',
          resolution: { kind: 'resolves', resolvesGapId: gap.data.gapId },
          details,
        }),
        events.context({ plan: 'A' }),
        events.trace(traced.next('b')),
      ),
    );
    expect(outcome.openGaps).toEqual([]);
  });

  it('a run that never stops does not record a gap about the whole line twice', () => {
    const userDependency = {
      reason: 'needs_user_choice',
      choiceKind: 'scope_boundary',
      contextKey: 'plan',
      prompt: 'Which?',
    };
    const gap = openGap({ requirement: 'user_dependency:plan', pointer: { kind: 'context_key', key: 'plan' } });
    const outcome = decides(
      [step('a', { userDependency }), step('b')],
      { mode: ALONE, notes: DONE, openGaps: [gap] },
      advanced(AT_B, events.note(DONE), events.trace(traced.next('b'))),
    );
    expect(outcome).toMatchObject({ openedGaps: [], openGaps: [gap.data] });
  });
});

describe('the record of an attempt', () => {
  const reply = { text: ['Next.'], structured: { kind: 'ok' } };
  const requestDigest = digestOf('request');

  it.each([
    ['an advance', { notes: DONE }, { kind: 'advanced', toNodeId: NODE }],
    [
      'a block',
      {},
      {
        kind: 'blocked',
        attemptNodeId: NODE,
        blockers: [expect.objectContaining({ code: 'MISSING_REQUIRED_OUTPUT' })],
      },
    ],
  ])('the record of an attempt of %s holds the outcome and the reply', (_, given, outcome) => {
    const attempted = attemptAt(workflowOf(TWO_STEPS), pendingAt('a', 0), given);
    expect(recordedAdvance(attempted, advanceRun(attempted, sha256).outcome, { reply, requestDigest })).toEqual({
      kind: 'advance_recorded',
      scope: { runId: RUN, nodeId: ROOT },
      data: { attemptId: 0, intent: 'ack_pending', outcome, reply, requestDigest },
    });
  });
});
