import { describe, expect, it } from 'vitest';
import {
  ALONE,
  AT_B,
  type Attempted,
  advanced,
  blocked,
  DONE,
  decides,
  events,
  INVALID,
  MISSING,
  pendingAt,
  report,
  reported,
  traced,
  unmetIn,
} from '../../../../test/examples/decisions.ts';
import { step, workflowOf } from '../../../../test/examples/loop-files.ts';
import { handed } from '../../../../test/examples/step-attempt.ts';
import type { EventDraft } from '../../log/event.ts';
import type { EngineState } from '../../log/execution-snapshot.ts';

const contains = (value: string) => ({ type: 'contains', value, message: `Name the ${value}.` });
const readiness = {
  assessments: [{ id: 'ready', purpose: 'x', dimensions: [{ id: 'd', purpose: 'x', levels: ['low', 'high'] }] }],
};
const assessed = (level: string) => ({ kind: 'wr.assessment', assessmentId: 'ready', dimensions: { d: level } });
const probe = { capabilities: { web_browsing: 'required' } };

/** A block keeps the step pending at a node of its own, with what was sent. */
function blocks(
  settings: object,
  given: Attempted & { readonly parts?: object; readonly at?: EngineState },
  kept: readonly EventDraft[],
) {
  const state = given.at ?? pendingAt('a', 0);
  const outcome = decides([step('a', { ...settings }), step('b')], given, blocked(state, ...kept));
  return unmetIn(outcome);
}

describe('an attempt is blocked', () => {
  it('an attempt is blocked by missing notes', () => {
    expect(blocks({}, {}, [])).toEqual([['notes:a', MISSING]]);
  });

  it('an attempt is blocked by notes that do not meet the criteria, which are kept', () => {
    const unmet = blocks({ validationCriteria: [contains('risks')] }, { notes: DONE }, [events.note(DONE)]);
    expect(unmet).toEqual([['criteria:a', INVALID]]);
  });

  it('an attempt is blocked by missing notes and their criteria at once', () => {
    expect(blocks({ validationCriteria: [contains('risks')] }, {}, [])).toEqual([
      ['notes:a', MISSING],
      ['criteria:a', MISSING],
    ]);
  });

  it('an attempt is blocked by a missing artifact', () => {
    const name = 'output_contract:wr.contracts.verification_report';
    expect(blocks(reported, { notes: DONE }, [events.note(DONE)])).toEqual([[name, MISSING]]);
  });

  it('an attempt is blocked by an artifact that does not have its form, which is kept', () => {
    const name = 'output_contract:wr.contracts.verification_report';
    expect(blocks(reported, { artifacts: [report('perhaps')] }, [events.artifact()])).toEqual([[name, INVALID]]);
  });

  it('an attempt is blocked by a missing assessment', () => {
    const unmet = blocks({ assessmentRefs: ['ready'] }, { notes: DONE, parts: readiness }, [events.note(DONE)]);
    expect(unmet).toEqual([['assessment:ready', MISSING]]);
  });

  it('an attempt is blocked by an assessment whose level asks for more work', () => {
    const settings = {
      assessmentRefs: ['ready'],
      assessmentConsequences: [
        { when: { anyEqualsLevel: 'low' }, effect: { kind: 'require_followup', guidance: 'Do more.' } },
      ],
    };
    const given = { notes: DONE, artifacts: [assessed('low')], parts: readiness };
    expect(blocks(settings, given, [events.note(DONE), events.artifact()])).toEqual([['assessment:ready', INVALID]]);
  });

  it('an attempt is blocked by a question that only the user can answer, in context', () => {
    const userDependency = {
      reason: 'needs_user_choice',
      choiceKind: 'irreversible_action',
      contextKey: 'plan',
      prompt: 'Which?',
    };
    expect(blocks({ userDependency }, { notes: DONE }, [events.note(DONE)])).toEqual([
      ['user_dependency:plan', 'user_only_dependency:needs_user_choice'],
    ]);
  });

  it('an attempt is blocked by a question that only the user can answer, in the notes after the first block', () => {
    const userDependency = { reason: 'needs_user_artifact', prompt: 'Which?' };
    expect(blocks({ userDependency }, { notes: DONE }, [events.note(DONE)])).toEqual([
      ['user_dependency:a', 'user_only_dependency:needs_user_artifact'],
    ]);
  });

  it('an attempt is blocked by an approval that only the user can give', () => {
    const settings = { requireConfirmation: { kind: 'human_approval' } };
    expect(blocks(settings, { notes: DONE }, [events.note(DONE)])).toEqual([
      ['approval:a', 'user_only_dependency:needs_user_approval'],
    ]);
  });

  it('an attempt is blocked by a gate without a verdict', () => {
    const settings = { requireConfirmation: { kind: 'coordinator_eval' } };
    expect(blocks(settings, { notes: DONE }, [events.note(DONE)])).toEqual([['gate:a', MISSING]]);
  });

  it('an attempt is blocked by a gate whose verdict does not approve', () => {
    const settings = { requireConfirmation: { kind: 'coordinator_eval' } };
    const artifacts = [
      { kind: 'wr.gate_verdict', version: 1, verdict: 'rejected', confidence: 'high', rationale: 'No tests.' },
    ];
    expect(blocks(settings, { notes: DONE, artifacts }, [events.note(DONE), events.artifact()])).toEqual([
      ['gate:a', INVALID],
    ]);
  });

  it('an attempt is blocked and keeps the context and the mode that it brought', () => {
    const given = {
      contextDelta: { size: 'small' },
      mode: 'full_auto_stop_on_user_deps',
      modeBefore: 'guided',
    } as const;
    expect(
      blocks({}, given, [
        events.mode('full_auto_stop_on_user_deps', ['autonomy', 'riskPolicy']),
        events.context({ size: 'small' }),
      ]),
    ).toEqual([['notes:a', MISSING]]);
  });

  it('an attempt is blocked again while the retry still lacks something, and keeps only what the retry sent', () => {
    const earlier = [{ notesMarkdown: 'From before.', artifacts: [] }];
    const given = { earlier, isRetry: true, artifacts: [report('perhaps')] };
    const name = 'output_contract:wr.contracts.verification_report';
    expect(blocks(reported, given, [events.artifact()])).toEqual([[name, INVALID]]);
  });
});

