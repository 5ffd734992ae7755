import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { attemptAt, foundAt, type Given, NOTHING_FOUND } from '../../../../test/examples/step-attempt.ts';
import { capabilityObservedSchema } from '../../log/events/gap-events.ts';
import { REASONS } from '../../log/reasons.ts';
import { contractFix } from '../../workflow/builtins/explain-violations.ts';

const kind = 'wr.capability_observation';
const contractRef = 'wr.contracts.capability_observation';
const observed = (capability: string, status: string) => ({ kind, capability, status });
const steps = [
  { id: 'work', title: 'W', prompt: 'P', notesOptional: true },
  { id: 'split', type: 'parallel', title: 'S', notesOptional: true, parallelDelegations: [{ workflowId: 'wr.other' }] },
];
const needs = (required: object, given: Given) => foundAt(attemptAt({ steps, capabilities: required }, given));
const web = (given: Given) => needs({ web_browsing: 'required' }, given);
const probe = 'wr_probe_web_browsing';
const form = {
  kind,
  capability: 'web_browsing',
  status: '<fill: unknown | available | unavailable>',
  detail: '<fill: what you tried, and what came back>',
};
const provenance = (result: 'success' | 'failure') => ({
  kind: 'probe_step',
  enforcementGrade: 'strong',
  detail: { probeTemplateId: 'wr.templates.capability_probe', probeStepId: probe, result },
});
const waive = 'If the user cannot provide it, stop and tell the user what you could not do.';
const tryNow = `Try web_browsing now and report what happened, not what you expect. ${contractFix({ artifactKind: kind })}\n${waive}`;
const goBack = `Go back to step "${probe}" with its state token, try it there, and report the result. A report on this step is only a claim and meets no requirement. ${waive}`;
const earlierStep = { kind: 'step', stepId: probe };
const remedy = 'Ask the user to add or allow a tool that reads web pages. ';
const lack = { pointer: { kind: 'capability', capability: 'web_browsing' }, requirement: 'capability:web_browsing' };
const unavailable = {
  ...lack,
  reason: 'capability_missing:required_capability_unavailable',
  message: 'This workflow requires web_browsing, and the attempt to use it failed.',
};
const unknown = {
  ...lack,
  reason: 'capability_missing:required_capability_unknown',
  message: 'This workflow requires web_browsing, and the attempt to use it did not show whether it works.',
};
const untried = {
  ...lack,
  reason: 'contract_violation:missing_required_output',
  message: 'This workflow requires web_browsing, and no attempt has shown yet whether it works.',
};
const reported = (found: typeof unknown, status: string) => ({
  ...found,
  message: `${found.message} You reported ${status}.`,
});
const refused = (rest: string) => `The wr.capability_observation artifact was not accepted: ${rest}.`;
const noUnknown =
  'only the step that probes web_browsing may report the status unknown; send available or unavailable, or leave the artifact out';

