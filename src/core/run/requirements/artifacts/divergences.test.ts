import { expect, it } from 'vitest';
import { enforces } from '../../../../../test/enforces.ts';
import { NOTHING_FOUND, tryStep } from '../../../../../test/examples/step-attempt.ts';
import { checkStep } from '../check-step.ts';

const kind = 'wr.workflow_divergence';
const free = { notesOptional: true };
const contractRef = 'wr.contracts.workflow_divergence';
const divergence = { reason: 'efficiency_skip', summary: 'Three files instead of ten; there are no more.' };

it('a divergence is taken from every artifact that tells one, whether the step asks for it or not', () => {
  enforces('divergence_recorded_when_sent');
  const artifacts = [
    { kind, ...divergence },
    { kind, ...divergence, relatedStepId: 'survey' },
    { kind, ...divergence, relatedStepId: 'x'.repeat(300) },
  ];
  const divergences = [divergence, { ...divergence, relatedStepId: 'survey' }, divergence];
  expect(checkStep(tryStep(free, { artifacts }))).toEqual({ ...NOTHING_FOUND, divergences });
  expect(checkStep(tryStep({ outputContract: { contractRef } }, { artifacts }))).toEqual({
    ...NOTHING_FOUND,
    met: [`output_contract:${contractRef}`],
    divergences,
  });
});

it('a divergence that cannot be read is told, and holds up only a step that asks for one', () => {
  enforces('divergence_recorded_when_sent');
  const artifacts = [{ kind, ...divergence, reason: 'mood' }];
  const message =
    'The wr.workflow_divergence artifact was not accepted: /reason is "mood" (allowed: missing_user_context | capability_unavailable | efficiency_skip | safety_stop | policy_constraint).';
  expect(checkStep(tryStep(free, { artifacts }))).toEqual({
    ...NOTHING_FOUND,
    unreadable: [{ artifactKind: kind, message }],
  });
  const asked = checkStep(tryStep({ outputContract: { contractRef } }, { artifacts }));
  expect(asked.unmet.map((unmet) => unmet.message)).toEqual([message]);
  expect(asked.unreadable).toEqual([]);
});

it('a divergence that only an older contract allows is not recorded as one of ours', () => {
  const attempt = tryStep({ outputContract: { contractRef } }, { artifacts: [{ kind, reason: 'mood', summary: 'S' }] });
  const pinned = [...attempt.index.contracts.values()].map((contract) => ({ ...contract, schema: {} }));
  const index = { ...attempt.index, contracts: new Map(pinned.map((contract) => [contract.contractRef, contract])) };
  expect(checkStep({ ...attempt, index })).toEqual({ ...NOTHING_FOUND, met: [`output_contract:${contractRef}`] });
});