describe('a retry after a block', () => {
  it.each([
    ['an answer of the user', { userDependency: { reason: 'needs_user_artifact', prompt: 'Which?' } }],
    ['an approval', { requireConfirmation: { kind: 'human_approval' }, assurance: 'stated' }],
  ])('a retry after a block with new notes counts as %s', (_, settings) => {
    const earlier = [{ notesMarkdown: 'From before.', artifacts: [] }];
    decides(
      [step('a', settings), step('b')],
      { notes: 'The user said yes.', earlier, isRetry: true },
      advanced(AT_B, events.note('The user said yes.'), events.trace(traced.next('b'))),
    );
  });

  it('a retry after a block needs to send only what was missing', () => {
    const earlier = [{ notesMarkdown: undefined, artifacts: [handed(report('pass'))] }];
    decides(
      [step('a', { ...reported }), step('b')],
      { notes: DONE, earlier, isRetry: true },
      advanced(AT_B, events.note(DONE), events.artifact(), events.trace(traced.next('b'))),
    );
  });
});

describe('a required capability', () => {
  const observed = (status: string) => ({ kind: 'wr.capability_observation', capability: 'web_browsing', status });
  const workflow = workflowOf([step('a')], probe);
  const [probing = ''] = workflow.steps.map(({ stepId }) => stepId);
  const atProbe = pendingAt(probing, 0);
  const seen = (status: string, result: string) =>
    events.capability({
      capability: 'web_browsing',
      status,
      provenance: {
        kind: 'probe_step',
        enforcementGrade: 'strong',
        detail: { probeTemplateId: 'wr.templates.capability_probe', probeStepId: probing, result },
      },
    });

  it('a required capability blocks its probe while nobody has tried it', () => {
    const outcome = decides([step('a')], { parts: probe, at: atProbe }, blocked(atProbe));
    expect(unmetIn(outcome)).toEqual([['capability:web_browsing', MISSING]]);
  });

  it.each([
    ['unavailable', 'capability_missing:required_capability_unavailable'],
    ['unknown', 'capability_missing:required_capability_unknown'],
  ])('a required capability blocks its probe when it is %s, and records that', (status, reason) => {
    const outcome = decides(
      [step('a')],
      { parts: probe, at: atProbe, artifacts: [observed(status)] },
      blocked(atProbe, events.artifact(), seen(status, 'failure')),
    );
    expect(unmetIn(outcome)).toEqual([['capability:web_browsing', reason]]);
  });

  it('a required capability lets the run continue once its probe succeeds', () => {
    const state = pendingAt('a', 1);
    decides(
      [step('a')],
      { parts: probe, at: atProbe, artifacts: [observed('available')] },
      advanced(state, events.artifact(), seen('available', 'success'), events.trace(traced.next('a'))),
    );
  });

  it('a required capability that is not known to work blocks a later step', () => {
    const state = pendingAt('a', 1);
    const outcome = decides([step('a')], { parts: probe, at: state, notes: DONE }, blocked(state, events.note(DONE)));
    expect(unmetIn(outcome)).toEqual([['capability:web_browsing', MISSING]]);
  });

  it('a required capability becomes a gap in a run that never stops', () => {
    const state = pendingAt('a', 1);
    decides(
      [step('a')],
      { parts: probe, at: atProbe, mode: ALONE, artifacts: [observed('unavailable')] },
      advanced(
        state,
        events.artifact(),
        events.gap({
          severity: 'critical',
          reason: { category: 'capability_missing', detail: 'required_capability_unavailable' },
          summary: 'This workflow requires web_browsing, and the attempt to use it failed. You reported unavailable.',
          resolution: { kind: 'unresolved' },
          evidenceRefs: [{ kind: 'output', outputId: expect.stringMatching(/^out_/) }],
          details: {
            requirement: 'capability:web_browsing',
            pointer: { kind: 'capability', capability: 'web_browsing' },
            step: probing,
          },
        }),
        seen('unavailable', 'failure'),
        events.trace(traced.next('a')),
      ),
    );
  });
});