describe('the probe of a required capability', () => {
  it('the probe of a required capability decides by what was observed', () => {
    enforces('capability_provenance_by_step', 'capability_observation_durable');
    expect(web({ stepId: probe, artifacts: [observed('web_browsing', 'available')] })).toEqual({
      ...NOTHING_FOUND,
      met: [`output_contract:${contractRef}`, 'capability:web_browsing'],
      observations: [{ capability: 'web_browsing', status: 'available', provenance: provenance('success') }],
    });
  });

  it.each([
    [
      'unavailable',
      { ...reported(unavailable, 'unavailable'), suggestedFix: `${remedy}${tryNow}`, form: { artifacts: [form] } },
    ],
    ['unknown', { ...reported(unknown, 'unknown'), suggestedFix: `${remedy}${tryNow}`, form: { artifacts: [form] } }],
  ])('the probe of a required capability blocks the run when it is %s', (status, expected) => {
    enforces('capability_probe_missing_output_blocks');
    expect(web({ stepId: probe, artifacts: [observed('web_browsing', status)] })).toEqual({
      ...NOTHING_FOUND,
      unmet: [expected],
      met: [`output_contract:${contractRef}`],
      observations: [{ capability: 'web_browsing', status, provenance: provenance('failure') }],
    });
  });

  it('the probe of a required capability without its report lacks one thing, under the name of the capability', () => {
    enforces('capability_probe_missing_output_blocks');
    const found = web({ stepId: probe });
    expect(found).toEqual({
      ...NOTHING_FOUND,
      unmet: [
        {
          reason: 'contract_violation:missing_required_output',
          pointer: { kind: 'output_contract', contractRef },
          message: 'The required artifact of kind wr.capability_observation was not sent.',
          suggestedFix: contractFix({ artifactKind: kind }),
          requirement: 'capability:web_browsing',
          form: { artifacts: [form] },
        },
      ],
    });
    expect(found.unmet.map(({ reason }) => REASONS[reason].blocker)).toEqual(['MISSING_REQUIRED_OUTPUT']);
  });

  it('the probe of a required capability needs a report about what it probes; one about something else is a claim', () => {
    enforces('capability_provenance_by_step');
    const found = web({ stepId: probe, artifacts: [observed('delegation', 'available')] });
    expect(found.unmet.map(({ message, requirement }) => [message, requirement])).toEqual([
      [refused('it is about delegation, but this step asks about web_browsing'), 'capability:web_browsing'],
    ]);
    const claim = {
      kind: 'manual_claim',
      enforcementGrade: 'weak',
      detail: { claimedBy: 'agent', claim: 'available' },
    };
    expect(found.observations).toEqual([{ capability: 'delegation', status: 'available', provenance: claim }]);
  });

  it('the probe of a required capability is asked for its report also where the answer is known', () => {
    const capabilities = { web_browsing: { status: 'available', grade: 'strong' } } as const;
    const { unmet, met } = web({ stepId: probe, capabilities });
    expect(unmet.map(({ requirement }) => requirement)).toEqual([`output_contract:${contractRef}`]);
    expect(met).toEqual(['capability:web_browsing']);
  });
});

describe('a required capability on an ordinary step', () => {
  const known = (status: 'available' | 'unavailable' | 'unknown', grade: 'strong' | 'weak') => ({
    capabilities: { web_browsing: { status, grade } },
  });

  it.each<[string, Given, object]>([
    ['nobody has tried it', {}, { ...untried, suggestedFix: goBack, earlierStep }],
    ['it was only claimed', known('available', 'weak'), { ...untried, suggestedFix: goBack, earlierStep }],
    [
      'a try failed',
      known('unavailable', 'strong'),
      { ...unavailable, suggestedFix: `${remedy}${goBack}`, earlierStep },
    ],
    ['a try told nothing', known('unknown', 'strong'), { ...unknown, suggestedFix: `${remedy}${goBack}`, earlierStep }],
  ])('a required capability on an ordinary step is lacking when %s', (_, given, expected) => {
    enforces('capability_weak_never_unlocks', 'capability_probe_missing_output_blocks');
    expect(web({ stepId: 'work', ...given })).toEqual({ ...NOTHING_FOUND, unmet: [expected] });
  });

  it('a required capability on an ordinary step is met when an attempt has shown it', () => {
    expect(web({ stepId: 'work', ...known('available', 'strong') })).toEqual({
      ...NOTHING_FOUND,
      met: ['capability:web_browsing'],
    });
  });

  it.each(['available', 'unavailable'] as const)(
    'a required capability on an ordinary step is neither gained nor lost by a claim that it is %s',
    (status) => {
      enforces('capability_weak_never_unlocks', 'capability_provenance_by_step');
      const artifacts = [observed('web_browsing', status)];
      const claim = { kind: 'manual_claim', enforcementGrade: 'weak', detail: { claimedBy: 'agent', claim: status } };
      const observations = [{ capability: 'web_browsing', status, provenance: claim }];
      expect(web({ stepId: 'work', artifacts })).toEqual({
        ...NOTHING_FOUND,
        unmet: [{ ...untried, suggestedFix: goBack, earlierStep }],
        observations,
      });
      expect(web({ stepId: 'work', artifacts, ...known('available', 'strong') }).met).toEqual([
        'capability:web_browsing',
      ]);
    },
  );

  it('a required capability on an ordinary step cannot be reported as unknown there', () => {
    const artifacts = [observed('web_browsing', 'unknown')];
    expect(web({ stepId: 'work', artifacts, ...known('available', 'strong') })).toEqual({
      ...NOTHING_FOUND,
      met: ['capability:web_browsing'],
      unreadable: [{ artifactKind: kind, message: refused(noUnknown) }],
    });
    const asking = { id: 'ask', title: 'A', prompt: 'P', outputContract: { contractRef } };
    const asked = foundAt(attemptAt({ steps: [asking] }, { artifacts }));
    expect(asked.unmet.map(({ reason, message }) => [reason, message])).toEqual([
      ['contract_violation:invalid_required_output', refused(noUnknown)],
    ]);
    expect(asked.unreadable).toEqual([]);
  });
});

