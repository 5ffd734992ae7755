import { describe, expect, it } from 'vitest';
import { enforces } from '../../../../test/enforces.ts';
import { foundAt, NOTHING_FOUND, tryStep } from '../../../../test/examples/step-attempt.ts';
import type { JsonObject } from '../../json/json-value.ts';
import { REASONS } from '../../log/reasons.ts';
import { contractFix } from '../../workflow/builtins/explain-violations.ts';
import { codingHandoff } from '../../workflow/builtins/handoff-contracts.ts';

const { contractRef, artifactKind: kind } = codingHandoff;
const done = {
  kind,
  version: 1,
  keyDecisions: ['One table, because the rows are read together.'],
  knownLimitations: ['No paging yet.'],
  testsAdded: ['rows.test.ts: a row is read back'],
  filesChanged: ['rows.ts'],
};
const form = {
  kind,
  version: 1,
  keyDecisions: ['<fill: what was decided, and why>'],
  knownLimitations: ['<fill: what does not work yet>'],
  testsAdded: ['<fill: test file: what it shows>'],
  filesChanged: ['<fill: path of a file>'],
  branchName: '<fill: name of the branch>',
};
const requirement = `output_contract:${contractRef}`;
const step = { outputContract: { contractRef } };
const optional = { outputContract: { contractRef, required: false } };
const check = (artifacts: readonly JsonObject[], declared: object = step) => foundAt(tryStep(declared, { artifacts }));
const broken = { ...done, version: 2 };
const unmet = {
  pointer: { kind: 'output_contract', contractRef },
  suggestedFix: contractFix(codingHandoff),
  requirement,
  form: { artifacts: [form] },
};
const missing = {
  ...unmet,
  reason: 'contract_violation:missing_required_output',
  message: 'The required artifact of kind wr.coding_handoff was not sent.',
};
const invalid = {
  ...unmet,
  reason: 'contract_violation:invalid_required_output',
  // The agent's own values, with only what was wrong corrected.
  form: { artifacts: [done] },
  message: 'The wr.coding_handoff artifact was not accepted: /version is 2 (allowed: 1).',
};

describe('the contract of a step', () => {
  it('the contract of a step is met by an artifact of its form', () => {
    enforces('contract_enforced_before_advance');
    expect(check([done])).toEqual({ ...NOTHING_FOUND, met: [requirement] });
  });

  it.each<[string, JsonObject[], object]>([
    ['nothing', [], missing],
    ['another artifact', [{ kind: 'wr.findings', findings: [] }], missing],
    [
      'one without a kind',
      [{ version: 1 }],
      { ...missing, message: `${missing.message} The artifact without "kind" does not count.` },
    ],
    [
      'one of a kind nobody knows',
      [{ ...done, kind: 'coding_handoff' }],
      { ...missing, message: `${missing.message} The artifact of kind "coding_handoff" does not count.` },
    ],
    ['one of another form', [broken], invalid],
    ['several of another form, of which the last is told', [{ kind }, broken], invalid],
  ])('the contract of a step is not met by %s', (_, artifacts, expected) => {
    enforces('contract_enforced_before_advance');
    expect(check(artifacts).unmet).toEqual([expected]);
    expect(check(artifacts).met).toEqual([]);
  });

  it('the contract of a step gives its own blockers for what is missing and what is wrong', () => {
    enforces('contract_enforced_before_advance');
    expect(check([]).unmet.map(({ reason }) => REASONS[reason].blocker)).toEqual(['MISSING_REQUIRED_OUTPUT']);
    expect(check([broken]).unmet.map(({ reason }) => REASONS[reason].blocker)).toEqual(['INVALID_REQUIRED_OUTPUT']);
  });

  it('the contract of a step is met when one of several artifacts has its form', () => {
    expect(check([broken, done])).toEqual({ ...NOTHING_FOUND, met: [requirement] });
    expect(check([done, broken])).toEqual({ ...NOTHING_FOUND, met: [requirement] });
  });

  it('an optional contract never blocks, and an artifact that was not accepted is reported', () => {
    expect(check([], optional)).toEqual(NOTHING_FOUND);
    expect(check([done], optional)).toEqual({ ...NOTHING_FOUND, met: [requirement] });
    expect(check([broken], optional)).toEqual({
      ...NOTHING_FOUND,
      unreadable: [{ artifactKind: kind, message: invalid.message, corrected: expect.anything() }],
    });
  });

  it('the contract of a step is the one that the run pinned', () => {
    const attempt = tryStep(step, { artifacts: [broken] });
    const pinned = attempt.index.contracts.get(contractRef);
    if (pinned === undefined) throw new Error('the contract is pinned');
    const loose = { ...pinned, schema: { type: 'object', additionalProperties: {} } };
    const index = { ...attempt.index, contracts: new Map([[contractRef, loose]]) };
    expect(foundAt({ ...attempt, index })).toEqual({ ...NOTHING_FOUND, met: [requirement] });
  });
});
