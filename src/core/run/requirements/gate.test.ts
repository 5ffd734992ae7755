import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { foundAt, NOTHING_FOUND, tryStep } from '../../../../test/examples/step-attempt.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { pinnedContract } from '../../workflow/builtins/contract.ts';
import { contractFix } from '../../workflow/builtins/explain-violations.ts';
import { gateVerdict } from '../../workflow/builtins/run-contracts.ts';

const step = { notesOptional: true, requireConfirmation: { kind: 'coordinator_eval' } };
const { contractRef, artifactKind } = gateVerdict;
const rejected = {
  kind: artifactKind,
  version: 1,
  verdict: 'rejected',
  confidence: 'high',
  rationale: 'The retry test does not fail without the change.',
};
const approved = {
  ...rejected,
  verdict: 'approved',
  rationale: 'All nine cases were run; each was seen to fail first.',
};
const form = {
  kind: artifactKind,
  version: 1,
  verdict: '<fill: approved | rejected | uncertain>',
  confidence: '<fill: high | medium | low>',
  rationale: '<fill: what you looked at, and what decided it>',
};
const fix = contractFix({ artifactKind });
const unmet = {
  pointer: { kind: 'output_contract', contractRef },
  suggestedFix: fix,
  requirement: 'gate:work',
  form: { artifacts: [form] },
};
const invalid = { ...unmet, reason: 'contract_violation:invalid_required_output' };
const judged = `Fix what the verdict is about and have the work judged again. Only "approved" opens the gate; never approve your own work. ${fix}`;

describe('a gate', () => {
  it('a gate is opened by a verdict that approves, the last one if there are several', () => {
    enforces('coordinator_eval_needs_gate_verdict');
    expect(foundAt(tryStep(step, { artifacts: [approved] }))).toEqual({ ...NOTHING_FOUND, met: ['gate:work'] });
    expect(foundAt(tryStep(step, { artifacts: [rejected, approved] })).met).toEqual(['gate:work']);
    expect(foundAt(tryStep(step, { artifacts: [approved, rejected] })).met).toEqual([]);
  });

  it.each<[string, JsonObject[], object]>([
    [
      'nothing',
      [],
      {
        ...unmet,
        reason: 'contract_violation:missing_required_output',
        message: 'The required artifact of kind wr.gate_verdict was not sent.',
      },
    ],
    [
      'a verdict of another form',
      [{ ...approved, confidence: 'sure' }],
      {
        ...invalid,
        form: { artifacts: [{ ...approved, confidence: '<fill: high | medium | low>' }] },
        message: 'The wr.gate_verdict artifact was not accepted: /confidence is "sure" (allowed: high | medium | low).',
      },
    ],
    [
      'a rejection',
      [rejected],
      {
        ...invalid,
        message: 'The gate stays closed: the verdict is "rejected" (The retry test does not fail without the change.).',
        suggestedFix: judged,
      },
    ],
    [
      'doubt',
      [{ ...approved, verdict: 'uncertain', rationale: 'x'.repeat(300) }],
      {
        ...invalid,
        message: `The gate stays closed: the verdict is "uncertain" (${'x'.repeat(200)}…).`,
        suggestedFix: judged,
      },
    ],
  ])('a gate is not opened by %s', (_, artifacts, expected) => {
    enforces('coordinator_eval_needs_gate_verdict');
    expect(foundAt(tryStep(step, { artifacts }))).toEqual({ ...NOTHING_FOUND, unmet: [expected] });
  });

  it('a gate goes by the contract that the run pinned', () => {
    const attempt = tryStep(step, { artifacts: [{ kind: artifactKind, verdict: 'approved' }] });
    const pinned = { ...pinnedContract(gateVerdict), schema: { type: 'object', additionalProperties: {} } };
    const index = { ...attempt.index, contracts: new Map([[contractRef, pinned]]) };
    expect(foundAt(attempt).met).toEqual([]);
    expect(foundAt({ ...attempt, index }).met).toEqual(['gate:work']);
  });
});