describe('a step that delegates', () => {
  const split = (given: Given, required: object = { delegation: 'required' }) =>
    needs(required, { stepId: 'split', ...given });
  const use = (detail: object) => ({
    kind: 'attempted_use',
    enforcementGrade: 'strong',
    detail: { attemptContext: 'workflow_step', ...detail },
  });

  it('a step that delegates shows whether delegation is there, and that counts over what was known', () => {
    enforces('capability_provenance_by_step');
    const capabilities = { delegation: { status: 'available', grade: 'strong' } } as const;
    const failed = split({ artifacts: [observed('delegation', 'unavailable')], capabilities });
    expect(failed.unmet.map(({ reason, form: offered }) => [reason, offered])).toEqual([
      ['capability_missing:required_capability_unavailable', { artifacts: [{ ...form, capability: 'delegation' }] }],
    ]);
    expect(failed.observations).toEqual([
      {
        capability: 'delegation',
        status: 'unavailable',
        provenance: use({ result: 'failure', failureCode: 'unknown' }),
      },
    ]);
    const corrected = split({
      artifacts: [observed('delegation', 'unavailable'), observed('delegation', 'available')],
    });
    expect(corrected.met).toEqual(['capability:delegation']);
    expect(corrected.observations.at(-1)?.provenance).toEqual(use({ result: 'success' }));
  });

  it('a failed attempt is recorded with the code that the agent reports, and the block repeats the report', () => {
    const sent = { failureCode: 'policy_blocked', detail: 'The client refused to start a subagent.' };
    const report = observed('delegation', 'unavailable');
    const failed = split({ artifacts: [{ ...report, ...sent }] });
    expect(failed.observations.map(({ provenance }) => provenance)).toEqual([
      use({ result: 'failure', failureCode: 'policy_blocked' }),
    ]);
    expect(failed.unmet.map(({ message }) => message)).toEqual([
      'This workflow requires delegation, and the attempt to use it failed. You reported unavailable, policy_blocked: "The client refused to start a subagent."',
    ]);
  });

  it('a step that delegates shows nothing about other capabilities', () => {
    const { observations } = split({ artifacts: [observed('web_browsing', 'available')] }, {});
    expect(observations.map(({ provenance: { kind: how } }) => how)).toEqual(['manual_claim']);
  });

  it('a step that delegates is not blocked where delegation is only preferred', () => {
    enforces('capability_missing_blocks_if_required');
    expect(split({ artifacts: [observed('delegation', 'unavailable')] }, { delegation: 'preferred' }).unmet).toEqual(
      [],
    );
  });
});

it('an observation can be recorded unchanged', () => {
  enforces('capability_observation_durable');
  const data = capabilityObservedSchema.shape.data;
  const statuses = ['available', 'unavailable', 'unknown'];
  for (const stepId of [probe, 'work', 'split']) {
    for (const capability of ['web_browsing', 'delegation']) {
      const artifacts = statuses.map((status) => observed(capability, status));
      const { observations } = web({ stepId, artifacts });
      expect(observations.length).toBe(stepId === probe && capability === 'web_browsing' ? 3 : 2);
      for (const observation of observations) {
        const recorded = data.safeParse({ capObsId: `capobs_${'0'.repeat(16)}`, ...observation });
        expect(recorded.error?.issues).toBeUndefined();
      }
    }
  }
});
