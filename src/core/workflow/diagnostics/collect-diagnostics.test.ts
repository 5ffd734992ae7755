import { describe, expect, it } from 'vitest';
import { compiled, compileValue, found, hashOf } from '../../../../test/compiler/compile-file.ts';
import { enforces } from '../../../../test/enforces.ts';

const rule = { type: 'schema', schema: {}, message: 'M' };
const flow = (rest: object) => ({
  id: 'old-flow',
  name: 'N',
  description: 'D',
  steps: [
    { id: 'a', title: 'T', prompt: 'P', validationCriteria: [rule] },
    {
      id: 'l',
      type: 'loop',
      loop: { type: 'while', maxIterations: 2, condition: { var: 'x', equals: 1 } },
      body: [{ id: 'b', title: 'T', prompt: 'P' }],
    },
  ],
  ...rest,
});
const strangers = Object.fromEntries(Array.from({ length: 200 }, (_, i) => [`a_stranger_${i}`, 1]));

describe('the diagnostics of a file', () => {
  it('diagnostics stop after a hundred of a kind, while pinned warnings do not', () => {
    enforces('workflow_hash_definition');
    const noisy = compileValue({ ...strangers, ...flow({}) });
    expect(noisy.diagnostics).toHaveLength(101);
    expect(compiled(noisy).compiledWarnings).toEqual([
      { code: 'legacy_id', subject: 'old-flow' },
      { code: 'context_loop', subject: 'l' },
      { code: 'schema_rule_not_enforced', subject: 'a' },
    ]);
    expect(hashOf(noisy)).toBe(hashOf(compileValue(flow({}))));
  });

  it('a repeated diagnostic is reported once', () => {
    const step = { id: 'a', title: 'Of {{wr.bindings.none}}', prompt: 'P', verification: {}, audit: {} };
    expect(found(compileValue({ id: 'test.once', name: 'N', description: 'D', steps: [step] }))).toEqual([
      'error unknown_slot /steps/0/title',
    ]);
  });
});
